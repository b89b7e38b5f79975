package cpu

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func orAtomically(word *uint64, bits uint64) { atomic.OrUint64(word, bits) }

// packAll packs numbers up to largest by one packer for each cut of the list.
func packAll(numbers []uint32, largest uint32, cuts ...int) fields {
	f := fieldsFor(largest)
	f.length = len(numbers)
	f.words = make([]uint64, f.wordsFor(len(numbers)))
	var packers sync.WaitGroup
	from := 0
	for _, to := range append(cuts, len(numbers)) {
		part, first := numbers[from:to], uint64(from)
		packers.Go(func() {
			p := f.pack(first, orAtomically)
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

func checkFields(t interface{ Fatalf(string, ...any) }, f fields, numbers []uint32) {
	for i, want := range numbers {
		if got := f.get(uint64(i)); got != want {
			t.Fatalf("width %d: field %d is %d, want %d", f.width, i, got, want)
		}
	}
}

func TestPackedFieldsComeBackWhateverTheirWidthAndWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.Uint32().Draw(t, "largest")
		numbers := rapid.SliceOf(rapid.Uint32Range(0, largest)).Draw(t, "numbers")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(numbers)), 0, 5).Draw(t, "cuts")
		slices.Sort(cuts)
		checkFields(t, packAll(numbers, largest, cuts...), numbers)
	})
}

func FuzzPackedFieldsRoundTrip(f *testing.F) {
	f.Add(uint32(1), uint16(0), []byte{})
	f.Add(uint32(1<<32-1), uint16(3), []byte{1, 2, 3, 4, 255, 255, 255, 255, 9, 9, 9, 9})
	f.Add(uint32(1<<22), uint16(1), make([]byte, 4*70))
	f.Fuzz(func(t *testing.T, largest uint32, cut uint16, data []byte) {
		var numbers []uint32
		for ; len(data) >= 4; data = data[4:] {
			x := binary.LittleEndian.Uint32(data)
			if largest < 1<<32-1 {
				x %= largest + 1
			}
			numbers = append(numbers, x)
		}
		checkFields(t, packAll(numbers, largest, min(int(cut), len(numbers))), numbers)
	})
}

func TestOffsetsHoldMoreThan32Bits(t *testing.T) {
	var o offsets
	if err := o.allocate(newMemory(), "offsets", 2*offsetBlock); err != nil {
		t.Fatal(err)
	}
	o.base[0], o.base[1] = 7, 1<<40
	o.set(3, 9)
	o.set(offsetBlock, 1<<40)
	o.set(offsetBlock+1, 1<<40+1<<31)
	for _, c := range []struct {
		list uint32
		want uint64
	}{{3, 9}, {offsetBlock, 1 << 40}, {offsetBlock + 1, 1<<40 + 1<<31}} {
		if got := o.get(c.list); got != c.want {
			t.Errorf("list %d begins at %d, want %d", c.list, got, c.want)
		}
	}
}
