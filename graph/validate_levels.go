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
		if uint64(p+1) > uint64(v.vertices) {
			return false
		}
		if int64(p) == first+int64(i) && p != root {
			return false
		}
		// No branch for unreached vertices, which come in no order: they mark the root, which is inner anyway.
		unreached := p >> 63
		setBit(v.inner, uint64(p&^unreached|root&unreached))
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
	var lost, deepest int32
	for base := first; base < last; base += 64 {
		inner, pending := v.inner[base/64], uint64(0)
		entries := parent[base:min(base+64, last)]
		levels, words := v.levels[base:][:len(entries)], v.words[base:][:len(entries)]
		for i, p := range entries {
			// As in markInner, unreached vertices pass without a branch: unreached is -1 for them and 0 for others.
			unreached := p >> 63
			above := uint64(p&^unreached | root&unreached)
			if above >= uint64(len(v.levels)) {
				return 0, 0, false
			}
			level := atomic.LoadInt32(&v.levels[above])
			lost |= level
			level = (level + 1) | int32(unreached)
			if base+int64(i) == int64(root) {
				level = 0
			}
			deepest = max(deepest, level)
			pending |= uint64(unreached+1) << i
			words[i] = packWord(level, p) &^ uint16(unreached)
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
