// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import "github.com/tepsbench/teps/plugins"

// quadratic looks for the frontier among all vertices in every level (kernels/quadratic.cu).
func quadratic(b *base, _ plugins.Settings) method {
	b.makeRows()
	dist := b.array("distances", 4*b.labels)
	return method{
		begin: func(root uint64) {
			b.fill(dist, 0xff, 4*b.labels)
			b.set(dist+4*root, 0)
		},
		step: func(depth uint64) (l plugins.Level, found bool) {
			b.clearCounters()
			b.Each(b.labels, quadraticKernel(b.row, b.column, b.labels, depth, dist, b.parent, b.counters))
			frontier := b.read()
			l = plugins.Level{Frontier: frontier.vertices, Edges: plugins.Counted(frontier.edges)}
			return l, l.Frontier > 0
		},
	}
}
