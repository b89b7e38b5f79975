// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/csr"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// BuildWeighted is Build for kernel 3, once for each graph that Build has made of the same tuples with the option
// Weighted. weights are those of the tuples, finite and not negative.
func BuildWeighted(
	ctx context.Context, built *Graph, tuples []graph.Edge, weights []float32, t *team.Team, m *memory.Arena,
) (*Weighted, []plugins.Phase, error) {
	b := &builder{
		ctx: ctx, tuples: tuples, team: t, memory: m, g: built, degrees: built.degrees, largest: built.largest,
	}
	built.degrees = nil
	defer context.AfterFunc(ctx, func() { b.stopped.Store(true) })()
	w := &weigher{builder: b, weights: weights, g: &Weighted{}}
	phases, err := b.run([]phase{
		{"order", w.order},
		{"partition", w.partition},
		{"lists", w.lists},
	})
	return w.g, phases, err
}

// weigher is kernel 1 for kernel 3.
type weigher struct {
	*builder
	weights []float32
	g       *Weighted
	entries *csr.Matrix[uint64]
}

// order numbers the vertices.
func (b *weigher) order() error {
	g, m, r := b.g, b.memory, &b.g.Regions
	g.Labels, g.Vertices = b.builder.g.Labels, b.builder.g.Vertices
	regions := (g.Labels + 1<<RegionBits - 1) >> RegionBits
	g.Vertex = memory.Allocate[uint32](m, "vertex of each label", g.Labels)
	g.Label = memory.Allocate[uint32](m, "label of each vertex", g.Vertices+1)
	r.at = memory.Allocate[uint32](m, "regions", Classes*regions+1)
	r.hubsAt = memory.Allocate[uint32](m, "regions", regions+1)
	if err := m.Err(); err != nil {
		return err
	}
	b.team.Pieces(regions, 1, func(_, region, _ int) {
		for _, d := range b.degreesIn(region) {
			if c := classOf(d); c < 0 {
				r.hubsAt[region]++
			} else if d > 0 {
				r.at[c*regions+region]++
			}
		}
	})
	sum(r.hubsAt, 0)
	g.Hubs = int(r.hubsAt[regions])
	sum(r.at, uint32(g.Hubs))
	for c := range Classes {
		g.Classes[c] = int(r.at[c*regions])
	}
	g.Classes[Classes] = g.Vertices
	g.Label[g.Vertices] = None
	r.hubs = memory.Allocate[uint32](m, "hubs by label", g.Hubs)
	records := memory.Allocate[uint64](m, "hubs to sort", g.Hubs)
	scratch := memory.Allocate[uint64](m, "hubs to sort", g.Hubs)
	if err := m.Err(); err != nil {
		return err
	}
	b.team.Pieces(regions, 1, func(_, region, _ int) {
		hub := r.hubsAt[region]
		var next [Classes]uint32
		for c := range next {
			next[c], _ = r.VerticesOf(region, c)
		}
		for i, d := range b.degreesIn(region) {
			label := uint32(region<<RegionBits + i)
			switch c := classOf(d); {
			case d == 0:
				g.Vertex[label] = None
			case c < 0:
				r.hubs[hub], records[hub] = label, uint64(b.largest-d)<<32|uint64(label)
				hub++
			default:
				g.Vertex[label], g.Label[next[c]] = next[c], label
				next[c]++
			}
		}
	})
	sorted, _ := csr.SortKeys(b.team, records, scratch, 32, bits.Len32(b.largest))
	for h, record := range sorted {
		label := uint32(record)
		g.Label[h], g.Vertex[label] = label, uint32(h)
	}
	for i, label := range r.hubs {
		r.hubs[i] = g.Vertex[label]
	}
	memory.Release(m, &records)
	memory.Release(m, &scratch)
	return nil
}

// degreesIn returns the degrees of the labels of a region.
func (b *weigher) degreesIn(region int) []uint32 {
	return b.degrees[region<<RegionBits : min((region+1)<<RegionBits, len(b.degrees))]
}

// classOf returns the class of a degree, from 0 for large degrees on; negative for hubs.
func classOf(degree uint32) int {
	if degree == 1 {
		return Leaves
	}
	return Pulled - (bits.Len32(max(degree, 1))+1)/2
}

// sum replaces counts by the sums of those before them, plus first.
func sum(counts []uint32, first uint32) {
	for i, n := range counts {
		counts[i] = first
		first += n
	}
}

// degreesOf returns the sum of the degrees of the vertices [from, to).
func (b *weigher) degreesOf(from, to int) (sum int) {
	for _, label := range b.g.Label[from:to] {
		sum += int(b.degrees[label])
	}
	return sum
}

// partition makes two entries of every tuple, (u, v) and (v, u).
func (b *weigher) partition() error {
	b.entries = csr.New[uint64](b.memory, b.team, b.g.Vertices, b.g.Vertices, b.degreesOf)
	memory.Release(b.memory, &b.degrees)
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.team.Run(func(worker int) {
		w := b.entries.Writer(worker)
		at, _ := b.team.Share(worker, len(b.tuples), 1)
		var pairs [batchSize]uint64
		var rows [2 * batchSize]uint32
		var entries [2 * batchSize]uint64
		for tuples := range b.batches(worker) {
			translate(tuples, b.g.Vertex, &pairs)
			n := 0
			for i, pair := range pairs[:len(tuples)] {
				u, v := uint32(pair>>32), uint32(pair)
				weight := uint64(math.Float32bits(b.weights[at+i]+0)) << 32 // -0 becomes 0
				p, q := n&(2*batchSize-1), (n+1)&(2*batchSize-1)
				rows[p], rows[q] = u, v
				entries[p], entries[q] = weight|uint64(v), weight|uint64(u)
				if u != v {
					n += 2
				}
			}
			at += len(tuples)
			w.PutWide(rows[:n], entries[:n])
		}
	})
	return nil
}

