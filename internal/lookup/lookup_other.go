// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package lookup

// In64 looks up the entries of 64 bits.
func In64(b []uint64, entry []uint32, word uint64) (found uint64) { return each64(b, entry, word) }

// In32 looks up the entries of 32 bits.
func In32(b, entry []uint32, word uint32) (found uint32) { return each32(b, entry, word) }
