//go:build !amd64

package cpu

// filter returns those bits of word whose entry (bit i has entry[i]) is in the bitmap.
func (b bitmap) filter(entry []uint32, word uint64) uint64 { return b.filterEach(entry, word) }