// lists groups the entries by vertex and puts every list in order.
func (b *weigher) lists() error {
	g, m := b.g, b.memory
	g.Heads = memory.Allocate[Head](m, "first entries", g.Vertices)
	g.Seconds = memory.Allocate[[2]Head](m, "next entries", g.Vertices)
	g.Relays = memory.Allocate[Relay](m, "relay weights", g.Vertices)
	g.Sorted = memory.Allocate[uint32](m, "sorted entries", g.Vertices)
	if err := m.Err(); err != nil {
		return err
	}
	g.At, g.Entries = b.entries.Group(b.stopped.Load)
	if err := cmp.Or(m.Err(), b.ctx.Err()); err != nil {
		return err
	}
	b.eachBucket(func(_ *sorting, v int) {
		if v >= g.Hubs { // nothing reads those of hubs
			g.Relays[v] = relayOf(g.List(uint32(v)))
		}
	})
	b.eachBucket(func(s *sorting, v int) {
		list := g.List(uint32(v))
		g.Sorted[v] = uint32(s.sort(g, uint32(v), list))
		g.setHeads(v, list)
	})
	const samples = 1 << 16
	total, n := 0.0, 0
	for i := 0; i < len(g.Entries); i += len(g.Entries)/samples + 1 {
		_, w := Split(g.Entries[i])
		total += float64(w)
		n++
	}
	g.Step = 8 * float32(total/float64(max(n, 1))*float64(g.Vertices)/float64(max(len(g.Entries), 1)))
	return nil
}

// setHeads copies the first entries of the list of v.
func (g *Weighted) setHeads(v int, list []uint64) {
	heads := [Columns]*Head{&g.Heads[v], &g.Seconds[v][0], &g.Seconds[v][1]}
	for i, h := range heads {
		*h = Head{uint32(g.Vertices), graph.Infinity(), None, graph.Infinity()}
		if i < len(list) {
			h.Neighbor, h.Weight = Split(list[i])
			h.Label = g.Label[h.Neighbor]
		}
		if i+1 < len(list) {
			u, w := Split(list[i+1])
			h.Next = g.Bound(uint32(v), u, w)
		}
	}
}

// eachBucket calls work for every vertex.
func (b *weigher) eachBucket(work func(s *sorting, v int)) {
	scratch := make([]sorting, b.team.Size())
	b.team.Pieces(b.entries.Buckets(), 1, func(worker, i, _ int) {
		if b.stopped.Load() {
			return
		}
		from, to := b.entries.Bucket(i)
		for v := from; v < to; v++ {
			work(&scratch[worker], v)
		}
	})
}

// relayOf returns the relay weights of a vertex with this list.
func relayOf(list []uint64) Relay {
	r := Relay{Via: None, First: graph.Infinity(), Second: graph.Infinity()}
	for _, entry := range list {
		switch u, w := Split(entry); {
		case w < r.First && u == r.Via:
			r.First = w
		case w < r.First:
			r.Via, r.First, r.Second = u, w, r.First
		case w < r.Second && u != r.Via:
			r.Second = w
		}
	}
	return r
}

// sorting is the scratch of a worker that sorts lists.
type sorting struct {
	keys, other []uint64
	entries     []uint64
	alone       *team.Team
}

const (
	radixLength = 512     // entries of a list, from which a radix sort is faster
	maxScratch  = 1 << 20 // entries of a list that is sorted with scratch
	wantSorted  = 24      // entries of a long list to sort
	cutSamples  = 32      // weights that say which those are
	firstCut    = 2       // the lowest of them in use
)

// sort sorts the first entries of the list of v by bound, and returns their number: all of a short list.
func (s *sorting) sort(g *Weighted, v uint32, list []uint64) (sorted int) {
	n := len(list)
	if n > 2*wantSorted {
		var weights [cutSamples]uint32
		for i := range weights {
			weights[i] = uint32(list[i*n/cutSamples] >> 32)
		}
		slices.Sort(weights[:])
		cut := math.Float32frombits(weights[max(cutSamples*wantSorted/n, firstCut)])
		n = 0
		for i, entry := range list { // the others have bounds that are greater than that of a hub at distance cut
			if u, w := Split(entry); w <= cut && g.Bound(v, u, w) <= cut*Slack {
				list[i], list[n] = list[n], entry
				n++
			}
		}
		if n <= Columns {
			n = len(list)
		}
	}
	s.sortAll(g, v, list[:n])
	return n
}

// sortAll puts entries of v in ascending order of bounds.
func (s *sorting) sortAll(g *Weighted, v uint32, list []uint64) {
	switch n := len(list); {
	case n < 2:
		return
	case n > maxScratch:
		slices.SortFunc(list, func(a, b uint64) int {
			u, w := Split(a)
			x, y := Split(b)
			return cmp.Compare(g.Bound(v, u, w), g.Bound(v, x, y))
		})
		return
	}
	if s.keys = slices.Grow(s.keys[:0], len(list))[:len(list)]; s.alone == nil {
		s.alone = team.New(1)
	}
	for i, entry := range list {
		u, w := Split(entry)
		s.keys[i] = uint64(math.Float32bits(g.Bound(v, u, w)))<<32 | uint64(i)
	}
	keys := s.keys
	if len(list) < radixLength {
		slices.Sort(keys)
	} else {
		s.other = slices.Grow(s.other[:0], len(list))[:len(list)]
		keys, s.other = csr.SortKeys(s.alone, keys, s.other, 32, 31)
		s.keys = keys
	}
	s.entries = append(s.entries[:0], list...)
	for i, key := range keys {
		list[i] = s.entries[uint32(key)]
	}
}
