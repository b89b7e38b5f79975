// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Levels from parents, in time linear in the vertices, however deep the tree is.
//
// A first pass over the parents marks the inner vertices, those with a child. Then a walk from each inner vertex
// without a level follows its parents to the first one that has a level, and a second walk sets the levels on the way:
// each thread visits every vertex at most twice. Finally each vertex gets its parent's level plus one.
//
// Threads share the levels of inner vertices, atomically (all write the same value), and the bitmap of inner vertices.
// A walk of more steps than there are vertices is in a cycle (rule 1); one that reaches an unreached vertex is in a
// tree that is not connected to the root (rule 2).

// deriveLevels fills levels, words, parent32 and pending from the parents, and Reached and Depth of the tree. The error
// is a Violation of rule 1 or 2, or ctx.Err().
func (s *search) deriveLevels(ctx context.Context) error {
	var reached, depth atomic.Int64
	clear(s.inner)
	whole, err := s.overVertices(ctx, s.markInner)
	if whole = whole && s.parent[s.root] == s.root; whole {
		s.levels[s.root] = 0
		whole, err = s.overVertices(ctx, s.walkInner)
	}
	if whole {
		whole, err = s.overVertices(ctx, func(first, last int64) bool {
			n, deepest, whole := s.finishLevels(first, last)
			reached.Add(n)
			for old := depth.Load(); deepest > old && !depth.CompareAndSwap(old, deepest); old = depth.Load() {
			}
			return whole
		})
	}
	s.tree.Reached, s.tree.Depth = reached.Load(), int(depth.Load())
	if whole || err != nil {
		return err
	}
	return s.explainTree()
}

// markInner clears the levels of the vertices first..last-1 and marks their parents as inner. It returns whether each
// parent is a vertex or Unreached, and only the root is its own parent.
func (s *search) markInner(first, last int64) bool {
	v, root, parent := s.Validator, s.root, s.parent
	levels := v.levels[first:last]
	for i, p := range parent[first:last] {
		levels[i] = -1
		if uint64(p+1) > uint64(v.vertices) {
			return false
		}
		if int64(p) == first+int64(i) && p != root {
			return false
		}
		// A branch for unreached vertices could not be predicted: they mark the root instead, which is inner anyway.
		unreached := p >> 63
		setBit(v.inner, uint64(p&^unreached|root&unreached))
	}
	return true
}

// walkInner sets the level of each inner vertex in first..last-1 and of its ancestors. It returns false if one is not
// connected to the root or its level exceeds 32 bits.
func (s *search) walkInner(first, last int64) bool {
	v, parent := s.Validator, s.parent
	for w := first / 64; w*64 < last; w++ {
		for word := v.inner[w]; word != 0; word &= word - 1 {
			start := w*64 + int64(bits.TrailingZeros64(word))
			var steps int64
			at, level := uint64(start), int32(-1)
			for {
				if level = atomic.LoadInt32(&v.levels[at]); level >= 0 {
					break
				}
				at = uint64(parent[at])
				if steps++; at >= uint64(len(parent)) || steps > v.vertices {
					return false
				}
			}
			if int64(level)+steps >= math.MaxInt32 {
				return false
			}
			at = uint64(start)
			for ; steps > 0 && at < uint64(len(parent)); steps-- {
				atomic.StoreInt32(&v.levels[at], level+int32(steps))
				at = uint64(parent[at])
			}
		}
	}
	return true
}

// finishLevels sets the levels of the leaves in first..last-1 and prepares the scan of the tuples for all vertices.
// It returns the number of reached vertices, their largest level, and false if a parent has no level.
func (s *search) finishLevels(first, last int64) (reached, depth int64, whole bool) {
	v, root, parent := s.Validator, s.root, s.parent
	var lost, deepest int32
	for base := first; base < last; base += 64 {
		inner, pending := v.inner[base/64], uint64(0)
		entries := parent[base:min(base+64, last)]
		levels, words := v.levels[base:][:len(entries)], v.words[base:][:len(entries)]
		for i, p := range entries {
			// No branch for unreached vertices, as in markInner: unreached is -1 for them and 0 for others.
			unreached := p >> 63
			up := uint64(p&^unreached | root&unreached)
			if up >= uint64(len(v.levels)) {
				return 0, 0, false
			}
			level := atomic.LoadInt32(&v.levels[up])
			lost |= level
			level = (level + 1) | int32(unreached)
			if base+int64(i) == int64(root) {
				level = 0
			}
			deepest = max(deepest, level)
			pending |= uint64(unreached+1) << i
			words[i] = packWord(level, graph.Vertex(base+int64(i)), p) &^ uint16(unreached)
			if inner>>i&1 == 0 {
				levels[i] = level
			}
		}
		v.pending[base/64] = pending
		reached += int64(bits.OnesCount64(pending))
	}
	if int64(root) >= first && int64(root) < last {
		v.pending[root/64] &^= 1 << (root % 64) // it has no tree edge
	}
	if v.parent32 != nil {
		low := v.parent32[first:last]
		for i, p := range parent[first:last] {
			low[i] = uint32(p)
		}
	}
	return reached, int64(deepest), lost >= 0
}

// setBit sets bit i of a bitmap that threads share. It reads first, because most bits are set already.
func setBit(bitmap []uint64, i uint64) {
	word, bit := &bitmap[i/64], uint64(1)<<(i%64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

func clearBit(bitmap []uint64, i uint64) {
	word, bit := &bitmap[i/64], uint64(1)<<(i%64)
	if atomic.LoadUint64(word)&bit != 0 {
		atomic.AndUint64(word, ^bit)
	}
}
