package rpc

import (
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
)

// Program is an engine's program and how to run it. Only Path is required.
type Program struct {
	Name    string   // of the engine in messages and logs; default: the file's name
	Path    string   // of the program's file; PATH is not searched
	Args    []string // after the program's name
	Library string   // what the program loads, if that is the engine: its checksum counts
	SHA256  string   // expected checksum of the engine's file, in hex; empty: any
}

// image is an engine's file when its checksum was taken.
type image struct {
	program string // to run; absolute
	path    string // of the engine's file, which is the program's or the library's; absolute
	sum     string // SHA-256 of the engine's file, in hex
	info    os.FileInfo
}

// examine checks the program's file and takes the checksum of the engine's file.
func (p Program) examine() (image, error) {
	program, info, err := stat(p.Path)
	if err != nil {
		return image{}, err
	}
	if info.Mode()&0o111 == 0 {
		return image{}, fmt.Errorf("%s is not executable; run chmod +x on it: %w", program, ErrProgram)
	}
	i := image{program: program}
	file := program
	if p.Library != "" {
		file = p.Library
	}
	if i.path, i.sum, i.info, err = checksum(file); err != nil {
		return image{}, err
	}
	if p.SHA256 != "" && !strings.EqualFold(p.SHA256, i.sum) {
		return image{}, fmt.Errorf("%s has the SHA-256 %s, but %s was expected: %w", i.path, i.sum, p.SHA256, ErrChecksum)
	}
	return i, nil
}

// Checksum returns the SHA-256 of an engine's file, a program or a library, in hex. Errors wrap ErrProgram.
func Checksum(path string) (string, error) {
	_, sum, _, err := checksum(path)
	return sum, err
}

// stat returns the absolute path of a regular file.
func stat(name string) (path string, info os.FileInfo, err error) {
	if name == "" {
		return "", nil, fmt.Errorf("no path is given: %w", ErrProgram)
	}
	if path, err = filepath.Abs(name); err == nil {
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrProgram, err)
	case info.IsDir():
		err = fmt.Errorf("%s is a directory; name the program inside it: %w", path, ErrProgram)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file (%v): %w", path, info.Mode().Type(), ErrProgram)
	}
	return path, info, err
}

func checksum(name string) (path, sum string, info os.FileInfo, err error) {
	if path, info, err = stat(name); err != nil {
		return "", "", nil, err
	}
	hash := sha256.New()
	file, err := os.Open(path)
	if err == nil {
		defer file.Close()
		_, err = io.Copy(hash, file)
	}
	if err != nil {
		return "", "", nil, fmt.Errorf("take the checksum of %s: %w: %w", path, ErrProgram, err)
	}
	return path, hex.EncodeToString(hash.Sum(nil)), info, nil
}

// checkUnchanged checks that the engine's file is still the one that was examined, by its inode, size and time of
// change. It detects a rebuild at the wrong moment, not an attack.
func (i image) checkUnchanged() error {
	now, err := os.Stat(i.path)
	if err != nil || !os.SameFile(i.info, now) || now.Size() != i.info.Size() || !now.ModTime().Equal(i.info.ModTime()) {
		return fmt.Errorf("%s changed while it was being started; try again: %w", i.path, ErrChecksum)
	}
	return nil
}

// startError explains why the system did not run the program.
func (i image) startError(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		hint = " (it was built for another machine, or it is a script whose first line does not begin with #!)"
	case errors.Is(err, fs.ErrNotExist):
		hint = " (the interpreter or loader that it names does not exist)"
	}
	return fmt.Errorf("run %s%s: %w: %w", i.program, hint, ErrProgram, err)
}
