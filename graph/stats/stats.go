// SPDX-License-Identifier: Apache-2.0

// Package stats describes a graph: degrees, duplicates, components, and a lower bound of its diameter.
package stats

import (
	"context"
	"math/bits"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/adjacency"
)

// Graph describes an undirected graph with duplicates and self-loops.
type Graph struct {
	Vertices   int64 `json:"vertices"`
	Isolated   int64 `json:"isolated"` // vertices without a tuple
	Tuples     int64 `json:"tuples"`
	SelfLoops  int64 `json:"self_loops"`
	Duplicates int64 `json:"duplicates"` // tuples in addition to the first one between the same vertices

	// The degree of a vertex counts all its tuples, self-loops twice.
	MeanDegree float64  `json:"mean_degree"` // over all vertices
	MaxDegree  int64    `json:"max_degree"`
	Degrees    []Degree `json:"degrees"` // without gaps, from 0 on

	Components int64 `json:"components"` // of at least one tuple
	Largest    int64 `json:"largest"`    // vertices of the largest component
	// Diameter is a lower bound of the diameter of the largest component, the length of a path between two vertices.
	Diameter int64 `json:"diameter"`
}

// Degree is a class of degrees: 0, 1, 2 to 3, 4 to 7 and so on.
type Degree struct {
	First    int64 `json:"first"`
	Last     int64 `json:"last"`
	Vertices int64 `json:"vertices"`
}

// Bytes returns the memory that Of takes for a source, in bytes.
func Bytes(g graph.Source) int64 { return adjacency.Bytes(g) + 8*g.Vertices() }

// Of describes a graph. Progress is called with units of work, for most graphs Work in all.
func Of(ctx context.Context, g graph.Source, progress func(units int64)) (Graph, error) {
	s := Graph{Vertices: g.Vertices(), Tuples: g.Tuples()}
	lists, err := adjacency.New(ctx, g, 2, progress)
	if err != nil {
		return Graph{}, err
	}
	s.degrees(lists)
	search := &sweep{lists: lists, level: make([]int32, s.Vertices), queue: make([]uint32, 0, s.Vertices)}
	if err := s.components(ctx, search, progress); err != nil {
		return Graph{}, err
	}
	return s, nil
}

// Work returns the work of Of in units: each tuple twice for the lists, and once for each of about five searches.
func Work(g graph.Source) int64 { return 7 * g.Tuples() }

func (s *Graph) degrees(lists *adjacency.Lists) {
	var classes [64]int64 // by the bits of the degree
	for v := range s.Vertices {
		list := lists.Of(v)
		degree := int64(len(list))
		s.MaxDegree = max(s.MaxDegree, degree)
		classes[bits.Len64(uint64(degree))]++
		var loops, again int64
		for i, u := range list {
			if int64(u) == v {
				loops++
			} else if i > 0 && u == list[i-1] && int64(u) > v {
				again++
			}
		}
		s.SelfLoops += loops / 2
		s.Duplicates += again + max(0, loops/2-1)
	}
	s.Isolated = classes[0]
	if s.Vertices > 0 {
		s.MeanDegree = 2 * float64(s.Tuples) / float64(s.Vertices)
	}
	for c := range classes {
		if last := int64(1)<<c - 1; c == 0 || last>>1 < s.MaxDegree {
			s.Degrees = append(s.Degrees, Degree{(last + 1) / 2, last, classes[c]})
		}
	}
}

const maxSweeps = 8 // searches for the diameter; its bound rarely grows after the third

// components searches from every vertex that no earlier search reached. Then it sweeps through the largest component:
// each search begins at the last vertex that the previous one reached, as long as the distance grows (Magnien, Latapy,
// Habib, "Fast computation of empirically tight bounds for the diameter of massive graphs", 2009).
func (s *Graph) components(ctx context.Context, search *sweep, progress func(units int64)) error {
	var start int64
	for v := range s.Vertices {
		if search.level[v] != 0 || len(search.lists.Of(v)) == 0 {
			continue
		}
		s.Components++
		entries, _, err := search.from(ctx, v)
		if err != nil {
			return err
		}
		progress(entries / 2)
		if size := int64(len(search.queue)); size > s.Largest {
			s.Largest, start = size, v
		}
	}
	for sweeps := 0; sweeps < maxSweeps && s.Largest > 0; sweeps++ {
		clear(search.level)
		entries, depth, err := search.from(ctx, start)
		if err != nil {
			return err
		}
		progress(entries / 2)
		start = int64(search.queue[len(search.queue)-1])
		if depth <= s.Diameter && s.Diameter > 0 {
			break
		}
		s.Diameter = max(s.Diameter, depth)
	}
	return nil
}

type sweep struct {
	lists *adjacency.Lists
	level []int32 // level plus 1; 0: unvisited
	queue []uint32
}

// from searches from a vertex, and returns the number of entries visited and the last level.
func (s *sweep) from(ctx context.Context, root int64) (entries, depth int64, err error) {
	s.queue = append(s.queue[:0], uint32(root))
	s.level[root] = 1
	for i := 0; i < len(s.queue); i++ {
		u := int64(s.queue[i])
		if i&(1<<14-1) == 1<<14-1 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		list := s.lists.Of(u)
		entries += int64(len(list))
		for _, v := range list {
			if s.level[v] == 0 {
				s.level[v] = s.level[u] + 1
				s.queue = append(s.queue, v)
			}
		}
	}
	return entries, int64(s.level[s.queue[len(s.queue)-1]] - 1), ctx.Err()
}
