// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode"
)

// A Dir is a temporary directory of this process. A process that is killed leaves its directory behind; the next NewDir
// or Sweep finds it by the process ID in its name, whatever its prefix, and removes it unless it is locked.
type Dir struct{ lock *os.File }

const (
	maxSocketPath = 103                // bytes of a path of a Unix socket that every system accepts
	maxBase       = maxSocketPath - 70 // leaves room for the name of the directory and of a socket inside it
)

// NewDir makes a directory whose name begins with prefix (teps-WORD- or .teps-WORD-, at most 10 bytes), in os.TempDir
// or, where the paths of sockets would get too long or break the lines of go-plugin's handshake, in /tmp. First it
// removes directories whose process has died.
func NewDir(prefix string) (*Dir, error) {
	base := os.TempDir()
	if len(base) > maxBase || strings.ContainsFunc(base, func(c rune) bool { return c == '|' || unicode.IsControl(c) }) {
		base = "/tmp"
	}
	return NewDirIn(base, prefix)
}

// NewDirIn is NewDir with the directory base instead of os.TempDir.
func NewDirIn(base, prefix string) (*Dir, error) {
	Sweep()
	sweep(base)
	name, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make a directory for sockets in %s (set TMPDIR to a writable directory whose path has "+
			"at most %d bytes): %w", base, maxBase, err)
	}
	d := &Dir{}
	if d.lock, err = os.Open(name); err == nil {
		err = lock(d.lock)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), os.RemoveAll(name))
	}
	return d, nil
}

// Path returns the absolute path of the directory.
func (d *Dir) Path() string { return d.lock.Name() }

// Remove deletes the directory and everything in it.
func (d *Dir) Remove() error { return errors.Join(os.RemoveAll(d.Path()), d.lock.Close()) }

// Sweep removes directories whose process has died from the system's temporary directories.
func Sweep() {
	for _, base := range []string{os.TempDir(), "/tmp", "/dev/shm"} {
		sweep(base)
	}
}

// sweep is Sweep for one directory. The process ID alone is not enough, because it may be that of a process in another
// container; nor is the lock, because a directory is not locked when it has just been made.
func sweep(base string) {
	named := regexp.MustCompile(`^\.?teps-[a-z]+-(\d+)-`)
	names, _ := filepath.Glob(filepath.Join(base, "*teps-*"))
	for _, name := range names {
		match := named.FindStringSubmatch(filepath.Base(name))
		if match == nil {
			continue
		}
		// In a container a killed process may remain a zombie, because no process waits for it.
		pid, err := strconv.Atoi(match[1])
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !bytes.Contains(stat, []byte(") Z ")) {
			continue
		}
		if dir, err := os.Open(name); err == nil { // not another user's
			if lock(dir) == nil {
				_ = os.RemoveAll(name)
			}
			_ = dir.Close()
		}
	}
}

// lock locks a directory until the file is closed. It fails at once if another process has locked it.
func lock(dir *os.File) error {
	return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
