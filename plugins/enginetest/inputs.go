package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/tepsbench/teps/graph"
)

// input is a graph to search. What is in it is never handed out: an engine gets a copy of the tuples.
type input struct {
	name     string
	tuples   []graph.Edge
	vertices int64          // length of the parent array, at least the largest label plus one
	roots    []graph.Vertex // to search from; nil: chosen by sample
	recipe   *graph.Kronecker
}

func (in input) String() string { return "graph " + in.name }

// every returns all vertices as roots.
func (in input) every() []graph.Vertex {
	roots := make([]graph.Vertex, in.vertices)
	for v := range roots {
		roots[v] = graph.Vertex(v)
	}
	return roots
}

// smallGraph is the number of vertices up to which every vertex is a root.
const smallGraph = 70

// sample returns the roots to search from: every vertex of a small graph; the first, the last and 30 others, always
// the same ones, of a larger one.
func (in input) sample() []graph.Vertex {
	switch {
	case in.roots != nil:
		return in.roots
	case in.vertices <= smallGraph:
		return in.every()
	}
	random := rand.New(rand.NewPCG(64, uint64(in.vertices)))
	roots := []graph.Vertex{0, graph.Vertex(in.vertices - 1)}
	for range 30 {
		roots = append(roots, graph.Vertex(random.Int64N(in.vertices)))
	}
	return roots
}

// edges makes tuples of pairs of labels.
func edges(labels ...graph.Vertex) []graph.Edge {
	list := make([]graph.Edge, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		list = append(list, graph.MakeEdge(labels[i], labels[i+1]))
	}
	return list
}

// path is n vertices in a row: 0-1-2-...
func path(n int64) input {
	list := make([]graph.Edge, 0, n)
	for v := graph.Vertex(1); int64(v) < n; v++ {
		list = append(list, graph.MakeEdge(v-1, v))
	}
	return input{name: fmt.Sprintf("path of %d", n), tuples: list, vertices: n}
}

// star is n vertices, one of which is joined with all others.
func star(n int64, hub graph.Vertex) input {
	list := make([]graph.Edge, 0, n)
	for v := graph.Vertex(0); int64(v) < n; v++ {
		if v != hub {
			list = append(list, graph.MakeEdge(v, hub))
		}
	}
	return input{name: fmt.Sprintf("star of %d around %d", n, hub), tuples: list, vertices: n}
}

// clique is n vertices, each joined with each other.
func clique(n int64) input {
	in := input{name: fmt.Sprintf("clique of %d", n), vertices: n}
	for u := graph.Vertex(0); int64(u) < n; u++ {
		for v := u + 1; int64(v) < n; v++ {
			in.tuples = append(in.tuples, graph.MakeEdge(v, u))
		}
	}
	return in
}

// bipartite joins each of the first a vertices with each of the b others.
func bipartite(a, b int64) input {
	in := input{name: fmt.Sprintf("complete bipartite %d+%d", a, b), vertices: a + b}
	for u := range a {
		for v := range b {
			in.tuples = append(in.tuples, graph.MakeEdge(graph.Vertex(u), graph.Vertex(a+v)))
		}
	}
	return in
}

// tree is the binary tree of n vertices in which v hangs below (v-1)/2.
func tree(n int64) input {
	in := input{name: fmt.Sprintf("binary tree of %d", n), vertices: n}
	for v := graph.Vertex(1); int64(v) < n; v++ {
		in.tuples = append(in.tuples, graph.MakeEdge((v-1)/2, v))
	}
	return in
}

// grid is rows times columns vertices, joined with their neighbours to the right and below.
func grid(rows, columns int64) input {
	in := input{name: fmt.Sprintf("grid of %dx%d", rows, columns), vertices: rows * columns}
	for v := range in.vertices {
		if (v+1)%columns != 0 {
			in.tuples = append(in.tuples, graph.MakeEdge(graph.Vertex(v), graph.Vertex(v+1)))
		}
		if v+columns < in.vertices {
			in.tuples = append(in.tuples, graph.MakeEdge(graph.Vertex(v+columns), graph.Vertex(v)))
		}
	}
	return in
}

// random is n vertices and m tuples between any two of them: near one tuple to two vertices it falls into many
// components with deep trees, and self-loops and duplicates occur.
func random(n int64, m int, seed uint64) input {
	source := rand.New(rand.NewPCG(seed, uint64(n)))
	in := input{name: fmt.Sprintf("random of %d vertices and %d tuples, seed %d", n, m, seed), vertices: n}
	for range m {
		in.tuples = append(in.tuples, graph.MakeEdge(graph.Vertex(source.Int64N(n)), graph.Vertex(source.Int64N(n))))
	}
	return in
}

// shuffled gives in's vertices other labels, turns some tuples round and puts them into another order: the same graph
// for a search, and nothing left of a tidy order that an engine could lean on.
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

// kronecker is the benchmark's own graph.
func kronecker(ctx context.Context, scale, edgeFactor int, seed1, seed2 uint64) (input, error) {
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor, Seed1: seed1, Seed2: seed2}
	in := input{
		name:     fmt.Sprintf("Kronecker s%d, edgefactor %d, seeds %d %d", scale, edgeFactor, seed1, seed2),
		vertices: 1 << scale, tuples: make([]graph.Edge, edgeFactor<<scale), recipe: &recipe,
	}
	if err := recipe.Generate(ctx, in.tuples, 0, 1); err != nil {
		return input{}, fmt.Errorf("generating %v: %w", in, err)
	}
	return in, nil
}
