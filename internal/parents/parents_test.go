// SPDX-License-Identifier: Apache-2.0

package parents

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

func TestLabelsOfEverySizeBecomeParents(t *testing.T) {
	const none = None
	labels := []uint32{0, 1, none, 1<<31 - 1, 5, none, none, 7, 1 << 20, none}
	want := []graph.Vertex{
		0, 1, graph.Unreached, 1<<31 - 1, 5, graph.Unreached, graph.Unreached, 7, 1 << 20, graph.Unreached,
	}
	for name, widen := range map[string]func([]graph.Vertex, []uint32){"widen31": widen31, "widen32": widen32} {
		got := make([]graph.Vertex, len(labels))
		widen(got, labels)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	got := make([]graph.Vertex, 2)
	widen32(got, []uint32{1 << 31, none - 1})
	if diff := cmp.Diff([]graph.Vertex{1 << 31, graph.Vertex(none) - 1}, got); diff != "" {
		t.Errorf("large labels: (-want +got)\n%s", diff)
	}
}

// A template and corrections with labels of any number of bits are written as they were set.
func TestOutputHasTheLabelsThatWereSet(t *testing.T) {
	workers := team.New(1)
	defer workers.Stop()
	rapid.Check(t, func(t *rapid.T) {
		m := memory.New()
		defer m.ReleaseAll()
		bound := int64(1)<<rapid.IntRange(1, 16+lowBits).Draw(t, "bits") - 1
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		want := make([]graph.Vertex, rapid.IntRange(1, 70_000).Draw(t, "places"))
		label := func() graph.Vertex { // the largest ones and Unreached are likely
			return graph.Vertex([]int64{random.Int64N(bound), bound - 1, bound - 1 - random.Int64N(bound)%3, -1}[random.IntN(4)])
		}
		for place := range want {
			want[place] = label()
		}
		template, fix := NewLabels(m, "template", len(want), bound), NewCorrections(m, len(want), len(want), bound)
		for place, v := range want {
			template.Set(uint32(place), v)
			if got := template.At(uint32(place)); got != v {
				t.Fatalf("place %d: got %d, want %d", place, got, v)
			}
		}
		out := NewOutput(workers, template, bound, []*Corrections{&fix})
		stride := rapid.IntRange(1, 3).Draw(t, "stride")
		got := make([]graph.Vertex, stride*len(want))
		out.Begin(got, 0, stride)
		out.BeginWorker(0)
		for place, step := 0, rapid.IntRange(1, 2000).Draw(t, "step"); place < len(want); place += 1 + random.IntN(step) {
			want[place] = label()
			fix.Add(uint32(place), want[place])
		}
		out.Write()
		for place, v := range want {
			if got[place*stride] != v {
				t.Fatalf("place %d: got %d, want %d", place, got[place*stride], v)
			}
		}
	})
}
