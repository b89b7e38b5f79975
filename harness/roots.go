// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
)

// DrawRoots draws wanted search keys from those of a graph's vertices with a neighbor other than themselves (a bitmap,
// as of validate.Validator), which it removes there; if there are fewer, it draws all. rejected counts the draws of a
// vertex without a neighbor, or of one drawn before.
//
// The keys are distinct (Graph500 specification 2.0, section "Sampling 64 search keys"). The draws are those of the
// reference, so its roots are ours; if the reference runs out of draws and keeps a bad root, drawing continues here.
func DrawRoots(
	vertices int64, seed1, seed2 uint64, joined []uint64, wanted int) (roots []graph.Vertex, rejected int) {
	left := 0
	for _, word := range joined {
		left += bits.OnesCount64(word)
	}
	roots = make([]graph.Vertex, 0, min(wanted, left))
	stream := graph.NewStream(seed1, seed2)
	stream.Skip(2, 0, 0)
	for len(roots) < cap(roots) {
		first, second := stream.Float64(), stream.Float64()
		root := graph.Vertex(int64((first+second)*float64(vertices)) % vertices)
		word, bit := &joined[root/64], uint64(1)<<(root%64)
		if *word&bit == 0 {
			rejected++
			continue
		}
		*word &^= bit
		roots = append(roots, root)
	}
	return roots, rejected
}
