//go:build unix && !linux

package rpc

import "os"

// back makes the file behind the segment, of a fixed size.
func (s *segment) back(size int64, dir func() (string, error)) error { return s.backFile(size, dir) }

// checkSeals has nothing to check: plain files cannot be sealed.
func checkSeals(*os.File) error { return nil }

// allocateHuge leaves the size of pages to the system.
func allocateHuge([]byte) {}

// populate makes every page of memory present by touching it; a page that is to be written is written with what it
// holds, for an engine attaches memory that the host has already filled.
func populate(memory []byte, writable bool) error {
	var sum byte
	for at := 0; at < len(memory); at += 4096 {
		old := memory[at]
		if writable {
			memory[at] = old
		}
		sum |= old
	}
	_ = sum
	return nil
}
