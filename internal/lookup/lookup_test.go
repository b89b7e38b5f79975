// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
)

func TestEntriesOfAWordAreLookedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Uint64(), 1, 4).Draw(t, "bitmap")
		var halves []uint32
		for _, word := range b {
			halves = append(halves, uint32(word), uint32(word>>32))
		}
		entry := rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(b)*64-1)), 1, 64).Draw(t, "entries")
		which := rapid.Uint64().Draw(t, "which") >> (64 - len(entry))
		want := uint64(0)
		for word := which; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			want |= b[entry[i]/64] >> (entry[i] % 64) & 1 << i
		}
		if got := In64(b, entry, which); got != want {
			t.Fatalf("In64 is %x, want %x", got, want)
		}
		if got := each(b, entry, which); got != want {
			t.Fatalf("each of 64 bits is %x, want %x", got, want)
		}
		if got := In32(halves, entry, uint32(which)); got != uint32(want) {
			t.Fatalf("In32 is %x, want %x", got, uint32(want))
		}
		if got := each(halves, entry, uint32(which)); got != uint32(want) {
			t.Fatalf("each of 32 bits is %x, want %x", got, uint32(want))
		}
	})
}

func TestTightTuplesAreFound(t *testing.T) {
	few := rapid.SampledFrom([]float32{0, 0.25, 0.5, 1, 0x1p-27, 1e-42, graph.Infinity(), graph.UnwrittenDistance()})
	rapid.Check(t, func(t *rapid.T) {
		distance := rapid.SliceOfN(few, 1, 20).Draw(t, "distances")
		label := rapid.Int64Range(0, int64(len(distance)-1))
		if rapid.IntRange(0, 9).Draw(t, "bad") == 0 {
			label = rapid.OneOf(label, rapid.Int64Range(int64(len(distance)), int64(graph.MaxVertex)))
		}
		tuples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) graph.Edge {
			return graph.MakeEdge(graph.Vertex(label.Draw(t, "u")), graph.Vertex(label.Draw(t, "v")))
		}), 0, 150).Draw(t, "tuples")
		weights := rapid.SliceOfN(few, len(tuples), len(tuples)).Draw(t, "weights")
		var got, want [3]uint64
		all, ok := Tight(tuples, weights, distance, got[:]), eachTight(tuples, weights, distance, want[:])
		if all != ok || ok && got != want {
			t.Fatalf("Tight: %v, %x, want %v, %x", all, got, ok, want)
		}
	})
}
