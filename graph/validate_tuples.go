package graph

import (
	"context"
	"encoding/binary"
	"math/bits"
)

// The pass over the tuples: 12 bytes each, streamed once, and one random read for each end. The random reads are the
// cost, so what is read there is small and everything else stays out of their way.
//
// Each vertex has a word of 16 bits: in the high byte its level plus two, 0 for an unreached vertex; in the low byte the
// lowest bits of its parent's label. So two words tell whether the levels of a tuple are in order, and, but for one
// false alarm in 256, whether one end is the parent of the other. Trees that are deeper than a byte can say, and labels
// of more than 32 bits, take the plain loop of validate_wide.go.
//
// A thread works on a block of tuples in loops of their own, each with hardly a branch that cannot be predicted, so that
// the cache misses of many tuples overlap: gather the words of both ends; compare four pairs of words at a time, as
// lanes of a 64-bit word, and note where the low bytes agree; collect those tuples. The tree edges among some thousands
// of collected ones are found by looking their parents up, all at once again, and ticked off.

const (
	blockTuples = 256
	poolHits    = 4096 // tuples to collect before their parents are looked up

	// narrowDepth is the largest level that fits into a word.
	narrowDepth = 0xff - levelBias
	levelBias   = 2 // 0 is unreached, and no reached vertex may be one away from it

	lanes     = 0x0001_0001_0001_0001 // a one in each lane
	highBits  = 0x8000 * lanes
	lowBytes  = 0x00ff * lanes
	byteCarry = 0x0100 * lanes
)

// packWord makes the word of a vertex on level with parent p. The level must be at most narrowDepth to be kept.
func packWord(level int32, p Vertex) uint16 { return uint16(level+levelBias)<<8 | uint16(uint8(p)) }

// scanner is one thread's share of a pass over the tuples.
type scanner struct {
	missed    int64 // tuples outside the component
	selfLoops int64 // self-loops inside
	nHits     int   // how many of hits below are in use

	// Of a block. A tuple's lane in wordsU is the word of u with its low byte xor the low byte of v, so that it is zero
	// where u may be the child of v; wordsV is the same with u and v swapped.
	wordsU, wordsV [2 * blockTuples]byte
	groups         [blockTuples / 4]group

	// Tuples that may be tree edges: what would be the child in the high half, what would be the parent in the low one.
	// Last, for its end is hardly ever written, and the counters of the next thread's scanner begin in that cache line.
	hits [poolHits + 2*blockTuples]uint64
}

// group is four tuples of a block, some of which may be tree edges.
type group struct {
	first int    // its first tuple
	hit   uint64 // in the lane of a tuple, bit 0 if u may be the child and bit 4 if v may be
}

// scanTuples holds the tuples against rules 3 and 4, clears the pending bit of each vertex whose tree edge is a tuple,
// and fills Tuples and SelfLoops of t. The levels must be derived.
func (v *Validator) scanTuples(ctx context.Context, root Vertex, parent []Vertex, t *Tree) error {
	for i := range v.scanners {
		v.scanners[i].missed, v.scanners[i].selfLoops, v.scanners[i].nHits = 0, 0, 0
	}
	narrow := t.Depth <= narrowDepth && v.parent32 != nil
	far, unspanned, changed := newLowest(), newLowest(), newLowest()
	_, err := v.parallel(ctx, int64(len(v.edges)), v.tupleGrain, func(s *scanner, first, last int64) bool {
		v.scanned.Add(last - first)
		edges, good := v.edges[first:last], false
		if narrow {
			good = s.scanNarrow(edges, v.words, v.parent32, v.pending)
		} else {
			good = s.scanWide(edges, v.levels, parent, v.pending)
		}
		if good {
			return true
		}
		v.searchBroken(first, last, far, unspanned, changed)
		return far.get() == none // ranges beyond this one cannot hold an earlier breach of a lower rule
	})
	if err != nil {
		return err
	}
	if err := v.explainTuple(root, far.get(), unspanned.get(), changed.get()); err != nil {
		return err
	}
	t.Tuples = int64(len(v.edges))
	for i := range v.scanners {
		t.Tuples -= v.scanners[i].missed
		t.SelfLoops += v.scanners[i].selfLoops
		v.scanners[i].tickOff(v.parent32, v.pending)
	}
	return nil
}

