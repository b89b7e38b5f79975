// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

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
