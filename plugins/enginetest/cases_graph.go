package enginetest

import "github.com/tepsbench/teps/graph"

// graphCases search one named graph each: exact levels and valid parents from every vertex of a small graph and from
// many of a larger one, over arrays that hold unwritten marks, plausible parents and old results.
func graphCases() []Case {
	deep, deeper := withRoots(path(1<<12+5), 0, 1<<12+4, 1<<11), withRoots(shuffled(path(70_000), 7), 0, 69_999)
	return []Case{
		graphCase("empty", "Without tuples each vertex reaches only itself.", input{name: "without tuples", vertices: 5}),
		graphCase("one-vertex", "One vertex without tuples is a tree.", input{name: "of one vertex", vertices: 1}),
		graphCase("one-edge", "The two ends of one edge reach each other.",
			input{name: "of one edge", tuples: edges(1, 0), vertices: 2}),
		graphCase("path", "A path has one vertex on each level, in both directions.", path(10)),
		graphCase("path-64", "A path may end with a bitmap's word.", shuffled(path(64), 3)),
		graphCase("path-65", "A path may end one vertex after a bitmap's word.", shuffled(path(65), 3)),
		graphCase("star", "A star has two levels from its hub and three from other vertices.", star(9, 0)),
		graphCase("star-65-last", "The hub may be the last vertex.", star(65, 64)),
		graphCase("star-wide", "A hub may have more neighbors than 16 bits count.",
			withRoots(star(70_000, 35_000), 35_000, 0, 69_999)),
		graphCase("two-components", "Vertices of another component are unreached.",
			input{name: "of two components", tuples: edges(0, 2, 2, 4, 4, 0, 1, 3, 3, 5), vertices: 6}),
		graphCase("self-loops", "Self-loops lead nowhere.",
			input{name: "of self-loops", tuples: edges(0, 0, 1, 1, 2, 2, 2, 2, 4, 4), vertices: 5}),
		graphCase("duplicates", "Duplicate tuples, in both orientations, change nothing.",
			input{name: "path with duplicates", tuples: edges(0, 1, 1, 0, 0, 1, 1, 2, 1, 2, 3, 2, 2, 3, 3, 2), vertices: 4}),
		graphCase("clique", "A clique has 2 levels.", joined("clique", 20, 20, func(u, v graph.Vertex) bool { return true })),
		graphCase("bipartite", "In a complete bipartite graph the root's own side is on level 2.",
			joined("complete bipartite 7+12", 19, 19, func(u, v graph.Vertex) bool { return u < 7 && v >= 7 })),
		graphCase("tree", "A binary tree is searched down and up.",
			joined("binary tree of 63", 63, 63, func(u, v graph.Vertex) bool { return u == (v-1)/2 })),
		graphCase("cycle", "On a cycle both directions meet, at one vertex or at two.",
			input{name: "cycles of 6 and 7", vertices: 13, tuples: edges(0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0,
				6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 6)}),
		graphCase("grid", "In a grid most vertices have several correct parents.", shuffled(grid(8, 8), 8)),
		graphCase("isolated-end", "parent may be longer than the labels; the vertices beyond are unreached or a root.",
			input{name: "path of 4 with 9 vertices beyond", tuples: edges(0, 1, 1, 2, 2, 3), vertices: 13}),
		graphCase("high-labels", "Labels may be high and far apart.",
			input{name: "of labels up to 2^20", vertices: 1<<20 + 3,
				tuples: edges(1<<20, 7, 7, 1<<16, 1<<16, 1<<19, 1<<19+1, 1<<19, 65_535, 1<<20),
				roots:  []graph.Vertex{1 << 20, 7, 65_535, 1<<20 + 2, 0}}),
		graphCase("random-deep", "Many components, deep trees, self-loops and duplicates.", random(3000, 2000, 1)),
		takesLong(graphCase("path-deep", "There may be thousands of levels.", deep)),
		takesLong(graphCase("path-deeper", "There may be more levels than 16 bits count.", deeper)),
		kroneckerCase("kronecker-10", 10, 16, 2, 3),
		kroneckerCase("kronecker-10-sparse", 10, 1, 2, 3),
		kroneckerCase("kronecker-10-dense", 10, 64, 2, 3),
		kroneckerCase("kronecker-10-seeds", 10, 16, 4711, 1<<40),
		kroneckerCase("kronecker-12", 12, 16, 2, 3),
		takesLong(kroneckerCase("kronecker-15", 15, 16, 2, 3)),
	}
}

// GraphCase searches a graph of the caller: exact levels and valid parents, from every vertex of a small graph and from
// 32 of a larger one. It needs about 100 bytes for each tuple and vertex.
func GraphCase(name string, vertices int64, tuples []graph.Edge) Case {
	c := graphCase(name, "Every search of this graph is exact.", input{name: name, tuples: tuples, vertices: vertices})
	c.Name = "given/" + name
	return c
}

func graphCase(name, about string, in input) Case {
	return Case{Name: "graph/" + name, About: about, check: func(s *subject) { s.load(in).searchAll(in.sample()...) }}
}

func kroneckerCase(name string, scale, edgeFactor int, seed1, seed2 uint64) Case {
	return Case{Name: "graph/" + name, About: "A graph of the benchmark.", check: func(s *subject) {
		in := s.kronecker(scale, edgeFactor, seed1, seed2)
		roots := in.sample()
		if scale > 12 {
			roots = roots[:6] // the oracle is slow
		}
		s.load(in).searchAll(roots...)
	}}
}

func takesLong(c Case) Case {
	c.runs = long
	return c
}

func withRoots(in input, roots ...graph.Vertex) input {
	in.roots = roots
	return in
}
