package enginetest

import "github.com/tepsbench/teps/graph"

// GraphCase searches a graph of the caller: exact levels and valid parents, from every vertex of a small graph and from
// 32 of a larger one. It needs about 100 bytes for each tuple and vertex.
func GraphCase(name string, vertices int64, tuples []graph.Edge) Case {
	in := input{name: name, tuples: tuples, vertices: vertices}
	return Case{Name: "given/" + name, About: "Every search of this graph is exact.", check: func(s *subject) {
		s.load(in).searchAll(in.sample()...)
	}}
}
