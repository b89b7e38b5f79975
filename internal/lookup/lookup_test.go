// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"
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
		if got := each64(b, entry, which); got != want {
			t.Fatalf("each64 is %x, want %x", got, want)
		}
		if got := In32(halves, entry, uint32(which)); got != uint32(want) {
			t.Fatalf("In32 is %x, want %x", got, uint32(want))
		}
		if got := each32(halves, entry, uint32(which)); got != uint32(want) {
			t.Fatalf("each32 is %x, want %x", got, uint32(want))
		}
	})
}
