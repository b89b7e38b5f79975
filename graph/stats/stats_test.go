// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// list is a source of a few tuples.
type list struct {
	n     int64
	edges [][2]graph.Vertex
}

func (l list) Name() string    { return "list" }
func (l list) Vertices() int64 { return l.n }
func (l list) Tuples() int64   { return int64(len(l.edges)) }

func (l list) Generate(ctx context.Context, dst []graph.Edge, first int64, _ int) error {
	for i := range dst {
		dst[i] = graph.MakeEdge(l.edges[first+int64(i)][0], l.edges[first+int64(i)][1])
	}
	return ctx.Err()
}

func TestSmallGraphs(t *testing.T) {
	for name, c := range map[string]struct {
		graph list
		want  Graph
	}{
		"nothing":           {list{}, Graph{Degrees: []Degree{{0, 0, 0}}}},
		"isolated vertices": {list{n: 3}, Graph{Vertices: 3, Isolated: 3, Degrees: []Degree{{0, 0, 3}}}},
		"self-loops": {list{2, [][2]graph.Vertex{{1, 1}, {1, 1}, {1, 1}}}, Graph{
			Vertices: 2, Isolated: 1, Tuples: 3, SelfLoops: 3, Duplicates: 2, MeanDegree: 3, MaxDegree: 6,
			Degrees: []Degree{{0, 0, 1}, {1, 1, 0}, {2, 3, 0}, {4, 7, 1}}, Components: 1, Largest: 1,
		}},
		// 0-1-2-3 with a branch 2-4, where 1-2 is there three times, and a component 5-6.
		"two components": {list{8, [][2]graph.Vertex{{0, 1}, {1, 2}, {2, 1}, {2, 3}, {1, 2}, {2, 4}, {6, 5}}}, Graph{
			Vertices: 8, Isolated: 1, Tuples: 7, Duplicates: 2, MeanDegree: 14. / 8, MaxDegree: 5,
			Degrees: []Degree{{0, 0, 1}, {1, 1, 5}, {2, 3, 0}, {4, 7, 2}}, Components: 2, Largest: 5, Diameter: 3,
		}},
	} {
		got, err := Of(context.Background(), c.graph, func(int64) {})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// The diameters of paths and grids are known.
func TestDiameters(t *testing.T) {
	for name, want := range map[string]int64{"path:1000": 999, "star:50": 2, "grid2d:30": 58, "grid3d:9": 24} {
		source := must.Get(graph.ParseSource(name, 1, 2))
		got, err := Of(context.Background(), source, func(int64) {})
		if err != nil || got.Diameter != want || got.Largest != source.Vertices() || got.Components != 1 {
			t.Errorf("%s: %+v, %v; want %d", name, got, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	source := must.Get(graph.ParseSource("grid2d:300", 1, 2))
	must.Is(t, must.Err(Of(ctx, source, func(int64) { cancel() })), context.Canceled)
}
