// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
)

// write writes parents and distances in original labels, inside the clock, for regions of labels from..to-1. A region
// stays in a cache: first all its labels are unreached, then every class of vertices, and the hubs, are written.
func (s *paths) write(_, from, to int) {
	g := s.g
	for region := from; region < to; region++ {
		begin, end := region<<layout.RegionBits, min((region+1)<<layout.RegionBits, g.Labels)
		parent, distance := s.parent[begin:end], s.distance[begin:end]
		if next := region + 1; next < g.Regions.Len() {
			s.fetchRegion(next)
		}
		if first, last := g.Regions.VerticesOf(region, layout.Leaves); first < last { // their heads were fetched before
			prefetchNeighbors(&s.states[0], &g.Heads[first], headSize, &s.blank.numbers[0], int(last-first))
		}
		copy(parent, s.blank.parent)
		copy(distance, s.blank.distance)
		for c := range layout.Pulled {
			first, last := g.Regions.VerticesOf(region, c)
			labels := g.Label[first:last]
			for i, state := range s.states[first:last] {
				if bitsOf(state) != infinity {
					at := labels[i] & (1<<layout.RegionBits - 1)
					parent[at], distance[at] = graph.Vertex(uint32(state)), distanceOf(state)
				}
			}
		}
		first, last := g.Regions.VerticesOf(region, layout.Leaves)
		labels := g.Label[first:last]
		for i, h := range g.Heads[first:last] {
			state, at := s.states[h.Neighbor], labels[i]&(1<<layout.RegionBits-1)
			if state != s.none {
				parent[at], distance[at] = graph.Vertex(h.Label), distanceOf(state)+h.Weight
			}
		}
		for _, h := range g.Regions.HubsOf(region) {
			if state := s.states[h]; bitsOf(state) != infinity {
				at := g.Label[h] & (1<<layout.RegionBits - 1)
				parent[at], distance[at] = graph.Vertex(uint32(state)), distanceOf(state)
			}
		}
	}
}

// fetchRegion asks for what write reads and writes in a region, a region before it.
func (s *paths) fetchRegion(region int) {
	g := s.g
	begin, end := region<<layout.RegionBits, min((region+1)<<layout.RegionBits, g.Labels)
	fetchLines(s.parent[begin:end])
	fetchLines(s.distance[begin:end])
	for c := range layout.Classes {
		first, last := g.Regions.VerticesOf(region, c)
		fetchLines(g.Label[first:last])
		if c == layout.Leaves {
			fetchLines(g.Heads[first:last])
		} else {
			fetchLines(s.states[first:last])
		}
	}
}
