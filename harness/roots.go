// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

// DrawRoots draws wanted search keys from those of a graph's vertices that have a neighbor other than themselves, as
// joined reports. There must be as many of them. rejected counts the draws of vertices without a neighbor, and of
// vertices that were drawn before. The error is that of joined.
//
// The keys are distinct (Graph500 specification 2.0, section "Sampling 64 search keys"). The draws are those of the
// reference, so the roots are the same; if the reference runs out of draws and keeps a bad root, drawing continues
// here.
func DrawRoots(vertices int64, seed1, seed2 uint64, joined func([]graph.Vertex) ([]bool, error), wanted int) (
	roots []graph.Vertex, rejected int, err error) {
	drawn := make(map[graph.Vertex]bool, wanted)
	stream := graph.NewStream(seed1, seed2)
	stream.Skip(2, 0, 0)
	for batch := 2 * wanted; len(roots) < wanted; batch = min(2*batch, 1<<16) {
		some := make([]graph.Vertex, batch)
		for i := range some {
			first, second := uniform(&stream), uniform(&stream)
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

// uniform returns a number in [0, 1) made of the next two outputs, with the arithmetic of the reference: the
// conversions keep the compiler from fusing multiplication and addition, which would round differently.
func uniform(s *graph.Stream) float64 {
	const (
		first  = .000000000465661287524579692           // (2^31-1)^-1
		second = .0000000000000000002168404346990492787 // (2^31-1)^-2
	)
	high, low := float64(s.Next31()), float64(s.Next31())
	return float64(high*first) + float64(low*second)
}

// given returns the vertices with these labels in the graph's file. The error, a ReadError and a record.ErrUsage, names
// labels that no vertex has, or whose vertex has no neighbor.
func (in *Input) given(labels []uint64, joined func([]graph.Vertex) ([]bool, error)) (roots []graph.Vertex, err error) {
	var missing, isolated []string
	for _, wanted := range labels {
		if v, known := in.vertexOf(wanted); known {
			roots = append(roots, v)
		} else {
			missing = append(missing, fmt.Sprint(wanted))
		}
	}
	has, err := joined(roots)
	if err != nil {
		return nil, err
	}
	for i, root := range roots {
		if !has[i] {
			isolated = append(isolated, fmt.Sprint(in.label(root)))
		}
	}
	for what, wrong := range map[string][]string{"not vertices of": missing, "without a neighbor in": isolated} {
		if n := len(wrong); n > 0 {
			return nil, &ReadError{record.Usage("%s %s: %s (%d of %d roots)", what, in.id,
				strings.Join(wrong[:min(n, 5)], ", "), n, len(labels))}
		}
	}
	return roots, nil
}
