package graph

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// Levels from parents, in time linear in the vertices however deep the tree is.
//
// Most vertices of a search tree are leaves. A first pass over the parents marks the inner vertices, those that are
// somebody's parent. Then each inner vertex without a level walks up its parents to the first one that has a level, and
// a second time to hand levels out: every vertex is walked over twice by each thread at most. Last, each vertex gets its
// parent's level plus one.
//
// Threads meet only in the levels of inner vertices, which they read and write atomically (they can but write the same
// value), and in the bitmap of inner vertices. A walk that finds no level within as many steps as there are vertices is
// in a cycle (rule 1); one that comes to an unreached vertex belongs to a tree that does not hang on the root (rule 2).

// deriveLevels fills v.levels, v.words, v.parent32 and v.pending from parent, and Reached and Depth of t. It returns
// whether parent obeys rules 1 and 2. It fails with ctx.Err(), and for a tree that is deeper than levels can say.
func (v *Validator) deriveLevels(ctx context.Context, root Vertex, parent []Vertex, t *Tree) (whole bool, err error) {
	clear(v.inner)
	whole, err = v.parallel(ctx, v.vertices, v.vertexGrain, func(_ *scanner, first, last int64) bool {
		return v.markInner(root, parent, first, last)
	})
	if err != nil || !whole || parent[root] != root {
		return false, err
	}

	v.levels[root] = 0
	var tooDeep atomic.Bool
	whole, err = v.parallel(ctx, v.vertices, v.vertexGrain, func(_ *scanner, first, last int64) bool {
		return v.walkInner(parent, first, last, &tooDeep)
	})
	if tooDeep.Load() {
		return false, fmt.Errorf("graph: validating a search from root %d: its tree has more than %d levels, the most that can be validated",
			root, math.MaxInt32)
	}
	if err != nil || !whole {
		return false, err
	}

	var reached, depth atomic.Int64
	whole, err = v.parallel(ctx, v.vertices, v.vertexGrain, func(_ *scanner, first, last int64) bool {
		n, deepest, whole := v.finishLevels(root, parent, first, last)
		reached.Add(n)
		for old := depth.Load(); deepest > old && !depth.CompareAndSwap(old, deepest); old = depth.Load() {
		}
		return whole
	})
	t.Reached, t.Depth = reached.Load(), int(depth.Load())
	return whole, err
}

// markInner takes the levels of the vertices first..last-1 away and marks their parents as inner. It returns whether
// each entry is a vertex or Unreached, and none but the root its own parent.
func (v *Validator) markInner(root Vertex, parent []Vertex, first, last int64) bool {
	levels := v.levels[first:last]
	for i, p := range parent[first:last] {
		levels[i] = -1
		if uint64(p) >= uint64(v.vertices) {
			if p != Unreached {
				return false
			}
			continue
		}
		if int64(p) == first+int64(i) && p != root {
			return false
		}
		setBit(v.inner, uint64(p))
	}
	return true
}

// walkInner gives a level to each inner vertex in first..last-1, and to all that lie between it and the root. It
// returns false when one does not hang on the root.
func (v *Validator) walkInner(parent []Vertex, first, last int64, tooDeep *atomic.Bool) bool {
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
				tooDeep.Store(true)
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

// finishLevels gives a level to the leaves in first..last-1 and prepares the scan of the tuples for every vertex there.
// It returns how many it found reached, their largest level, and false when a parent has no level.
func (v *Validator) finishLevels(root Vertex, parent []Vertex, first, last int64) (reached, depth int64, whole bool) {
	for base := first; base < last; base += 64 {
		inner, pending := v.inner[base/64], uint64(0)
		for i, p := range parent[base:min(base+64, last)] {
			at := base + int64(i)
			word, level := uint16(0), int32(-1)
			if p >= 0 {
				if uint64(p) >= uint64(len(v.levels)) {
					return 0, 0, false
				}
				above := atomic.LoadInt32(&v.levels[p])
				if above < 0 {
					return 0, 0, false
				}
				level = above + 1
				pending |= 1 << i
				if Vertex(at) == root {
					level = 0
					pending &^= 1 << i
				}
				word = packWord(level, p)
				reached++
				depth = max(depth, int64(level))
			}
			if inner>>i&1 == 0 {
				v.levels[at] = level
			}
			v.words[at] = word
			if v.parent32 != nil {
				v.parent32[at] = uint32(p)
			}
		}
		v.pending[base/64] = pending
	}
	return reached, depth, true
}

// setBit sets bit i of a bitmap that other threads set bits of. It looks first: most bits are set already.
func setBit(bitmap []uint64, i uint64) {
	word, bit := &bitmap[i/64], uint64(1)<<(i%64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// clearBit is the opposite of setBit.
func clearBit(bitmap []uint64, i uint64) {
	word, bit := &bitmap[i/64], uint64(1)<<(i%64)
	if atomic.LoadUint64(word)&bit != 0 {
		atomic.AndUint64(word, ^bit)
	}
}

// firstBit returns the lowest bit that is set in bitmap, -1 if there is none.
func firstBit(bitmap []uint64) int64 {
	for i, word := range bitmap {
		if word != 0 {
			return int64(i)*64 + int64(bits.TrailingZeros64(word))
		}
	}
	return -1
}
