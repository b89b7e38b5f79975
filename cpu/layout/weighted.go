// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math"
)

// Weighted is the graph of kernel 3, in other vertex numbers than Graph. Hubs, the vertices of large degree, come
// first, by descending degree. The others come by class of degree, so that a search finds what most depend on first,
// and by label within a class, so that it writes its results in order.
//
// The relay weight of a neighbor u of v is the least weight of u's edges to vertices other than v, +Inf if there is
// none, and 0 if u is a hub. The bound of an entry (v, u) with weight w is the sum of w and the relay weight, rounded
// down: a path that enters u, from another vertex than v, and goes on to v is at least so much longer than at the
// vertex before u. A list begins with its entries of least bounds, in ascending order, so a search looks at the entries
// only while they can matter: neighbors that are reached only through v, such as leaves, come last. The rest of a long
// list is not sorted, because hardly any search comes to it.
//
// A pair of neighbors has an entry in both lists for each of its tuples: the lightest comes first. Self-loops are left
// out.
type Weighted struct {
	Labels   int              // 1 + the largest label of the tuples
	Vertices int              // labels that are not isolated
	Hubs     int              // vertices 0..Hubs-1 are hubs
	Classes  [Classes + 1]int // vertices Classes[c]..Classes[c+1]-1 are class c
	Vertex   []uint32         // [Labels] vertex of each label; None where the label is isolated
	Label    []uint32         // [Vertices+1] label of each vertex; None of the last, which stands for no vertex
	At       []uint64         // [Vertices+1] the list of vertex v is Entries[At[v]:At[v+1]]
	Entries  []uint64         // weight<<32 | neighbor, the weight as the bits of a float32
	Sorted   []uint32         // [Vertices] number of sorted entries in a list, more than Columns or all
	Heads    []Head           // [Vertices] the first entry of every list
	Seconds  [][2]Head        // [Vertices] the next ones, at no vertex and infinite weight where the list is shorter
	Relays   []Relay          // [Vertices]
	Regions  Regions
	Step     float32 // width of rounds that push over whole lists: 8 times the mean weight by the mean length of a list
}

const (
	// Pulled is the number of classes of degrees that pull; those in a class differ by a factor of at most 4.
	Pulled = 4
	// Leaves is the class of the vertices with a single tuple.
	Leaves = Pulled
	// Classes is the number of all classes.
	Classes = Pulled + 1
	// Columns is the number of entries of a list that are in Heads and Seconds.
	Columns = 3
	// RegionBits is the size of a region, as a power of two: 16 KiB of parents.
	RegionBits = 11
	// Slack rounds down: a sum of some numbers, rounded at each addition, times Slack is at most their sum in another
	// order, also if one more is added to both.
	Slack = 1 - 1.0/(1<<21)
)

// Head is an entry of a list, the label of its neighbor, and the bound of the next entry, +Inf if there is none.
type Head struct {
	Neighbor uint32
	Weight   float32
	Label    uint32
	Next     float32
}

// Relay has the relay weights of a vertex: Second for the neighbor Via, and First for the others.
type Relay struct {
	Via           uint32
	First, Second float32
}

// Regions are ranges of 1<<RegionBits labels, whose results are written together.
type Regions struct {
	hubs   []uint32 // in the order of their labels
	hubsAt []uint32 // [regions+1] the hubs of region r are hubs[hubsAt[r]:hubsAt[r+1]]
	at     []uint32 // [Classes*regions+1] vertices of class c in region r begin at at[c*regions+r]
}

// Len returns the number of regions.
func (r *Regions) Len() int { return len(r.hubsAt) - 1 }

// HubsOf returns the hubs of a region.
func (r *Regions) HubsOf(region int) []uint32 { return r.hubs[r.hubsAt[region]:r.hubsAt[region+1]] }

// VerticesOf returns the first vertex of a class in a region and the one after the last.
func (r *Regions) VerticesOf(region, class int) (first, end uint32) {
	i := class*r.Len() + region
	return r.at[i], r.at[i+1]
}

// Bound returns the bound of the entry (v, u) with weight w.
func (g *Weighted) Bound(v, u uint32, w float32) float32 {
	if int(u) < g.Hubs {
		return w * Slack
	}
	if r := &g.Relays[u]; r.Via != v {
		w += r.First
	} else {
		w += r.Second
	}
	return w * Slack
}

// List returns the list of v.
func (g *Weighted) List(v uint32) []uint64 { return g.Entries[g.At[v]:g.At[v+1]] }

// Split returns the neighbor and the weight of an entry.
func Split(entry uint64) (u uint32, w float32) {
	return uint32(entry), math.Float32frombits(uint32(entry >> 32))
}
