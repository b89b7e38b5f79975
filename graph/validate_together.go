package graph

import (
	"context"
	"fmt"
	"math/bits"
)

// Several searches in one pass over the tuples. The words of a vertex, one for each search, are the lanes of a number
// of 64 bits, so one random read fetches all of them, and the comparison of validate_tuples.go compares one tuple in
// all searches instead of four tuples in one.

// MaxTogether is the largest number of searches that ValidateTogether takes.
const MaxTogether = 4

// together is one thread's share of a pass for several searches.
type together struct {
	missed, selfLoops [MaxTogether]int64
	wordsU, wordsV    [blockTuples]uint64
	hits              [MaxTogether][]uint64 // as of scanner
}

// ValidateTogether validates up to MaxTogether searches in little more time than one. valid says whether all of them
// obey the rules; if not, Validate says which one does not, and why. It is also false for what words of 16 bits do not
// hold: deep trees, and labels of more than 32 bits. It needs 8 bytes for each vertex.
func (v *Validator) ValidateTogether(
	ctx context.Context, roots []Vertex, parents [][]Vertex) (trees []Tree, valid bool, err error) {
	if len(roots) > MaxTogether || len(parents) != len(roots) {
		return nil, false, fmt.Errorf("graph: validating %d searches from %d roots: want at most %d of each",
			len(parents), len(roots), MaxTogether)
	}
	v.call.Lock()
	defer v.call.Unlock()
	trees = make([]Tree, len(roots))
	words := hugePages(make([]uint64, v.vertices))
	pending := make([][]uint64, len(roots))
	for k, root := range roots {
		if err := v.checkSearch(root, parents[k]); err != nil {
			return nil, false, err
		}
		trees[k].Root = root
		whole, err := v.deriveLevels(ctx, root, parents[k], &trees[k])
		if !whole || trees[k].Depth > maxWordLevel || v.parent32 == nil || err != nil {
			return nil, false, err
		}
		_, err = v.overVertices(ctx, func(first, last int64) bool {
			all := words[first:last]
			for i, w := range v.words[first:last] {
				all[i] |= uint64(w) << (16 * k)
			}
			return true
		})
		if err != nil {
			return nil, false, err
		}
		v.unpaused(func() { pending[k] = append(pending[k], v.pending...) })
	}
	shares := make([]together, len(v.scanners))
	valid, err = v.overTuples(ctx, func(thread int, edges []Edge, _ int64) bool {
		return shares[thread].scan(edges, words, parents, pending)
	})
	if !valid || err != nil {
		return nil, false, err
	}
	v.unpaused(func() {
		for k := range trees {
			trees[k].Tuples = v.tuples()
			for i := range shares {
				trees[k].Tuples -= shares[i].missed[k]
				trees[k].SelfLoops += shares[i].selfLoops[k]
				shares[i].markTreeEdges(k, parents[k], pending[k])
			}
			valid = valid && firstBit(pending[k]) < 0
		}
	})
	return trees, valid, nil
}

// scan works on any number of tuples. It returns false if one of them breaks rule 3 or 4 in one of the searches, or
// has a label that is not a vertex.
func (t *together) scan(edges []Edge, words []uint64, parents [][]Vertex, pending [][]uint64) bool {
	used := ^uint64(0) >> (16 * (MaxTogether - len(parents))) // lanes that have a search
	for len(edges) > 0 {
		block := edges[:min(blockTuples, len(edges))]
		edges = edges[len(block):]
		if !t.gather(block, words) {
			return false
		}
		var wrong, missed uint64
		for i := range block {
			wordU, wordV := t.wordsU[i], t.wordsV[i]
			levelU, levelV := wordU>>8&lowBytes, wordV>>8&lowBytes
			difference := levelU + 0x4001*lanes - levelV // as in scanner.compare
			wrong |= (difference ^ 0x4000*lanes) + 0x7ffd*lanes
			missed += (highBits - levelU) & highBits >> 15
			hit := (byteCarry-wordU&lowBytes)&byteCarry>>8 | (byteCarry-wordV&lowBytes)&byteCarry>>4
			for hit &= used; hit != 0; hit &= hit - 1 {
				at := bits.TrailingZeros64(hit) // 16 times the search, + 4 if v may be the child
				e := &block[i]
				swap := (e.lowU ^ e.lowV) & -uint32(at/4%2)
				t.hits[at/16] = append(t.hits[at/16], uint64(e.lowU^swap)<<32|uint64(e.lowV^swap))
			}
		}
		if wrong&highBits != 0 {
			return false
		}
		for k := range parents {
			t.missed[k] += int64(missed >> (16 * k) & 0xffff)
			if len(t.hits[k]) >= poolHits {
				t.markTreeEdges(k, parents[k], pending[k])
			}
		}
	}
	return true
}

// gather is scanner.gather for the words of all searches.
func (t *together) gather(block []Edge, words []uint64) bool {
	var high uint32
	for i := range block {
		e := &block[i]
		u, v := uint(e.lowU), uint(e.lowV)
		if u >= uint(len(words)) || v >= uint(len(words)) {
			return false
		}
		high |= e.high
		if u == v {
			for k := range t.selfLoops {
				if uint16(words[u]>>(16*k)) != 0 {
					t.selfLoops[k]++
				}
			}
		}
		t.wordsU[i%blockTuples] = words[u] ^ lanes*uint64(uint8(v))
		t.wordsV[i%blockTuples] = words[v] ^ lanes*uint64(uint8(u))
	}
	return high == 0
}

// markTreeEdges is scanner.markTreeEdges for search k.
func (t *together) markTreeEdges(k int, parent []Vertex, pending []uint64) {
	for _, hit := range t.hits[k] {
		if parent[hit>>32] == Vertex(uint32(hit)) {
			clearBit(pending, hit>>32)
		}
	}
	t.hits[k] = t.hits[k][:0]
}
