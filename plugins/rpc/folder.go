package rpc

// A folder is a private temporary directory of this process, for the sockets of engines that are being started (and,
// where there is no memfd, for segments). Sockets are unlinked as soon as a connection stands, so a folder normally
// lives for milliseconds. A host that is killed meanwhile leaves one behind; the next host finds it by its name and,
// because the owner holds a lock on the folder as long as it lives, knows that it is stale.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	folderPrefix = "teps-host-"
	// socketRoom is what go-plugin appends to a folder's name for a socket, generously: /plugin-dir<10>/plugin<10>.
	socketRoom = 48
	// socketLimit is the longest path of a Unix socket that every system takes.
	socketLimit = 103
	// longestBase is the longest path, in bytes, of a folder in which a host's folder has room for sockets. A process number
	// and a random one take up to 20.
	longestBase = socketLimit - socketRoom - 20 - len(folderPrefix) - 1
)

// folder is made by the first call of path.
type folder struct {
	mu   sync.Mutex
	lock *os.File // the open folder; nil: not made
}

// path returns the folder's path, and makes it if need be.
func (f *folder) path() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock != nil {
		return f.lock.Name(), nil
	}
	base := folderBase(os.TempDir())
	name, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("rpc: make a folder for sockets in %s (TMPDIR chooses another place; its path may have at most %d bytes, because a socket's is limited): %w", base, longestBase, err)
	}
	lock, err := os.Open(name)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("rpc: lock %s: %w", name, err), os.RemoveAll(name))
	}
	f.lock = lock
	return name, nil
}

// remove deletes the folder with all that is in it. A later path makes another one.
func (f *folder) remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return nil
	}
	err := errors.Join(os.RemoveAll(f.lock.Name()), f.lock.Close())
	f.lock = nil
	if err != nil {
		return fmt.Errorf("rpc: remove the folder for sockets: %w", err)
	}
	return nil
}

// folderBase returns temp, or /tmp where the path of a socket inside temp would be too long for the system.
func folderBase(temp string) string {
	if len(temp) > longestBase {
		return "/tmp"
	}
	return temp
}

// sweep removes folders whose owner has died. Both signs are asked for: the lock alone would take a folder that its
// owner has just made and not locked yet, the process number alone one of a host in another container.
func sweep(base string) {
	names, _ := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	for _, name := range names {
		var pid int
		if n, _ := fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), folderPrefix), "%d-", &pid); n != 1 || alive(pid) {
			continue
		}
		lock, err := os.Open(name)
		if err != nil {
			continue // somebody else's
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(name)
		}
		lock.Close()
	}
}

// alive tells whether a process exists.
func alive(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
