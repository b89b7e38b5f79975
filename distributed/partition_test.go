// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
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
