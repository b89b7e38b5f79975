// SPDX-License-Identifier: Apache-2.0

package harness

import "github.com/tepsbench/teps/graph"

// DrawRoots draws wanted search keys from those of a graph's vertices that have a neighbor other than themselves, as
// joined reports. There must be as many of them. rejected counts the draws of a vertex without a neighbor, or of one
// drawn before. The error is that of joined.
//
// The keys are distinct (Graph500 specification 2.0, section "Sampling 64 search keys"). The draws are those of the
// reference, so its roots are ours; if the reference runs out of draws and keeps a bad root, drawing continues here.
func DrawRoots(vertices int64, seed1, seed2 uint64, joined func([]graph.Vertex) ([]bool, error), wanted int) (
	roots []graph.Vertex, rejected int, err error) {
	drawn := make(map[graph.Vertex]bool, wanted)
	stream := graph.NewStream(seed1, seed2)
	stream.Skip(2, 0, 0)
	for batch := 2 * wanted; len(roots) < wanted; batch = min(2*batch, 1<<16) {
		some := make([]graph.Vertex, batch)
		for i := range some {
			first, second := stream.Float64(), stream.Float64()
			some[i] = graph.Vertex(int64((first+second)*float64(vertices)) % vertices)
		}
		has, err := joined(some)
		if err != nil {
			return nil, 0, err
		}
		for i := 0; i < batch && len(roots) < wanted; i++ {
			if root := some[i]; !has[i] || drawn[root] {
				rejected++
			} else {
				drawn[root] = true
				roots = append(roots, root)
			}
		}
	}
	return roots, rejected, nil
}
