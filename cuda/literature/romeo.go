// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// romeo assigns a warp to each word of a bitmap (kernels/romeo.cu), of the frontier in top-down steps and of visited
// vertices in bottom-up steps.
func romeo(b *base, set plugins.Settings) method {
	b.makeRows()
	words := (b.labels + 31) / 32
	in, out, visited := b.array("in_queue", 4*words), b.array("out_queue", 4*words), b.array("visited", 4*words)
	readOnly := bit(set, "visited", "ldg")
	rule := switchRule{Switch: set.Switch()}
	return method{
		begin: func(root uint64) {
			rule.start(int64(b.labels), int64(b.entries))
			b.fill(in, 0, 4*words)
			b.fill(visited, 0, 4*words)
			b.set(in+root/32*4, 1<<(root%32))
			b.set(visited+root/32*4, 1<<(root%32))
		},
		step: func(uint64) (plugins.Level, bool) {
			b.clearCounters()
			b.fill(out, 0, 4*words)
			l := plugins.Level{Direction: rule.state.Direction, Frontier: rule.state.Frontier}
			if l.Direction == graph.TopDown {
				b.Each(32*words, romeoCsrKernel(b.row, b.column, words, in, out, visited, readOnly, b.parent, b.counters))
			} else {
				b.Each(32*words, romeoCscKernel(b.row, b.column, b.labels, in, out, visited, readOnly, b.parent, b.counters))
			}
			found := b.read()
			l.Edges = plugins.Counted(found.examined)
			rule.found(found.vertices, found.edges)
			in, out = out, in
			return l, found.vertices > 0
		},
	}
}
