// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

func TestEveryLabelHasOneOwnerAndOneSlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := 1 << rapid.IntRange(0, 18).Draw(t, "bits of ranks")
		ranks -= rapid.IntRange(0, ranks-1).Draw(t, "fewer")
		labels := rapid.Int64Range(0, 1<<rapid.IntRange(0, graph.VertexBits).Draw(t, "bits")).Draw(t, "labels")
		modulo := rapid.Bool().Draw(t, "modulo")
		p := NewPartition(labels, ranks, modulo)
		var sum int64
		for rank := range ranks {
			n, _, _ := p.Slots(rank)
			if int64(n) > p.Share {
				t.Fatalf("rank %d has %d labels, more than the share of %d", rank, n, p.Share)
			}
			sum += int64(n)
		}
		if sum != labels {
			t.Fatalf("the ranks own %d labels of %d", sum, labels)
		}
		if labels == 0 {
			return
		}
		if p.Share > 1<<32 {
			return // kernel 1 wants more ranks
		}
		for _, label := range []int64{0, labels - 1, rapid.Int64Range(0, labels-1).Draw(t, "label")} {
			rank, slot := p.Owner(graph.Vertex(label))
			if back := p.Label(rank, slot); back != graph.Vertex(label) {
				t.Fatalf("label %d is %d after Owner and Label", label, back)
			}
			if rank < 0 || rank >= ranks {
				t.Fatalf("label %d belongs to rank %d of %d", label, rank, ranks)
			}
			n, first, stride := p.Slots(rank)
			if int(slot) >= n || first+int64(slot)*stride != label {
				t.Fatalf("label %d has slot %d of rank %d, which is label %d (%d slots)",
					label, slot, rank, first+int64(slot)*stride, n)
			}
		}
	})
}

// All entries in segment k of long lists lead to range k of rows, which one worker scans without atomic operations.
func TestSegmentsLeadToDisjointRanges(t *testing.T) {
	var tuples []graph.Edge
	for v := range graph.Vertex(4000) {
		tuples = append(tuples, graph.MakeEdge(v%16, v), graph.MakeEdge(v%7, v))
	}
	c := Configuration{Grid: Grid{1, 1}, Threads: 3, Form: "adaptive"}
	s, _ := must.Get2(NewRank(t.Context(), comm.NewLocal(1, 3)[0], c, team.NewTeams(3),
		plugins.Input{Tuples: tuples}))
	defer s.Free()
	ranges, used := map[uint32]int{}, map[int]bool{} // of words of rows
	for u := range s.segmented {
		for k := range s.ranges {
			for _, row := range s.down.of(int(u))[s.segment(u, k):s.segment(u, k+1)] {
				if known, ok := ranges[row>>5]; ok && known != k {
					t.Fatalf("list %d: word %d is in ranges %d and %d", u, row>>5, known, k)
				}
				ranges[row>>5], used[k] = k, true
			}
		}
	}
	if 2*len(used) < s.ranges {
		t.Errorf("%d ranges of %d have segments", len(used), s.ranges)
	}
}

func TestAutoChoosesTheGridOfTheFastestModel(t *testing.T) {
	for _, c := range []struct {
		ranks, columns int // at least
		vertices       int64
		want           Grid
	}{
		{4, 1, 1 << 22, Grid{4, 1}}, {32, 1, 1 << 26, Grid{32, 1}}, {256, 1, 1 << 22, Grid{256, 1}},
		{1024, 1, 1 << 30, Grid{128, 8}}, {1009, 1, 1 << 30, Grid{1009, 1}}, {4, 1, 1<<31 + 1, Grid{2, 2}},
		{16, 2, 1 << 22, Grid{8, 2}}, {5, 2, 1 << 22, Grid{5, 1}}, {16, 0, 1 << 36, Grid{16, 1}},
	} {
		auto := Configuration{Grid: Grid{c.ranks, 1}, Auto: c.columns, Threads: 1}
		if auto.choose(c.vertices); auto.Grid != c.want {
			t.Errorf("%d ranks, %d vertices: got %v, want %v: %s", c.ranks, c.vertices, auto.Grid, c.want, auto.Why)
		}
	}
}

// drawSet draws a set in one of its two representations, and returns it as a bitmap, too.
func drawSet(t *rapid.T, words int) (*set, bitmap) {
	s := &set{listed: true, bits: make(bitmap, words)}
	if rapid.Bool().Draw(t, "bitmap") {
		s.toBitmap()
	}
	all := make(bitmap, words)
	for range rapid.IntRange(0, 32*min(words, 40)).Draw(t, "draws") {
		if v := rapid.Uint32Range(0, uint32(32*words-1)).Draw(t, "vertex"); !all.has(v) {
			s.add(v)
			all.add(v)
		}
	}
	return s, all
}

// words draws the length of a bitmap, which workers share out if it is long.
func words(t *rapid.T) int {
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		return manyWords + 5
	}
	return rapid.IntRange(1, 20).Draw(t, "words")
}

