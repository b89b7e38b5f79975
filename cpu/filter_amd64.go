package cpu

import (
	"math/bits"

	processor "golang.org/x/sys/cpu"
)

// fewBits is how many entries of a word are looked up sooner one by one than with vectors.
const fewBits = 4

// filter returns those bits of word whose entry (bit i has entry[i]) is in the bitmap. A bottom-up step spends a third
// of its time here. With AVX-512, which reads 16 words of the bitmap with one instruction, it takes a sixth less time.
func (b bitmap) filter(entry []uint32, word uint64) uint64 {
	if !processor.X86.HasAVX512F || bits.OnesCount64(word) < fewBits {
		return b.filterEach(entry, word)
	}
	return filterVector(&b[0], &entry[0], word)
}

// filterVector is filterEach with AVX-512. It reads no entry without a bit.
//
//go:noescape
func filterVector(b *uint64, entry *uint32, word uint64) (found uint64)
