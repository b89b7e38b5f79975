// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"testing"

	"pgregory.net/rapid"
)

// check compares Add with a look at every vertex.
func check[W Word](t *rapid.T, size int) {
	n := rapid.IntRange(0, 150).Draw(t, "hubs")
	g := Groups{uint32(rapid.IntRange(0, 100).Draw(t, "first"))}
	for range n {
		g = append(g, g[len(g)-1]+uint32(rapid.IntRange(0, 70).Draw(t, "size")))
	}
	frontier := make([]W, n/size+1)
	for w := range frontier {
		frontier[w] = W(rapid.Uint64().Draw(t, "frontier"))
	}
	first := rapid.IntRange(0, int(g[n])/size+2).Draw(t, "first word")
	into := make([]W, rapid.IntRange(0, 20).Draw(t, "words"))
	for w := range into {
		into[w] = W(rapid.SampledFrom([]uint64{0, 1, 1 << 31}).Draw(t, "before"))
	}
	want := append([]W(nil), into...)
	for h := range n {
		for v := int(g[h]); v < int(g[h])+g.Size(h); v++ {
			if w := v/size - first; frontier[h/size]>>(h%size)&1 != 0 && w >= 0 && w < len(want) {
				want[w] |= 1 << (v % size)
			}
		}
	}
	Add(g, into, first, frontier)
	for w := range want {
		if into[w] != want[w] {
			t.Fatalf("word %d of %d from %d on: got %x, want %x; groups %v", w, len(into), first, into[w], want[w], g)
		}
	}
}

func TestAddIsALookAtEveryVertex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { check[uint32](t, 32) })
	rapid.Check(t, func(t *rapid.T) { check[uint64](t, 64) })
	Add(nil, []uint64{0}, 0, nil)
}
