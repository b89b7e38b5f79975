package enginetest

import (
	"context"

	"github.com/tepsbench/teps/graph"
)

// graphs are the cases that search one named graph each: exact levels and valid parents from every vertex of a small
// graph and from many of a larger one, over arrays that hold unwritten marks, plausible parents and old results.
func graphs() []Case {
	var cases []Case
	add := func(name, about string, in input) *Case {
		cases = append(cases, searchCase(name, about, func(context.Context) (input, error) { return in, nil }))
		return &cases[len(cases)-1]
	}

	add("empty", "Without any tuple each vertex reaches itself only.", input{name: "without tuples", vertices: 5})
	add("one-vertex", "One vertex without tuples is its own tree.", input{name: "of one vertex", vertices: 1})
	add("one-loop", "One vertex with a self-loop is its own tree.",
		input{name: "of one self-loop", tuples: edges(0, 0), vertices: 1})
	add("one-edge", "Both ends of one edge reach each other.", input{name: "of one edge", tuples: edges(1, 0), vertices: 2})
	add("path", "A path has one vertex a level, in both directions.", path(10))
	for _, n := range []int64{63, 64, 65} {
		add("path-"+number(n), "A path that ends at a word of a bitmap, or one off it.", shuffled(path(n), 3))
	}
	add("star", "A star has two levels from its hub and three from elsewhere.", star(9, 0))
	add("star-65-last", "The hub may be the last vertex.", star(65, 64))
	add("star-wide", "A hub may have more neighbours than 16 bits count.", withRoots(star(70_000, 35_000), 35_000, 0, 69_999))
	add("two-components", "Vertices of another component are unreached.",
		input{name: "of two components", tuples: edges(0, 2, 2, 4, 4, 0, 1, 3, 3, 5), vertices: 6})
	add("self-loops", "Self-loops lead nowhere.",
		input{name: "of self-loops", tuples: edges(0, 0, 1, 1, 2, 2, 2, 2, 4, 4), vertices: 5})
	add("loops-and-path", "Self-loops on the way change nothing.",
		input{name: "path with self-loops", tuples: edges(0, 0, 0, 1, 1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 3, 3), vertices: 4})
	add("duplicates", "Duplicate tuples, in both orientations, change nothing.",
		input{name: "path with duplicates", tuples: edges(0, 1, 1, 0, 0, 1, 1, 2, 1, 2, 3, 2, 2, 3, 3, 2), vertices: 4})
	add("clique", "A clique has two levels.", clique(20))
	add("bipartite", "In a complete bipartite graph the root's own side is at level 2.", bipartite(7, 12))
	add("tree", "A binary tree is searched down and up.", tree(63))
	add("cycle", "Around a cycle both sides meet, at one vertex or at two.",
		input{name: "cycles of 6 and 7", tuples: edges(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0,
			6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 6), vertices: 13})
	add("grid", "In a grid most vertices have several right parents.", shuffled(grid(8, 8), 8))
	add("isolated-end", "parent is longer than the largest label; the vertices beyond it are unreached, or a root alone.",
		input{name: "path of 4 with 9 vertices beyond", tuples: edges(0, 1, 1, 2, 2, 3), vertices: 13})
	add("isolated-between", "Labels between others may not occur.",
		input{name: "with gaps", tuples: edges(3, 9, 9, 20, 20, 64, 64, 3), vertices: 66})
	add("high-labels", "Labels may be high and far apart.",
		input{name: "of labels up to 2^20", vertices: 1<<20 + 3,
			tuples: edges(1<<20, 7, 7, 1<<16, 1<<16, 1<<19, 1<<19+1, 1<<19, 65_535, 1<<20),
			roots:  []graph.Vertex{1 << 20, 7, 65_535, 1<<20 + 2, 0}})
	add("random-deep", "Many components, deep trees, self-loops and duplicates.", random(3000, 2000, 1))
	add("random-small", "Dense enough for one component, with any tie.", random(50, 120, 2))

	add("path-deep", "There may be thousands of levels.", withRoots(path(1<<12+5), 0, 1<<12+4, 1<<11)).long = true
	add("path-deeper", "There may be more levels than 16 bits count.", withRoots(shuffled(path(70_000), 7), 0, 69_999)).long = true

	for _, k := range []struct {
		name              string
		scale, edgeFactor int
		seed1, seed2      uint64
		long              bool
	}{
		{"kronecker-8", 8, 16, 2, 3, false},
		{"kronecker-9", 9, 16, 2, 3, false},
		{"kronecker-10", 10, 16, 2, 3, false},
		{"kronecker-10-sparse", 10, 1, 2, 3, false},
		{"kronecker-10-dense", 10, 64, 2, 3, false},
		{"kronecker-10-seeds", 10, 16, 4711, 1 << 40, false},
		{"kronecker-11", 11, 16, 2, 3, false},
		{"kronecker-12", 12, 16, 2, 3, false},
		{"kronecker-12-seeds", 12, 16, 99, 100, true},
		{"kronecker-15", 15, 16, 2, 3, true},
	} {
		c := searchCase(k.name, "The benchmark's own graph.", func(ctx context.Context) (input, error) {
			in, err := kronecker(ctx, k.scale, k.edgeFactor, k.seed1, k.seed2)
			if err == nil && k.scale > 12 {
				in.roots = in.sample()[:6] // the oracle takes its time
			}
			return in, err
		})
		c.long = k.long
		cases = append(cases, c)
	}
	return cases
}

// searchCase searches the graph that build makes from all its sample of roots.
func searchCase(name, about string, build func(context.Context) (input, error)) Case {
	return Case{Name: "graph/" + name, About: about, check: func(ctx context.Context, s *subject) error {
		in, err := build(ctx)
		if err != nil {
			return err
		}
		l, err := s.load(ctx, in)
		if err != nil {
			return err
		}
		return l.searchAll(ctx, in.sample())
	}}
}

func withRoots(in input, roots ...graph.Vertex) input {
	in.roots = roots
	return in
}
