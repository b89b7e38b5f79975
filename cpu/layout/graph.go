// SPDX-License-Identifier: Apache-2.0

// Package layout is kernel 1 of the engine cpu: it makes a graph that is cheap to search from a list of tuples.
//
// Build runs the phases, and Graph is the result. Vertices get numbers of 32 bits: by descending degree, grouped by
// their largest neighbor (order.go); in roads, grids and meshes in breadth-first order; in other graphs without hubs a
// vertex is its label (local.go). Every vertex has a sorted list of its neighbors without duplicates (internal/csr,
// lists.go), plain or packed (packed.go). The longest lists are cut into segments for top-down levels (Segments).
package layout

import (
	"slices"
	"sort"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
)

// None stands for a missing vertex, label or parent in 32 bits.
const None = parents.None

// Order says how the vertices are numbered.
type Order int

const (
	ByDegree Order = iota // hubs first, and the others by their largest hub (order.go)
	Local                 // as a breadth-first search finds them; no vertex is a hub (local.go)
	Given                 // a vertex is its label, isolated or not; no vertex is a hub
)

// Graph is the graph in the engine's vertex numbers, which searches only read. The order of vertices (order.go):
//
//	0 ............ Hubs ............ Ungrouped ............ Searched ............ n
//	|    hubs       |    grouped      |       ungrouped       |       leaves       |
//
// The links of a vertex are the entries of its list without its group, which is at the end of the list: a top-down step
// takes the group from Groups and looks at the links only.
type Graph struct {
	Labels    int      // 1 + the largest label of the tuples
	Vertices  int      // labels that are not isolated
	Order     Order    // of vertices
	Vertex    []uint32 // [Labels] vertex of each label; None where the label is isolated; nil in the given order
	Label     []uint32 // [n] label of each vertex; nil in the given order
	Hubs      int      // vertices 0..Hubs-1 are hubs
	Ungrouped int      // vertices Hubs..Ungrouped-1 are in groups, ordered by hub
	Searched  int      // vertices Ungrouped..Searched-1 have no hub for a neighbor; leaves begin at Searched
	Groups    []uint32 // [Hubs+1] the group of hub h is Groups[h]..Groups[h+1]-1
	Leaves    []uint32 // [Hubs+1] the leaves of hub h are Leaves[h]..Leaves[h+1]-1
	HubLinks  []uint32 // [Hubs] number of links of each hub
	First     []uint32 // [Hubs+Searched-Ungrouped] first neighbor of hubs, then of ungrouped vertices
	Lists     Lists    // of the searched vertices, without leaves
	Segments  Segments // of the longest lists
	Rows      []uint32 // [Searched][1<<RowBits] neighbors of each vertex, then itself; see RowBegin; or nil
	RowBits   uint     // 2 or 3
	Template  []uint32 // [Labels] label of each label's first neighbor; None where the label is isolated; nil as Label

	degrees []uint32 // [Labels] tuples at each label, for BuildWeighted
	largest uint32   // of them
}

// VertexOf returns the vertex of a label of the graph, or None if it is isolated and has none.
func (g *Graph) VertexOf(label uint32) uint32 {
	if g.Order == Given {
		return label
	}
	return g.Vertex[label]
}

// Links returns the number of links of v.
func (g *Graph) Links(v uint32) int {
	if int(v) < g.Hubs {
		return int(g.HubLinks[v])
	}
	return g.Lists.Degree(v)
}

// LeavesOf returns the labels of v's leaves.
func (g *Graph) LeavesOf(v uint32) []uint32 {
	if int(v) >= g.Hubs {
		return nil
	}
	return g.Label[g.Leaves[v]:g.Leaves[v+1]]
}

// HubOf returns the hub of a leaf.
func (g *Graph) HubOf(leaf uint32) uint32 {
	hub, _ := slices.BinarySearch(g.Leaves, leaf+1) // the first whose leaves begin behind this one
	return uint32(hub - 1)
}

// setFirst sets the entry of a searched vertex in First, if it has one.
func (g *Graph) setFirst(v int, neighbor uint32) {
	if v < g.Hubs {
		g.First[v] = neighbor
	} else if v >= g.Ungrouped {
		g.First[v-g.Ungrouped+g.Hubs] = neighbor
	}
}

// Segments cuts the longest lists where blocks of vertices begin, so that a top-down step can go through the vertices
// block by block: a block's part of the unvisited bitmap fits the innermost cache and belongs to one worker. Shorter
// lists are not cut: finding a segment would cost more than looking at it.
type Segments struct {
	Borders []uint32 // [blocks+1] block b has vertices Borders[b]..Borders[b+1]-1; multiples of 64 except the last
	Long    int      // vertices 0..Long-1 have long lists, which are cut
	before  []uint32 // [Long*(blocks+1)] number of links of each into earlier blocks
}

const (
	minBlockEntries  = 1 << 14 // entries of a block
	blocksPerWorker  = 8
	minBlocks        = 32      // for teams of few workers
	maxBlockVertices = 1 << 17 // what is discovered in a block may be most of its work
	minSegment       = 16      // links of a long list in a block, on average
)

func (s *Segments) Blocks() int { return len(s.Borders) - 1 }

// Of returns the range of u's links that lead into block b. The list of u must be long.
func (s *Segments) Of(u uint32, b int) (from, to int) {
	at := int(u)*len(s.Borders) + b
	return int(s.before[at]), int(s.before[at+1])
}

// cut makes the segments of lists. links are the numbers of links of the hubs.
func cut(t *team.Team, m *memory.Arena, lists *Lists, links []uint32, searched int) Segments {
	s := Segments{Borders: cutVertices(lists, searched, t.Size())}
	for s.Long < len(links) && int(links[s.Long]) >= minSegment*s.Blocks() {
		s.Long++
	}
	s.before = memory.Allocate[uint32](m, "segments", s.Long*len(s.Borders))
	if m.Err() != nil {
		return s
	}
	t.Run(func(worker int) {
		for u := worker; u < s.Long; u += t.Size() {
			before := s.before[u*len(s.Borders):][:len(s.Borders)]
			done, n := 0, int(links[u])
			for i, border := range s.Borders {
				done += sort.Search(n-done, func(j int) bool { return lists.entry(uint32(u), done+j) >= border })
				before[i] = uint32(done)
			}
			before[len(before)-1] = uint32(n)
		}
	})
	return s
}

// cutVertices returns the borders of blocks with about equally many entries.
func cutVertices(lists *Lists, searched, workers int) (borders []uint32) {
	limit := max(lists.Entries()/max(blocksPerWorker*workers, minBlocks), minBlockEntries)
	borders = []uint32{0}
	entries := 0
	for v := range searched {
		if v&63 == 0 && (entries >= limit || v-int(borders[len(borders)-1]) >= maxBlockVertices) {
			borders, entries = append(borders, uint32(v)), 0
		}
		entries += lists.Degree(uint32(v))
	}
	return append(borders, uint32(searched))
}
