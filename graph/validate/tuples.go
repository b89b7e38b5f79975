// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// The pass over the tuples. One random read for each end dominates the cost of validation, so each reads 16 bits, a
// word: the vertex's level plus two in the high byte, or 0 for an unreached vertex, and a key in the low byte. The key
// of a vertex is the low byte of its label xor that of its parent's, and the key of a tuple is the same for its two
// ends. Two words and a key show whether the levels of a tuple are in order and, with one false alarm in 256, whether
// one end is the parent of the other. scanPlain handles deeper trees and labels of more than 32 bits.
//
// A thread works on a block of tuples in separate loops with hardly any unpredictable branch, so that the cache misses
// of many tuples overlap: gather the words of both ends; compare four pairs of words at a time, as lanes of a 64-bit
// word, and note where the keys agree; collect those tuples. After some thousands of collected tuples, look up all
// their parents at once, and mark the tree edges. A Part (part_tuples.go) shares all of this but gathering.

const (
	blockTuples = 256
	pathTuples  = 1024 // of a block of kernel 3
	poolHits    = 4096 // tuples to collect before their parents are looked up

	levelBias    = 2 // 0 is unreached, and no reached vertex may be one level from it
	maxWordLevel = 0xff - levelBias

	lanes     = 0x0001_0001_0001_0001 // a one in each lane
	highBits  = 0x8000 * lanes
	lowBytes  = 0x00ff * lanes
	byteCarry = 0x0100 * lanes
)

// packWord makes the word of vertex v on level with parent p. The word is invalid for a level above maxWordLevel.
func packWord(level int32, v, p graph.Vertex) uint16 {
	return uint16(level+levelBias)<<8 | uint16(uint8(v)^uint8(p))
}

// pair is a tuple whose ends have 32-bit numbers.
type pair struct{ u, v uint32 }

// scanner is one thread's share of a pass over the tuples.
type scanner struct {
	missed    int64        // tuples outside the component
	selfLoops int64        // self-loops in the component
	nHits     int          // number of hits in use
	made      []graph.Edge // tuples from source
	remote    []uint64     // of a Part: hits whose child is a ghost

	// Of a block. A tuple's lane in wordsU is the word of u with its low byte xor the tuple's key, so that the byte is
	// zero where u may be the child of v; wordsV is the same for v.
	wordsU, wordsV [2 * blockTuples]byte
	groups         [blockTuples / 4]group
	tight          [pathTuples / 64]uint64 // in kernel 3, tuples that may lie on a shortest path

	// Tuples that may be tree edges: the possible child in the high half, the possible parent in the low half. This is
	// the last field because its end is hardly ever written, and the next thread's scanner begins in that cache line.
	hits [poolHits + 2*blockTuples]uint64
}

// group is four tuples of a block, with at least one that may be a tree edge.
type group struct {
	first int    // its first tuple
	hit   uint64 // in the lane of a tuple, bit 0 if u may be the child and bit 4 if v may be
}

// scanTuples checks the tuples against rules 3 and 4. The vertices must have levels.
func (s *search) scanTuples(ctx context.Context) error {
	useWords := s.tree.Depth <= maxWordLevel && s.parent32 != nil
	return s.overTuples(ctx, s.explainTuple, func(scan *scanner, edges []graph.Edge, first int64, broken *breaches) {
		if useWords && scan.scanWords(edges, s.words, s.parent32, s.pending) {
			return
		}
		if s.scanPlain(scan, edges, first, broken) && useWords {
			broken.changed.put(first) // back to its former value
		}
	})
}

// breaches are the first tuples that break a rule.
type breaches struct {
	far       lowest // rule 3: both ends are reached, on levels that differ by more than one
	unspanned lowest // rule 4: one end is reached, the other is not
	changed   lowest // the tuple, or one soon after it, has changed since the validator was made
}

// first returns the rule that the tuples break, far or unspanned, and the first tuple that does; 0 if there is none.
func (b *breaches) first(far, unspanned Rule) (rule Rule, i int64, err error) {
	if i = b.changed.Load(); i != math.MaxInt64 {
		return 0, 0, fmt.Errorf("validating: tuple %d or a later one changed since the validator was made; "+
			"nothing may write to the tuples", i)
	}
	if i = b.far.Load(); i != math.MaxInt64 {
		return far, i, nil
	}
	if i = b.unspanned.Load(); i != math.MaxInt64 {
		return unspanned, i, nil
	}
	return 0, 0, nil
}

// lowest is the smallest number that any thread has put into it.
type lowest struct{ *atomic.Int64 }

func noTuple() lowest {
	l := lowest{new(atomic.Int64)}
	l.Store(math.MaxInt64)
	return l
}

func (l lowest) put(n int64) {
	for old := l.Load(); n < old && !l.CompareAndSwap(old, n); old = l.Load() {
	}
}

