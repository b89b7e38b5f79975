// SPDX-License-Identifier: Apache-2.0

package serial

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

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
