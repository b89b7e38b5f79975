// SPDX-License-Identifier: Apache-2.0

// Package regular reads regular files up to a size, and follows links. It refuses pipes and devices, which may never
// end or answer.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRefused is wrapped by errors about a file that is not regular or too large.
var ErrRefused = errors.New("want a regular file")

// Open opens the regular file name with the flags of os.OpenFile. It never waits.
func Open(name string, flags int) (*os.File, os.FileInfo, error) {
	file, err := os.OpenFile(name, flags|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o666)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is a directory, a pipe or a device: %w", name, ErrRefused)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// Read returns the contents of the regular file name, which has at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	file, info, err := Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var data []byte
	if info.Size() <= limit { // it may grow at any time
		data, err = io.ReadAll(io.LimitReader(file, limit+1))
	}
	if max(info.Size(), int64(len(data))) > limit {
		return nil, fmt.Errorf("%s is too large: %w of at most %d MiB", name, ErrRefused, limit>>20)
	}
	return data, err
}

// Target returns the file that a name stands for: the end of a chain of symbolic links, which may not exist.
func Target(name string) string {
	for range 40 { // as many as Linux follows
		link, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(name), link)
		}
		name = link
	}
	return name
}
