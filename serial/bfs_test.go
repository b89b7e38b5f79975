// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func open(context.Context) (plugins.Engine, error) { return New(), nil }

// The whole suite for the defaults and for every other choice. Other sets search its smaller graphs: quadratic work and
// bottom-up steps take minutes on long paths.
func TestConformance(t *testing.T) {
	enginetest.Test(t, open, nil, map[string]string{"work": "hybrid", "adjacency": "perlist", "threads": "3",
		"local": "on", "global": "on", "renumber": "on", "paths": "delta", "delta": "0.003"})
	enginetest.TestQuick(t, open, []string{"graph/*"}, map[string]string{"work": "quadratic"},
		map[string]string{"work": "hybrid", "direction": "topdown"},
		map[string]string{"work": "hybrid", "direction": "bottomup"},
		map[string]string{"work": "hybrid", "direction": "bottomup", "adjacency": "perlist"},
		map[string]string{"work": "hybrid", "local": "on", "global": "on", "renumber": "on"},
		map[string]string{"work": "hybrid", "renumber": "on"},
		map[string]string{"work": "hybrid", "threads": "3", "schedule": "static", "chunk": "0"},
		map[string]string{"work": "hybrid", "threads": "3", "schedule": "static", "chunk": "7"},
		map[string]string{"work": "hybrid", "threads": "2", "schedule": "dynamic", "chunk": "0"},
		map[string]string{"work": "hybrid", "threads": "5", "schedule": "guided", "global": "on"},
		map[string]string{"work": "hybrid", "adjacency": "perlist"})
	enginetest.TestQuick(t, open, []string{"paths/*"}, map[string]string{"paths": "delta", "delta": "0.1"})
}

func TestMemoryNeededIsAnUpperBound(t *testing.T) {
	source, tuples := enginetest.Generated(t, "kron:15")
	weights := make([]float32, len(tuples))
	must.Do(graph.Weights(t.Context(), source, 2, 3, weights, 0, 1))
	parent, distance := make([]graph.Vertex, source.Vertices()), make([]float32, source.Vertices())
	kernel2, kernel3 := plugins.Input{Tuples: tuples}, plugins.Input{Tuples: tuples, ShortestPaths: true, Weights: weights}
	for _, c := range []struct {
		in  plugins.Input
		set map[string]string
	}{
		{kernel2, nil},
		{kernel2, map[string]string{"work": "quadratic"}},
		{kernel3, nil},
		{kernel3, map[string]string{"paths": "delta"}},
	} {
		out := plugins.Output{Parent: parent}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := New()
		if c.in.Options = c.set; c.in.ShortestPaths {
			out.Distance = distance
		}
		must.Get(e.Construct(t.Context(), c.in))
		must.Get(e.Search(t.Context(), 0, out))
		runtime.ReadMemStats(&after)
		d := must.Get(e.Describe(t.Context()))
		bound := d.Memory.Bytes(source.Vertices(), source.Tuples())
		if c.in.ShortestPaths {
			bound += d.PathMemory.Bytes(source.Vertices(), source.Tuples())
		}
		got := float64(after.TotalAlloc - before.TotalAlloc) // as if the collector freed nothing
		if got > bound || 2*got < bound {
			t.Errorf("%v: got %.0f bytes, want at most the estimate of %.0f and more than half of it", c.set, got, bound)
		}
	}
}

// TestShare counts how often each item is shared out.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hybrid{
			workers: rapid.IntRange(1, 9).Draw(t, "workers"), chunk: rapid.IntRange(0, 50).Draw(t, "chunk"),
			schedule: rapid.SampledFrom([]string{"static", "dynamic", "guided"}).Draw(t, "schedule"),
		}
		n := rapid.IntRange(0, 1000).Draw(t, "items")
		given := make([]int32, n)
		h.share(n, func(_, first, last int) {
			for i := first; i < last; i++ {
				atomic.AddInt32(&given[i], 1)
			}
		})
		for i, times := range given {
			if times != 1 {
				t.Fatalf("item %d of %d was given out %d times", i, n, times)
			}
		}
	})
}

