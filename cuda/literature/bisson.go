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
	tiles := (b.labels + tile - 1) / tile
	frontier, dst := b.array("frontier", 4*b.labels), b.array("frontier", 4*b.labels)
	cumul, sums := b.array("cumulated degrees", 8*b.labels), b.array("degrees of tiles", 8*(tiles+1))
	bmap, visitedMap, kept := uint64(0), uint64(0), uint64(0)
	blocks := (b.entries+k-1)/k/driver.Threads + 1 // of the largest level
	if compact {
		visitedMap, kept = b.array("map", 8*b.labels), b.array("kept by blocks", 8*(blocks+1))
	} else {
		bmap = b.array("visited", (b.labels+31)/32*4)
	}
	n := uint64(1) // vertices of the frontier
	byWarp, appendByWarp := bit(set, "search", "warp"), bit(set, "append", "warp")
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
			tiles := (n + tile - 1) / tile
			b.clearCounters()
			b.Each((n+7)/8, bissonDegreesKernel(b.row, frontier, n, cumul, sums)) // SCANNED
			b.PrefixSums(sums, tiles, b.counters)
			if tiles > 1 {
				b.Each(n, bissonScanKernel(n, cumul, sums))
			}
			sum := uint64(b.read().vertices)
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
