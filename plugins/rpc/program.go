package rpc

// What is looked at before and after a program is started: that it is a program at all, for this machine, and that it
// is the one whose checksum goes into the record.

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Program is an engine's program and how to run it. Path is all that is needed.
type Program struct {
	Name         string        // what messages and logs call the engine; default: the file's name
	Path         string        // of the file; PATH is not searched
	Args         []string      // after the program's name
	Env          []string      // KEY=value, beside the host's environment (see environment)
	Library      string        // what the program is to load, if that is the engine: its checksum is the engine's
	SHA256       string        // expected checksum of the engine's file, in hex; empty: any
	StartTimeout time.Duration // until the engine answers; default 15 s
}

// image is an engine's file as it was when its checksum was taken.
type image struct {
	program string // that is run, absolute
	path    string // of the file, absolute: the program's, or the library's
	sum     string // SHA-256 in hex
	info    os.FileInfo
}

// examine checks the program's file, and reads it or the library's.
func (p Program) examine() (image, error) {
	if p.Path == "" {
		return image{}, fmt.Errorf("no path is given: %w", ErrProgram)
	}
	program, info, err := regular(p.Path)
	if err != nil {
		return image{}, err
	}
	if info.Mode()&0o111 == 0 {
		return image{}, fmt.Errorf("%s is not executable; chmod +x would make it so: %w", program, ErrProgram)
	}
	path := program
	if p.Library != "" {
		if path, _, err = regular(p.Library); err != nil {
			return image{}, err
		}
	}
	i := image{program: program, path: path}
	if i.sum, i.info, err = checksum(path); err != nil {
		return image{}, err
	}
	if p.SHA256 != "" && !strings.EqualFold(p.SHA256, i.sum) {
		return image{}, fmt.Errorf("%s has the SHA-256 %s, expected was %s: %w", path, i.sum, p.SHA256, ErrChecksum)
	}
	return i, nil
}

// Checksum returns the SHA-256 of an engine's file, a program or a library, in hex. Errors: ErrProgram.
func Checksum(path string) (string, error) {
	path, _, err := regular(path)
	if err != nil {
		return "", err
	}
	sum, _, err := checksum(path)
	return sum, err
}

// regular returns the absolute path of a file that can be an engine's.
func regular(name string) (path string, info os.FileInfo, err error) {
	path, err = filepath.Abs(name)
	if err != nil {
		return "", nil, fmt.Errorf("find %s: %w: %w", name, ErrProgram, err)
	}
	info, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s does not exist: %w", path, ErrProgram)
	case err != nil:
		err = fmt.Errorf("look at %s: %w: %w", path, ErrProgram, err)
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; name the program inside it: %w", path, ErrProgram)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file but %v: %w", path, info.Mode().Type(), ErrProgram)
	}
	return path, info, err
}

func checksum(path string) (sum string, info os.FileInfo, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("read %s for its checksum: %w: %w", path, ErrProgram, err)
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return "", nil, fmt.Errorf("look at %s: %w: %w", path, ErrProgram, err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", nil, fmt.Errorf("read %s for its checksum: %w: %w", path, ErrProgram, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), info, nil
}

// unchanged checks, once the program runs, that its file is still the one that was examined. A file is taken for the
// same by its inode, size and time of change; this finds a rebuild at the wrong moment, not an attack.
func (i image) unchanged() error {
	now, err := os.Stat(i.path)
	if err != nil {
		return fmt.Errorf("%s went away while it was being started: %w: %w", i.path, ErrChecksum, err)
	}
	if !os.SameFile(i.info, now) || now.Size() != i.info.Size() || !now.ModTime().Equal(i.info.ModTime()) {
		return fmt.Errorf("%s changed while it was being started; try again: %w", i.path, ErrChecksum)
	}
	return nil
}

// startError explains why the system would not run the program.
func (i image) startError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s %s: %w: %w", i.program, i.nature(), ErrProgram, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is there, but the interpreter or loader that it names is not: %w: %w", i.program, ErrProgram, err)
	}
	return fmt.Errorf("run %s: %w: %w", i.program, ErrProgram, err)
}

// nature says what a file is that the system does not take for a program.
func (i image) nature() string {
	file, err := elf.Open(i.program)
	if err != nil {
		return "is no program of this system; a script needs a first line that begins with #!"
	}
	defer file.Close()
	return fmt.Sprintf("is a program for %v (%v), this machine is %s", file.Machine, file.Class, runtime.GOARCH)
}
