// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBitmapIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "vertices")
		b, want := make(bitmap, (n+63)>>6), make([]bool, n)
		if rapid.Bool().Draw(t, "full") {
			b.fill(n)
			for v := range want {
				want[v] = true
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			from := rapid.IntRange(0, n).Draw(t, "from")
			if from < n {
				b.remove(uint32(from))
				want[from] = false
			}
		}
		var queue []uint64
		for v, in := range want {
			if b.has(uint32(v)) != in {
				t.Fatalf("bitmap has %d: %v, want %v", v, !in, in)
			}
			if in {
				queue = append(queue, uint64(v))
			}
		}
		again := make(bitmap, len(b))
		again.set(queue)
		if !slices.Equal(again, b) {
			t.Fatalf("bitmap set from its queue is %x, want %x", again, b)
		}
	})
}