// scanNarrow works on any number of tuples, and may leave hits behind for the next call. It returns false when a tuple
// breaks rule 3 or 4, or has a label that is no vertex.
func (s *scanner) scanNarrow(edges []Edge, words []uint16, parent []uint32, pending []uint64) bool {
	for len(edges) > 0 {
		if s.nHits >= poolHits { // first, for a block that ended an earlier call may have left as many
			s.tickOff(parent, pending)
		}
		block := edges[:min(blockTuples, len(edges))]
		edges = edges[len(block):]
		if !s.scanBlock(block, words) {
			return false
		}
	}
	return true
}

// scanBlock works on a block of at most blockTuples tuples. It returns false when a tuple breaks rule 3 or 4, or has a
// label that is no vertex.
func (s *scanner) scanBlock(block []Edge, words []uint16) bool {
	if !s.gather(block, words) {
		return false
	}
	groups, good := s.compare(len(block))
	s.collect(block, s.groups[:groups])
	return good
}

// gather fills wordsU and wordsV, up to a multiple of four lanes, and counts self-loops. It returns false when a label
// is no vertex.
func (s *scanner) gather(block []Edge, words []uint16) bool {
	var high uint32
	for i := range block {
		e := &block[i]
		u, v := uint(e.lowU), uint(e.lowV)
		if u >= uint(len(words)) || v >= uint(len(words)) {
			return false
		}
		high |= e.high
		if u == v && words[u] != 0 {
			s.selfLoops++
		}
		lane := 2 * (i % blockTuples)
		binary.LittleEndian.PutUint16(s.wordsU[lane:], words[u]^uint16(uint8(v)))
		binary.LittleEndian.PutUint16(s.wordsV[lane:], words[v]^uint16(uint8(u)))
	}
	for i := len(block); i%4 != 0; i++ { // lanes without a tuple: same level, not a tree edge, not unreached
		binary.LittleEndian.PutUint16(s.wordsU[2*i:], 0x0101)
		binary.LittleEndian.PutUint16(s.wordsV[2*i:], 0x0101)
	}
	return high == 0
}

// compare looks at the lanes of a block of n tuples. It returns how many groups it wrote, and whether all levels are in
// order.
func (s *scanner) compare(n int) (groups int, good bool) {
	var wrong uint64
	for first := 0; first < n; first += 4 {
		lane := 2 * (first % blockTuples)
		wordU := binary.LittleEndian.Uint64(s.wordsU[lane:])
		wordV := binary.LittleEndian.Uint64(s.wordsV[lane:])
		levelU, levelV := wordU>>8&lowBytes, wordV>>8&lowBytes

		// In each lane the difference of the levels plus one, which is 0, 1 or 2 if all is well, then a high bit if it
		// is anything else. The 0x4000 keeps lanes from borrowing of each other.
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

// collect adds the hits of a block.
func (s *scanner) collect(block []Edge, groups []group) {
	n := s.nHits
	for i := range groups {
		g := &groups[i]
		for hit := g.hit; hit != 0; hit &= hit - 1 {
			at := bits.TrailingZeros64(hit) // lane*16, + 4 if v may be the child
			e := &block[g.first+at/16]
			swap := (e.lowU ^ e.lowV) & -uint32(at/4%2)
			s.hits[n] = uint64(e.lowU^swap)<<32 | uint64(e.lowV^swap)
			n++
		}
	}
	s.nHits = n
}

// tickOff looks the parents of the collected hits up, clears the pending bits of those that are tree edges, and
// forgets them.
func (s *scanner) tickOff(parent []uint32, pending []uint64) {
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
