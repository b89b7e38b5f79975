package rpc

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tepsbench/teps/internal/regular"
)

// Program is an engine's program and how to run it. Only Path is required.
type Program struct {
	Name    string   // of the engine in messages and logs; default: the file's name
	Path    string   // of the program's file; PATH is not searched
	Args    []string // after the program's name
	Library string   // what the program loads, if that is the engine: its checksum counts
	SHA256  string   // expected checksum of the engine's file, in hex; empty: any
}

// image is a file when its checksum was taken.
type image struct {
	path string // absolute
	sum  string // SHA-256, in hex
	info os.FileInfo
}

// examine takes the checksum of the engine's file, which is the library or the program.
func (p Program) examine() (image, error) {
	i, err := examine(cmp.Or(p.Library, p.Path))
	if err == nil && p.SHA256 != "" && !strings.EqualFold(p.SHA256, i.sum) {
		err = fmt.Errorf("%s has the SHA-256 %s, but %s was expected: %w", i.path, i.sum, p.SHA256, ErrChecksum)
	}
	return i, err
}

// Checksum returns the SHA-256 of an engine's file, a program or a library, in hex. Errors wrap ErrProgram.
func Checksum(path string) (string, error) {
	i, err := examine(path)
	return i.sum, err
}

func examine(name string) (i image, err error) {
	if name == "" {
		return i, fmt.Errorf("no path is given: %w", ErrProgram)
	}
	var file *os.File
	if i.path, err = filepath.Abs(name); err == nil {
		file, i.info, err = regular.Open(i.path, os.O_RDONLY)
	}
	if err != nil {
		return i, fmt.Errorf("%w: %w", ErrProgram, err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err = io.Copy(hash, file); err != nil {
		return i, fmt.Errorf("take the checksum of %s: %w: %w", i.path, ErrProgram, err)
	}
	i.sum = hex.EncodeToString(hash.Sum(nil))
	return i, nil
}

// compare checks that the contents of the engine's file are still those that were examined. It reads the file only if
// its inode, size or time of change differs: it detects a rebuild at the wrong moment, not an attack.
func (i image) compare() error {
	now, err := os.Stat(i.path)
	if err == nil && os.SameFile(i.info, now) && now.Size() == i.info.Size() && now.ModTime().Equal(i.info.ModTime()) {
		return nil
	}
	if now, err := examine(i.path); err != nil || now.sum != i.sum {
		return i.changed()
	}
	return nil // written again with the same contents
}

func (i image) changed() error {
	return fmt.Errorf("%s changed during the run; measure again, and leave it as it is: %w", i.path, ErrChecksum)
}

// explainStart explains why the system did not run a program.
func explainStart(program string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = "; run chmod +x on it"
	case errors.Is(err, syscall.ENOEXEC):
		hint = ": it was built for another machine, or it is a script whose first line does not begin with #!"
	case errors.Is(err, fs.ErrNotExist):
		hint = ": the interpreter or loader that it names does not exist"
	}
	if cause := (*os.PathError)(nil); errors.As(err, &cause) && cause.Path == program {
		err = cause.Err // the rest is said
	}
	return fmt.Errorf("%w: %s: %w%s", ErrProgram, program, err, hint)
}
