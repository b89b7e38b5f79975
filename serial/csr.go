// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// csr is a graph in compressed sparse rows: the neighbors of v are targets[offsets[v]:offsets[v+1]], ascending, each
// once and without v itself.
type csr struct {
	offsets []int64
	targets []uint32
}

// newCSR builds the rows of the vertices 0..vertices-1, which are at most 2^32.
func newCSR(ctx context.Context, tuples []graph.Edge, vertices int64) (*csr, error) {
	g := &csr{offsets: make([]int64, vertices+1)}
	for _, t := range tuples {
		u, v := t.Ends()
		g.offsets[u]++
		g.offsets[v]++
	}
	var end int64
	for v, degree := range g.offsets {
		end += degree
		g.offsets[v] = end
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.targets = make([]uint32, end)
	for _, t := range tuples { // from the back, so the end of each row becomes its beginning
		u, v := t.Ends()
		g.offsets[u]--
		g.targets[g.offsets[u]] = uint32(v)
		g.offsets[v]--
		g.targets[g.offsets[v]] = uint32(u)
	}
	var kept int64
	for v := range vertices {
		if v%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := g.targets[g.offsets[v]:g.offsets[v+1]]
		slices.Sort(row)
		row = slices.Compact(row)
		g.offsets[v] = kept
		for _, u := range row {
			if int64(u) != v {
				g.targets[kept] = u
				kept++
			}
		}
	}
	g.offsets[vertices] = kept
	g.targets = g.targets[:kept]
	return g, nil
}

func (g *csr) neighbors(v uint32) []uint32 { return g.targets[g.offsets[v]:g.offsets[v+1]] }

func (g *csr) bytes() int64 { return 8*int64(len(g.offsets)) + 4*int64(cap(g.targets)) }