// scanPlain checks tuples from number first on with full levels and labels, one by one: where words cannot hold them,
// and where scanWords failed. It returns false after adding a breach to broken.
func (s *search) scanPlain(scan *scanner, edges []graph.Edge, first int64, broken *breaches) bool {
	good := true
	for at := range edges {
		i := first + int64(at)
		a, b := edges[at].Ends()
		if int64(max(a, b)) >= s.vertices {
			broken.changed.put(i)
			return false
		}
		levelA, levelB := s.levels[a], s.levels[b]
		switch {
		case (levelA < 0) != (levelB < 0):
			broken.unspanned.put(i)
			good = false // a later tuple may break rule 3
		case levelA-levelB > 1 || levelB-levelA > 1:
			broken.far.put(i)
			return false
		case levelA < 0:
			scan.missed++
		case a == b:
			scan.selfLoops++
		case levelA > levelB && s.parent[a] == b:
			clearBit(s.pending, uint64(a))
		case levelB > levelA && s.parent[b] == a:
			clearBit(s.pending, uint64(b))
		}
	}
	return good
}

// scanWords works on any number of tuples, and may leave hits for the next call. It returns false if a tuple breaks
// rule 3 or 4, or has a label that is not a vertex.
func (s *scanner) scanWords(edges []graph.Edge, words []uint16, parent []uint32, pending []uint64) bool {
	for len(edges) > 0 {
		if s.nHits >= poolHits { // first, because an earlier call may have left that many
			s.markTreeEdges(parent, pending)
		}
		block := edges[:min(blockTuples, len(edges))]
		edges = edges[len(block):]
		if !s.gather(block, words) || !s.collect(len(block), func(i int) pair {
			u, v, _ := block[i].Ends32()
			return pair{u, v}
		}) {
			return false
		}
	}
	return true
}

// gather fills wordsU and wordsV and counts self-loops. It returns false for a bad label.
func (s *scanner) gather(block []graph.Edge, words []uint16) bool {
	for i := range block {
		u32, v32, ok := block[i].Ends32()
		u, v := uint(u32), uint(v32)
		if !ok || u >= uint(len(words)) || v >= uint(len(words)) {
			return false
		}
		if u == v && words[u] != 0 {
			s.selfLoops++
		}
		lane, key := 2*(i%blockTuples), uint16(uint8(u^v))
		binary.LittleEndian.PutUint16(s.wordsU[lane:], words[u]^key)
		binary.LittleEndian.PutUint16(s.wordsV[lane:], words[v]^key)
	}
	return true
}

// collect adds the tuples of a gathered block that may be tree edges to hits. It returns false if a tuple breaks rule 3
// or 4.
func (s *scanner) collect(n int, ends func(i int) pair) bool {
	for i := n; i%4 != 0; i++ { // lanes without a tuple: same level, not a tree edge, not unreached
		binary.LittleEndian.PutUint16(s.wordsU[2*i:], 0x0101)
		binary.LittleEndian.PutUint16(s.wordsV[2*i:], 0x0101)
	}
	groups, good := s.compare(n)
	at := s.nHits
	for i := range s.groups[:groups] {
		g := &s.groups[i]
		for hit := g.hit; hit != 0; hit &= hit - 1 {
			bit := bits.TrailingZeros64(hit) // lane*16, + 4 if v may be the child
			t := ends(g.first + bit/16)
			swap := (t.u ^ t.v) & -uint32(bit/4%2)
			s.hits[at] = uint64(t.u^swap)<<32 | uint64(t.v^swap)
			at++
		}
	}
	s.nHits = at
	return good
}

// compare looks at the lanes of a block of n tuples. It returns the groups it wrote, and whether all levels are in
// order.
func (s *scanner) compare(n int) (groups int, good bool) {
	var wrong uint64
	for first := 0; first < n; first += 4 {
		lane := 2 * (first % blockTuples)
		wordU := binary.LittleEndian.Uint64(s.wordsU[lane:])
		wordV := binary.LittleEndian.Uint64(s.wordsV[lane:])
		levelU, levelV := wordU>>8&lowBytes, wordV>>8&lowBytes

		// In each lane, the difference of the levels plus one, then a high bit unless that is 0, 1 or 2. The 0x4000
		// keeps lanes from borrowing from each other.
		difference := levelU + 0x4001*lanes - levelV
		wrong |= (difference ^ 0x4000*lanes) + 0x7ffd*lanes
		if zero := (highBits - levelU) & highBits; zero != 0 {
			s.missed += int64(bits.OnesCount64(zero))
		}

		hit := (byteCarry-wordU&lowBytes)&byteCarry>>8 | (byteCarry-wordV&lowBytes)&byteCarry>>4
		s.groups[groups%len(s.groups)] = group{first, hit}
		groups += int(-hit >> 63) // one if there is a hit: the top bit of a lane is never set
	}
	return groups, wrong&highBits == 0
}

// markTreeEdges looks up the parents of the collected hits, and clears the pending bits of those that are tree edges.
func (s *scanner) markTreeEdges(parent []uint32, pending []uint64) {
	hits, edges := s.hits[:s.nHits], 0
	s.nHits = 0
	for _, hit := range hits {
		child := hit >> 32
		if child >= uint64(len(parent)) {
			return
		}
		hits[edges] = hit
		edges += int((uint64(parent[child]^uint32(hit)) - 1) >> 63)
	}
	for _, hit := range hits[:edges] {
		clearBit(pending, hit>>32)
	}
}
