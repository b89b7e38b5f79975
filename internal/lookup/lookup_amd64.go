// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math/bits"

	processor "golang.org/x/sys/cpu"
)

const fewBits = 4 // of a word, from which vectors are faster

// In64 looks up the entries of 64 bits.
func In64(b []uint64, entry []uint32, word uint64) (found uint64) {
	if !processor.X86.HasAVX512F || bits.OnesCount64(word) < fewBits {
		return each64(b, entry, word)
	}
	return vector64(&b[0], &entry[0], word)
}

// In32 looks up the entries of 32 bits.
func In32(b, entry []uint32, word uint32) (found uint32) {
	if !processor.X86.HasAVX512F || bits.OnesCount32(word) < fewBits {
		return each32(b, entry, word)
	}
	return vector32(&b[0], &entry[0], word)
}

// vector64 and vector32 look up 16 entries at a time with AVX-512. They read no entry without a bit.

//go:noescape
func vector64(b *uint64, entry *uint32, word uint64) (found uint64)

//go:noescape
func vector32(b, entry *uint32, word uint32) (found uint32)
