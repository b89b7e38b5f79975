// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

// input is a graph to search. Engines get a copy of the tuples.
type input struct {
	name     string
	tuples   []graph.Edge
	vertices int64          // length of the parent array, at least the largest label plus one
	roots    []graph.Vertex // to search from; nil: chosen by sample
}

func (in input) String() string { return "graph " + in.name }

func (in input) from(roots ...graph.Vertex) input {
	in.roots = roots
	return in
}

// sample returns the roots to search from: every vertex of a small graph; the first, the last and 30 random vertices,
// always the same ones, of a larger graph.
func (in input) sample() (roots []graph.Vertex) {
	if in.roots != nil {
		return in.roots
	}
	if in.vertices <= 70 {
		for v := range graph.Vertex(in.vertices) {
			roots = append(roots, v)
		}
		return roots
	}
	random := rand.New(rand.NewPCG(64, uint64(in.vertices)))
	roots = []graph.Vertex{0, graph.Vertex(in.vertices - 1)}
	for range 30 {
		roots = append(roots, graph.Vertex(random.Int64N(in.vertices)))
	}
	return roots
}

func edges(labels ...graph.Vertex) (list []graph.Edge) {
	for i := 0; i+1 < len(labels); i += 2 {
		list = append(list, graph.MakeEdge(labels[i], labels[i+1]))
	}
	return list
}

// Generated returns a generator by its name, with the seeds of Graph500, and its tuples, for tests of engines that need
// more than the suite.
func Generated(t testing.TB, spec string) (graph.Source, []graph.Edge) {
	t.Helper()
	source, err := graph.ParseSource(spec, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	tuples := make([]graph.Edge, source.Tuples())
	if err := source.Generate(t.Context(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	return source, tuples
}

// joined returns n vertices with an edge between u and v, u < v, where adjacent(u, v) says so, for v in [u+1, u+reach].
func joined(name string, n, reach graph.Vertex, adjacent func(u, v graph.Vertex) bool) input {
	in := input{name: name, vertices: int64(n)}
	for u := range n {
		for v := u + 1; v < n && v <= u+reach; v++ {
			if adjacent(u, v) {
				in.tuples = append(in.tuples, graph.MakeEdge(v, u))
			}
		}
	}
	return in
}

func path(n graph.Vertex) input {
	return joined(fmt.Sprintf("path of %d", n), n, 1, func(u, v graph.Vertex) bool { return true })
}

func grid(rows, columns graph.Vertex) input {
	return joined(fmt.Sprintf("grid of %dx%d", rows, columns), rows*columns, columns, func(u, v graph.Vertex) bool {
		return v == u+columns || v == u+1 && v%columns != 0
	})
}

func star(n, hub graph.Vertex) input {
	in := input{name: fmt.Sprintf("star of %d around %d", n, hub), vertices: int64(n)}
	for v := range n {
		if v != hub {
			in.tuples = append(in.tuples, graph.MakeEdge(v, hub))
		}
	}
	return in
}

// random returns n vertices and m random tuples, with self-loops and duplicates; for m about n/2, many components with
// deep trees.
func random(n int64, m int, seed uint64) input {
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	in := input{name: fmt.Sprintf("random of %d vertices and %d tuples, seed %d", n, m, seed), vertices: n}
	for range m {
		in.tuples = append(in.tuples, graph.MakeEdge(graph.Vertex(source.Int64N(n)), graph.Vertex(source.Int64N(n))))
	}
	return in
}

// shuffled permutes the labels of the vertices and the order of the tuples, and swaps the ends of some tuples, so that
// engines cannot rely on any order.
func shuffled(in input, seed uint64) input {
	source := rand.New(rand.NewPCG(seed, 1))
	label := source.Perm(int(in.vertices))
	out := input{name: "shuffled " + in.name, vertices: in.vertices, roots: in.roots}
	for _, e := range in.tuples {
		u, v := e.Ends()
		u, v = graph.Vertex(label[u]), graph.Vertex(label[v])
		if source.IntN(2) == 0 {
			u, v = v, u
		}
		out.tuples = append(out.tuples, graph.MakeEdge(u, v))
	}
	source.Shuffle(len(out.tuples), func(i, j int) { out.tuples[i], out.tuples[j] = out.tuples[j], out.tuples[i] })
	return out
}

func (s *subject) kronecker(scale, edgeFactor int, seed1, seed2 uint64) input {
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor, Seed1: seed1, Seed2: seed2}
	in := input{
		name:     fmt.Sprintf("Kronecker s%d, edgefactor %d, seeds %d %d", scale, edgeFactor, seed1, seed2),
		vertices: 1 << scale, tuples: make([]graph.Edge, edgeFactor<<scale),
	}
	s.must(recipe.Generate(s.ctx, in.tuples, 0, 1), "generating %v", in)
	return in
}

// Truth judges the searches of one graph as the host of a run does, and has their levels.
type Truth struct {
	graph *graph.CSR
	host  *validate.Validator
}

// NewTruth returns the truth about tuples whose labels are below vertices.
func NewTruth(tuples []graph.Edge, vertices int64) (*Truth, error) {
	g, err := graph.NewCSR(tuples, vertices)
	if err != nil {
		return nil, err
	}
	host, err := validate.New(tuples, vertices, 1)
	return &Truth{graph: g, host: host}, err
}

// Levels returns the number of vertices on each level of a search from root.
func (t *Truth) Levels(root graph.Vertex) ([]int64, error) {
	_, level, err := t.graph.Search(root)
	return levelSizes(level), err
}

// Search makes a search, of kernel 2, from root over parents that are not written, and returns an error unless they are
// valid and the levels, if there are any, are those of graph.CSR.
func (t *Truth) Search(ctx context.Context, root graph.Vertex,
	search func(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error),
) (plugins.Traversal, error) {
	parent := slices.Repeat([]graph.Vertex{graph.Unwritten}, int(t.graph.NumVertices()))
	found, err := search(ctx, root, plugins.Output{Parent: parent})
	if err == nil {
		_, err = t.host.Validate(ctx, root, parent, nil)
	}
	if err != nil {
		return found, err
	}
	sizes, err := t.Levels(root)
	return found, cmp.Or(err, checkLevels(found.Levels, sizes))
}

// checkLevels compares reported levels with the numbers of vertices on each. An engine may leave out the last frontier,
// which discovers nothing.
func checkLevels(levels []plugins.Level, want []int64) error {
	if len(levels) == 0 {
		return nil // not reported
	}
	if len(levels) != len(want) && len(levels) != len(want)-1 {
		return fmt.Errorf("want %d levels (or one less, without the last frontier), got %d", len(want), len(levels))
	}
	for i, level := range levels {
		if level.Frontier != want[i] {
			return fmt.Errorf("level %d: want a frontier of %d vertices, got %d", i, want[i], level.Frontier)
		}
	}
	return nil
}

// levelSizes returns the number of vertices on each level, from the levels of all vertices.
func levelSizes(level []int64) (n []int64) {
	for _, l := range level {
		for int64(len(n)) <= l {
			n = append(n, 0)
		}
		if l >= 0 {
			n[l]++
		}
	}
	return n
}