// A transformed graph is the same graph, its lists and vertices are in the order of the options, and without options
// nothing changes.
func TestTransform(t *testing.T) {
	_, tuples := enginetest.Generated(t, "kron:10")
	describe := must.Get(describe())
	for i := range 8 {
		set := map[string]string{"work": "hybrid"}
		for bit, name := range []string{"local", "global", "renumber"} {
			set[name] = []string{"off", "on"}[i>>bit&1]
		}
		options := must.Get(plugins.Resolve(describe.Options, set))
		plain := must.Get(newCSR(t.Context(), tuples, 1<<10))
		want := &csr{offsets: plain.offsets, targets: slices.Clone(plain.targets)}
		got, number := must.Get2(plain.transform(t.Context(), options))
		relabeled := i >= 2
		if relabeled != (number != nil) {
			t.Fatalf("%v: %d new numbers", set, len(number))
		}
		if !relabeled {
			for v := range uint32(1 << 10) {
				number = append(number, v)
			}
		}
		label := inverse(number)
		degree := func(v uint32) int { return len(got.neighbors(v)) }
		for v := range uint32(1 << 10) {
			var list []uint32
			for _, u := range got.neighbors(number[v]) {
				list = append(list, label[u])
			}
			if set["local"] == "off" && !slices.IsSorted(list) {
				t.Fatalf("%v: the list of %d is in another order", set, v)
			}
			slices.Sort(list)
			if !slices.Equal(want.neighbors(v), list) {
				t.Fatalf("%v: neighbors of %d (-want +got):\n%s", set, v, cmp.Diff(want.neighbors(v), list))
			}
			byDegree := func(u, w uint32) int { return degree(w) - degree(u) }
			if set["local"] == "on" && !slices.IsSortedFunc(got.neighbors(v), byDegree) {
				t.Fatalf("%v: degrees ascend in the list of %d", set, v)
			}
			if set["global"] == "on" && set["renumber"] == "off" && v > 0 && degree(v) > degree(v-1) {
				t.Fatalf("%v: the degree of %d is larger than the one before", set, v)
			}
		}
		if set["renumber"] == "on" { // the parent of each vertex in queue order comes in that order too
			first := func(v uint32) uint32 { return slices.Min(append(slices.Clone(got.neighbors(v)), v)) }
			for v := uint32(1); v < 1<<10; v++ {
				if first(v) < v && first(v-1) < v-1 && first(v) < first(v-1) {
					t.Fatalf("%v: %d is in the queue after %d, but its parent is before", set, v, v-1)
				}
			}
		}
	}
}

// unpack returns the list of v.
func (p *packed) unpack(v uint32) (list []uint32) {
	for bit, width, end := p.list(v); bit < end; bit += width {
		list = append(list, p.entry(bit, width))
	}
	return list
}

// Packing keeps lists of all widths, also empty ones, and their sizes match their widths.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &csr{offsets: []int64{0}}
		var want [][]uint32
		used := uint64(0)
		for range rapid.IntRange(0, 40).Draw(t, "lists") {
			width := rapid.IntRange(0, 32).Draw(t, "width")
			list := rapid.SliceOfN(rapid.Uint32Max(uint32(1<<width-1)), 0, 70).Draw(t, "list")
			if len(list) > 0 {
				used += uint64(len(list) * max(bits.Len32(slices.Max(list)), 1))
			}
			want = append(want, slices.Concat(list)) // nil if it is empty
			g.targets = append(g.targets, list...)
			g.offsets = append(g.offsets, int64(len(g.targets)))
		}
		p := must.Get(g.pack(t.Context()))
		var got [][]uint32
		for v := range want {
			got = append(got, p.unpack(uint32(v)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
		if want := 8 * (uint64(len(g.offsets)) + (used+63)/64 + 1); uint64(p.bytes()) != want {
			t.Errorf("got %d bytes, want %d", p.bytes(), want)
		}
	})
}

// The engine reports the size of its lists.
func TestPackedListsAreReported(t *testing.T) {
	// The list of 0 has 1 and 4, three bits each; those of 1 and 4 have 0, one bit each; 2 and 3 have none.
	tuples := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(0, 4), graph.MakeEdge(4, 0)}
	d := must.Get(describe())
	for adjacency, want := range map[string]struct {
		bytes   int64
		details []plugins.Fact
	}{
		"csr": {8*6 + 4*6 + 12*5, nil}, // room for both entries of each tuple
		"perlist": {8*6 + 8*2 + 12*5, []plugins.Fact{{Name: "neighbor lists",
			Value: "packed, each as wide as its largest neighbor: 2.0 bits for each of 4 entries"}}},
	} {
		set := must.Get(plugins.Resolve(d.Options, map[string]string{"work": "hybrid", "adjacency": adjacency}))
		got := must.Get(build(t.Context(), plugins.Input{Tuples: tuples}, set))
		if got.Bytes != want.bytes || got.Entries != plugins.Counted(4) {
			t.Errorf("%s: got %d bytes and %v entries, want %d and 4", adjacency, got.Bytes, got.Entries, want.bytes)
		}
		if diff := cmp.Diff(want.details, got.Details); diff != "" {
			t.Errorf("%s: details (-want +got):\n%s", adjacency, diff)
		}
	}
}
