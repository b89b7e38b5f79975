// Package regular reads files that a user names. Some names stand for something that never ends or never answers: a
// pipe without a writer, a device. Only regular files are read, and only up to a size.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrRefused is wrapped by errors about a file that is not regular or too large.
var ErrRefused = errors.New("want a regular file")

// Read returns the contents of the regular file name, which has at most limit bytes. Opening it never waits.
func Read(name string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a directory, a pipe or a device: %w", name, ErrRefused)
	}
	var data []byte
	if info.Size() <= limit { // it may grow meanwhile
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	if max(info.Size(), int64(len(data))) > limit {
		return nil, fmt.Errorf("%s is too large: %w of at most %d MiB", name, ErrRefused, limit>>20)
	}
	return data, err
}
