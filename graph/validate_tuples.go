package graph

import (
	"context"
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// The pass over the tuples: 12 bytes each, streamed once, and one random read for each end. The random reads are the
// cost, so what is read there is small and everything else stays out of their way.
//
// Each vertex has a word of 16 bits: in the high byte its level plus two, 0 for an unreached vertex; in the low byte the
// lowest bits of its parent's label. So two words tell whether the levels of a tuple are in order, and, but for one
// false alarm in 256, whether one end is the parent of the other. Trees that are deeper than a byte can say, and labels
// of more than 32 bits, take the plain loop of validate_wide.go.
//
// A thread works on a block of tuples in four loops, each without a branch that cannot be predicted, so that the cache
// misses of many tuples overlap: gather the words of both ends; compare four pairs of words at a time, as lanes of a
// 64-bit word; look the parent up where the low bytes agree; clear the pending bit of each vertex that was found to
// have its parent at the other end of a tuple.

const (
	blockTuples = 4096
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

	// Of a block. A tuple's lane in wordsU is the word of u with its low byte xor the low byte of v, so that it is zero
	// where u may be the child of v; wordsV is the same with u and v swapped.
	wordsU, wordsV [2 * blockTuples]byte
	hits           [2 * blockTuples]uint16 // tuples that may be tree edges: number in the block * 2, + 1 if v is the child
	children       [2 * blockTuples]uint32 // children of the tree edges among them
}

// scanTuples holds the tuples against rules 3 and 4, clears the pending bit of each vertex whose tree edge is a tuple,
// and fills Tuples and SelfLoops of t. The levels must be derived.
func (v *Validator) scanTuples(ctx context.Context, root Vertex, parent []Vertex, t *Tree) error {
	for i := range v.scanners {
		v.scanners[i].missed, v.scanners[i].selfLoops = 0, 0
	}
	narrow := t.Depth <= narrowDepth && v.parent32 != nil
	far, unspanned, changed := newLowest(), newLowest(), newLowest()
	_, err := v.parallel(ctx, int64(len(v.edges)), v.tupleGrain, func(s *scanner, first, last int64) bool {
		edges, good := v.edges[first:last], true
		if narrow {
			for len(edges) > 0 && good {
				block := edges[:min(blockTuples, len(edges))]
				edges = edges[len(block):]
				good = s.scanBlock(block, v.words, v.parent32, v.pending)
			}
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
	}
	return nil
}

// scanBlock works on a block of at most blockTuples tuples. It returns false when a tuple breaks rule 3 or 4, or has a
// label that is no vertex.
func (s *scanner) scanBlock(block []Edge, words []uint16, parent []uint32, pending []uint64) bool {
	if !s.gather(block, words) {
		return false
	}
	hits, good := s.compare(len(block))
	for _, child := range s.children[:s.match(block, s.hits[:hits], parent)] {
		clearBit(pending, uint64(child))
	}
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

// compare looks at the lanes of a block of n tuples. It returns how many hits it wrote, and whether all levels are in
// order.
func (s *scanner) compare(n int) (hits int, good bool) {
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
		for ; hit != 0; hit &= hit - 1 {
			at := bits.TrailingZeros64(hit) // lane*16, + 4 if v may be the child
			s.hits[hits%len(s.hits)] = uint16((first+at/16)*2 + at/4%2)
			hits++
		}
	}
	return hits, wrong&highBits == 0
}

// match looks the parents of hits up and writes the children of those that are tree edges. It returns their number.
func (s *scanner) match(block []Edge, hits []uint16, parent []uint32) (children int) {
	for _, hit := range hits {
		e := &block[hit/2]
		swap := (e.lowU ^ e.lowV) & -uint32(hit%2)
		child, other := e.lowU^swap, e.lowV^swap
		if uint(child) >= uint(len(parent)) {
			return 0
		}
		s.children[children%len(s.children)] = child
		children += int((uint64(parent[child]^other) - 1) >> 63)
	}
	return children
}

// countTuples is the pass of Count.
func (v *Validator) countTuples(ctx context.Context, parent []Vertex) (Tree, error) {
	var reached, tuples, selfLoops atomic.Int64
	_, err := v.parallel(ctx, v.vertices, v.vertexGrain, func(_ *scanner, first, last int64) bool {
		var n int64
		for i, p := range parent[first:last] {
			v.words[first+int64(i)] = 0
			if p >= 0 {
				v.words[first+int64(i)] = 1
				n++
			}
		}
		reached.Add(n)
		return true
	})
	if err != nil {
		return Tree{}, err
	}
	changed := newLowest()
	_, err = v.parallel(ctx, int64(len(v.edges)), v.tupleGrain, func(_ *scanner, first, last int64) bool {
		var both, loops int64
		for i := range v.edges[first:last] {
			a, b := v.edges[first+int64(i)].Ends()
			if uint64(a) >= uint64(len(v.words)) || uint64(b) >= uint64(len(v.words)) {
				changed.put(first + int64(i))
				return false
			}
			joins := int64(v.words[a] & v.words[b])
			both += joins
			if a == b {
				loops += joins
			}
		}
		tuples.Add(both)
		selfLoops.Add(loops)
		return true
	})
	if err != nil {
		return Tree{}, err
	}
	if err := v.explainTuple(0, none, none, changed.get()); err != nil {
		return Tree{}, err
	}
	return Tree{Reached: reached.Load(), Tuples: tuples.Load(), SelfLoops: selfLoops.Load()}, nil
}
