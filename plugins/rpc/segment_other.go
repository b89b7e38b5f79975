//go:build unix && !linux

package rpc

import "os"

func openBacking(_ string, size int64) (*os.File, string, func() error, error) { return openFile(size) }

// Sealing is Linux's alone.
func sealWrites(*os.File) {}
func sealSeals(*os.File)  {}

func collapse([]byte) {}

// populate makes every page of memory present by touching it. It keeps the contents, because an engine maps memory that
// the host has already filled.
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
