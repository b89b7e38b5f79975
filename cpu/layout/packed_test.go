// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// packAll packs numbers up to largest with one packer for each part of the list between two cuts.
func packAll(numbers []uint32, largest uint32, cuts ...int) Fields {
	f := fieldsFor(largest)
	f.Length = len(numbers)
	f.Words = make([]uint64, f.wordsFor(len(numbers)))
	var packers sync.WaitGroup
	from := 0
	for _, to := range append(cuts, len(numbers)) {
		part, first := numbers[from:to], uint64(from)
		packers.Go(func() {
			p := f.pack(first)
			for _, x := range part {
				p.put(x)
			}
			p.close()
		})
		from = to
	}
	packers.Wait()
	return f
}

func checkFields(t interface{ Fatalf(string, ...any) }, f Fields, numbers []uint32) {
	for i, want := range numbers {
		if got := f.Get(uint64(i)); got != want {
			t.Fatalf("width %d: field %d is %d, want %d", f.Width, i, got, want)
		}
	}
}

func TestPackedFieldsRoundTripForAllWidthsAndWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.Uint32().Draw(t, "largest")
		numbers := rapid.SliceOf(rapid.Uint32Range(0, largest)).Draw(t, "numbers")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(numbers)), 0, 5).Draw(t, "cuts")
		slices.Sort(cuts)
		checkFields(t, packAll(numbers, largest, cuts...), numbers)
	})
}

func TestOffsetsHoldMoreThan32Bits(t *testing.T) {
	o := Offsets{low: []uint32{0, 7, 1<<32 - 1, 3, 3, 9, 1<<32 - 2, 1}}
	o.findWraps()
	want := []uint64{0, 7, 1<<32 - 1, 1<<32 + 3, 1<<32 + 3, 1<<32 + 9, 1<<33 - 2, 1<<33 + 1}
	for v := range want {
		if got := o.Get(uint32(v)); got != want[v] {
			t.Errorf("list %d begins at %d, want %d", v, got, want[v])
		}
	}
}