// sender returns a rank that can make messages of sets.
func sender(t *testing.T, workers int) *Rank {
	s := &Rank{packer: packer{team: team.New(workers), members: make([]int, workers)}}
	t.Cleanup(s.team.Stop)
	return s
}

func TestMessagesDecodeToTheSetSent(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := sender(t, workers)
		rapid.Check(t, func(t *rapid.T) {
			n := words(t)
			own, want := drawSet(t, n)
			s.form = rapid.SampledFrom([]Form{"adaptive", "lists", "bitmaps"}).Draw(t, "form")
			if got := s.count(own); got != want.count() {
				t.Fatalf("%d members, want %d", got, want.count())
			}
			message := s.messageOf(own, &[]uint32{1, 2, 3})
			got := slices.Repeat(bitmap{0xdeadbeef}, n)
			if got.replace(s.form.decode(message, n)); !slices.Equal(got, want) {
				t.Fatalf("sent %x, got %x", want, got)
			}
			_, other := drawSet(t, n)
			union := slices.Clone(other)
			for w := range union {
				union[w] |= want[w]
			}
			if other.includeSet(own); !slices.Equal(other, union) {
				t.Fatalf("included the set %x, got %x", want, other)
			}
			if own.toBitmap(); !slices.Equal(own.bits, want) {
				t.Fatalf("as a bitmap %x, want %x", own.bits, want)
			}
		})
	}
}

// A rank answers with the labels of parents, of up to 47 bits, and the owner of the vertices makes them its output.
func TestLabelsOfAllSizesPassThroughMessages(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := sender(t, workers)
		s.workers = make([]worker, workers)
		rapid.Check(t, func(t *rapid.T) {
			bound := rapid.Int64Range(1, 1<<rapid.IntRange(0, 47).Draw(t, "bits")).Draw(t, "bound")
			asked, all := drawSet(t, words(t))
			n, m, random := 32*len(all), memory.New(), rand.New(rand.NewPCG(uint64(bound), 0))
			defer m.ReleaseAll()
			s.Part = &Part{width: n, label: parents.NewLabels(m, "labels", n, bound), slot: make([]uint32, n)}
			s.corrected, s.parent, s.entry[0] = slices.Clone(all), make([]uint32, n), make([]uint32, n)
			want, got := slices.Repeat([]graph.Vertex{graph.Unwritten}, n), slices.Repeat([]graph.Vertex{graph.Unwritten}, n)
			vertices := s.appendMembers(nil, all)
			for k := range uint32(n) {
				s.label.Set(k, graph.Vertex(random.Int64N(bound)))
				s.slot[k], s.parent[k], s.entry[0][k] = k, uint32(random.IntN(n)), uint32(random.IntN(n))
			}
			for _, v := range vertices { // half of the parents are in the first column
				if want[v] = s.label.At(s.parent[v]); random.IntN(2) == 0 {
					s.corrected[v>>5] &^= 1 << (v & 31)
					want[v] = s.label.At(s.entry[0][v])
				}
			}
			for k := range s.workers {
				s.workers[k].corrections = parents.NewCorrections(m, n, n, bound)
				s.workers[k].corrections.Reset()
			}
			message := s.appendPredecessors([]uint32{7}, vertices, 0)
			if s.takePredecessors(vertices, message[1:]); asked.listed && message[0] != 7 {
				t.Fatal("the words before the labels have changed")
			}
			for k := range s.workers {
				for first := 0; first < n; first += s.workers[k].corrections.Region() {
					s.workers[k].corrections.Apply(first, got, 1)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("labels below %d: got %v, want %v", bound, got, want)
			}
		})
	}
}

// In kernel 3, the ranks of a grid row find the slots of parents at any of up to 2^15 ranks, whose labels have 47 bits.
func TestRanksFindTheSlotsOfParents(t *testing.T) {
	const width = 32
	rapid.Check(t, func(t *rapid.T) {
		g := Grid{1 << rapid.IntRange(0, 13).Draw(t, "bits of rows"), rapid.IntRange(2, 4).Draw(t, "columns")}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		slots := make([]uint32, g.Ranks()*width) // [rank*width+v]
		for k := range slots {
			slots[k] = random.Uint32()
		}
		all := make([]*paths, g.C)
		for j, group := range comm.NewLocal(g.C, 1) {
			p := &paths{Rank: &Rank{Part: &Part{width: width, columns: g.R * width}}}
			p.slots, p.owners, p.ownRow = cut(slots, j, g.C), newPeers(group), j*width
			p.state, p.rows = make([]uint64, width+1), make([]uint32, g.C*width)
			for v := range width {
				p.state[v] = 1<<distanceBit0 | uint64(random.IntN(len(slots)+1))
			}
			all[j] = p
		}
		for range 2 { // searches
			must.Do(checks.OnAll(all, func(p *paths) error {
				p.findSlots(&Measure{})
				return nil
			}))
		}
		for j, p := range all {
			for v, state := range p.state {
				if name := uint32(state); name != 0 && p.rows[j*width+v] != slots[name-1] {
					t.Fatalf("rank %d: vertex %d has parent %d, and got slot %d", j, v, name-1, p.rows[j*width+v])
				}
			}
		}
	})
}
