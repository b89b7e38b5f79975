// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// Core has the entries that can lie on a shortest path between hubs.
//
// It is made with a landmark (after Goldberg, Harrelson, "Computing the shortest path: A* search meets graph theory",
// 2005): radius(v) is the distance of v from vertex 0, the largest hub. The way from v to u over the landmark is at
// most radius(v) + radius(u), so an entry that is longer lies on no shortest path, and neither does an entry of v to z,
// which is not a hub, if each of the ways on from z to a vertex u is longer than radius(v) + radius(u). Longer means by
// more than margin, so that rounding cannot hide it: a way over the landmark that is counted has at most 2*maxHops
// edges, and that number of additions to a distance below Safe changes a sum by less than margin.
//
// The key of an entry to u is its weight less radius(u). If it is larger than the distance of vertex 0 in a search,
// less that of v, by more than margin, the entry (v, u) is on no shortest path: the way over the landmark is shorter.
// Vertex 0 is at most radius(x) further than any vertex x.
//
// Two hubs are close to each other, because both are close to the landmark. So the core is small: at scale 20 a few
// entries a hub, of a thousand. Its vertices, the hubs and others with entries, have numbers of their own, so that what
// a search keeps about them is in a cache.
type Core struct {
	Reach    float32      // paths from hub to hub that are shorter consist of entries of the core
	Safe     float32      // distances at which a search can use the core
	Vertices []CoreVertex // the hubs, as in Weighted, then others in ascending order, and one behind them
	Entries  []CoreEntry  // and one behind them, of infinite key
}

// CoreVertex is a vertex of the core. Its entries begin at At and end where those of the next one begin, in ascending
// order of keys.
type CoreVertex struct {
	Vertex, Label, At uint32
	Radius            float32 // with the margin
}

// CoreEntry is an entry of a list, with its bound (Weighted) and its key. The neighbor is an index of Vertices.
type CoreEntry struct {
	Neighbor           uint32
	Weight, Bound, Key float32
}

const (
	reachRadii  = 1.25    // Reach in radii of the hub that is further from the landmark than 99 % of them
	marginShare = 1 << 9  // margin is Reach/marginShare
	safeMargins = 1 << 18 // Safe is that many margins
	maxHops     = 15      // edges from the landmark to a vertex whose radius counts
	maxRelays   = 2       // vertices that are not hubs in a row, up to which they are checked
)

// NewCore makes the core. state returns the distance of a vertex from vertex 0 and its parent in a tree of shortest
// paths. It returns nil if hubs have no distances between them, or not enough memory.
func NewCore(t *team.Team, m *memory.Arena, g *Weighted, state func(v uint32) (float32, uint32)) *Core {
	b := &coreBuilder{g: g, radius: memory.Allocate[float32](m, "radii", g.Vertices)}
	defer memory.Release(m, &b.radius)
	number := memory.Allocate[uint32](m, "numbers in the core", g.Vertices) // first the number of entries
	defer memory.Release(m, &number)
	if m.Err() != nil {
		return nil
	}
	t.Pieces(g.Vertices, 1<<12, func(_, from, to int) {
		for v := from; v < to; v++ {
			d, u := state(uint32(v))
			for hops := 1; u != 0 && d < graph.Infinity(); hops++ {
				if _, u = state(u); hops == maxHops {
					d = graph.Infinity()
				}
			}
			b.radius[v] = d
		}
	})
	radii := slices.DeleteFunc(slices.Clone(b.radius[:g.Hubs]), func(r float32) bool { return r == graph.Infinity() })
	slices.Sort(radii)
	b.reach = reachRadii * radii[(len(radii)-1)*99/100]
	b.margin = b.reach / marginShare
	c := &Core{Reach: b.reach, Safe: b.margin * safeMargins}
	if c.Reach == 0 {
		return nil
	}
	const piece = 1 << 8 // vertices
	parts := make([][]CoreEntry, (g.Vertices+piece-1)/piece)
	t.Pieces(g.Vertices, piece, func(_, from, to int) {
		var part []CoreEntry
		for v := from; v < to; v++ {
			before := len(part)
			part = b.appendEntries(part, uint32(v))
			slices.SortFunc(part[before:], func(x, y CoreEntry) int { return cmp.Compare(x.Key, y.Key) })
			number[v] = uint32(len(part) - before)
		}
		parts[from/piece] = part
	})
	const marked = 1 << 31
	for _, part := range parts {
		for _, e := range part {
			number[e.Neighbor] |= marked
		}
	}
	if c.Vertices = memory.Allocate[CoreVertex](m, "core", g.Vertices+1); m.Err() != nil {
		return nil
	}
	vertices, entries := 0, uint32(0)
	for v, n := range number {
		if number[v] = None; n > 0 || v < g.Hubs {
			c.Vertices[vertices] = CoreVertex{uint32(v), g.Label[v], entries, b.radius[v] + b.margin}
			number[v] = uint32(vertices)
			entries += n &^ marked
			vertices++
		}
	}
	c.Vertices[vertices].At = entries
	memory.Trim(m, &c.Vertices, vertices+1)
	if c.Entries = memory.Allocate[CoreEntry](m, "core", int(entries)+1); m.Err() != nil {
		return nil
	}
	c.Entries[entries].Key = graph.Infinity()
	rest := c.Entries
	for _, part := range parts {
		for i, e := range part {
			part[i].Neighbor = number[e.Neighbor]
		}
		rest = rest[copy(rest, part):]
	}
	return c
}

type coreBuilder struct {
	g             *Weighted
	radius        []float32
	reach, margin float32
}

// appendEntries appends the entries of v that belong to the core.
func (b *coreBuilder) appendEntries(all []CoreEntry, v uint32) []CoreEntry {
	hubs := uint32(b.g.Hubs)
	for i, entry := range b.g.List(v) {
		u, w := Split(entry)
		bound := b.g.Bound(v, u, w)
		if bound >= b.reach {
			if i < int(b.g.Sorted[v]) {
				break
			}
			continue
		}
		if b.direct(v, u, w) && (u < hubs || b.leadsOn(v, u, w, maxRelays)) && (v < hubs || b.leadsOn(u, v, w, maxRelays)) {
			all = append(all, CoreEntry{u, w, bound, w - b.radius[u]})
		}
	}
	return all
}

// direct reports whether the way over the landmark is not shorter than w.
func (b *coreBuilder) direct(v, u uint32, w float32) bool {
	return w <= b.radius[v]+b.radius[u]+b.margin
}

// leadsOn reports whether a shortest path that comes from v over an edge of weight w to z, which is not a hub, can go
// on to a hub. It looks through a few vertices that are not hubs, and assumes that it can after that.
func (b *coreBuilder) leadsOn(v, z uint32, w float32, relays int) bool {
	for i, entry := range b.g.List(z) {
		u, next := Split(entry)
		far := w*Slack+b.g.Bound(z, u, next) >= b.reach
		if far && i < int(b.g.Sorted[z]) {
			return false
		}
		if !far && u != v && b.direct(v, u, w+next) && b.direct(z, u, next) &&
			(int(u) < b.g.Hubs || relays == 0 || b.leadsOn(z, u, next, relays-1)) {
			return true
		}
	}
	return false
}
