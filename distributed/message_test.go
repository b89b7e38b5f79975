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
)

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
