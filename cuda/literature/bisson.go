// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"time"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

// bisson assigns the edges of the frontier evenly to threads (kernels/bisson.cu).
func bisson(b *base, set plugins.Settings) method {
	const tile = 2048 // TILE
	b.makeRows()
	edges := set.Text("edges") // of a thread
	k, compact := uint64(set.Int("edges")), set.Text("visit") == "compact"
	cumul := b.array("cumulated degrees", 8*b.sources)
	sums := b.array("degrees of tiles", 8*((b.sources+tile-1)/tile+1))
	bmap, visitedMap, kept := uint64(0), uint64(0), uint64(0)
	blocks := (b.entries+k-1)/k/driver.Threads + 1 // of the largest level
	if compact {
		visitedMap, kept = b.array("map", 8*b.labels), b.array("kept by blocks", 8*(blocks+1))
	} else {
		bmap = b.array("visited", (b.targets+31)/32*4)
	}
	byWarp, appendByWarp := bit(set, "search", "warp"), bit(set, "append", "warp")
	cumulate := func(frontier, n uint64) (sum uint64) { // the degrees of a frontier
		tiles := (n + tile - 1) / tile
		b.clearCounters()
		b.Each((n+7)/8, bissonDegreesKernel(b.row, frontier, n, cumul, sums)) // SCANNED
		b.PrefixSums(sums, tiles, b.counters)
		if tiles > 1 {
			b.Each(n, bissonScanKernel(n, cumul, sums))
		}
		return uint64(b.read().vertices)
	}
	if s := b.several; s != nil {
		s.clear = func(root uint64) {
			b.fill(bmap, 0, (b.targets+31)/32*4)
			if at := root/s.ranks*s.columns + root%s.columns; root%s.ranks/s.columns == s.gridRow {
				b.set(bmap+at/32*4, 1<<(at%32))
			}
		}
		s.discover = func(frontier, n uint64) int64 {
			sum := cumulate(frontier, n)
			b.Each((sum+k-1)/k, bissonExpandToBinsKernel(edges, b.row, b.column, frontier, cumul, n, sum, 2*byWarp, bmap,
				s.columns, s.column, s.out, s.places, s.tails))
			driver.Get(&b.Work, s.counts, s.tails)
			for i := range s.begins {
				s.begins[i] = uint64(i) * s.places
			}
			return int64(sum)
		}
		s.update = func(found, n uint64) {
			b.Each(n, bissonUpdateKernel(found, n, s.rows, s.gridRow, s.columns, s.column, bmap, b.parent, s.own, b.counters))
		}
		return s.method(b.targets)
	}
	frontier, dst := b.array("frontier", 4*b.labels), b.array("frontier", 4*b.labels)
	n := uint64(1) // vertices of the frontier
	phases := make([]plugins.Phase, 0, 2*maxLevels)
	return method{
		begin: func(root uint64) {
			n, phases = 1, phases[:0]
			b.set(frontier, uint32(root))
			if !compact {
				b.fill(bmap, 0, (b.labels+31)/32*4)
				b.set(bmap+root/32*4, 1<<(root%32))
			}
		},
		step: func(uint64) (plugins.Level, bool) {
			l, began := plugins.Level{Frontier: int64(n)}, time.Now()
			sum := cumulate(frontier, n)
			scanned := time.Now()
			l.Edges = plugins.Counted(int64(sum))
			if sum == 0 {
				return l, false
			}
			threads := (sum + k - 1) / k
			b.clearCounters()
			if compact {
				blocks := (threads + driver.Threads - 1) / driver.Threads
				b.Each(threads, bissonScatterKernel(edges, b.row, b.column, frontier, cumul, n, sum, byWarp, b.parent,
					visitedMap))
				b.Each(threads, bissonKeepKernel(edges, b.row, b.column, frontier, cumul, n, sum, byWarp, b.parent, visitedMap,
					kept, 0))
				b.PrefixSums(kept, blocks, b.counters)
				b.Each(threads, bissonKeepKernel(edges, b.row, b.column, frontier, cumul, n, sum, byWarp, b.parent, visitedMap,
					kept, dst))
			} else {
				b.Each(threads, bissonExpandKernel(edges, b.row, b.column, frontier, cumul, n, sum, byWarp, bmap, b.parent, dst,
					appendByWarp, b.counters))
			}
			n = uint64(b.read().vertices)
			if at := len(phases); at < cap(phases) {
				phases = append(phases, plugins.Phase{Name: "scan", Elapsed: scanned.Sub(began)},
					plugins.Phase{Name: "expand", Elapsed: time.Since(scanned)})
				l.Phases = phases[at:]
			}
			frontier, dst = dst, frontier
			return l, n > 0
		},
	}
}
