package distributed

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Rank 0 talks to the engine over the standard input and output of mpirun, which reach any host and carry some 50 MB/s;
// or, when both are on one host, over a socket, which carries a hundred times as much. The engine offers the socket, and
// rank 0 takes it if it can.

// overStdio is the first line of a rank 0 that could not connect.
const overStdio = "teps-rank: standard input and output\n"

// shortcut is a temporary folder of a job, with the socket and what mpirun writes on this host. It lives as long as the
// job. An engine that is killed leaves it behind; the next job finds it by its name and, because the owner holds a lock on
// the folder while it lives, knows that it is stale.
type shortcut struct {
	path     string // of the socket
	lock     *os.File
	listener net.Listener
}

const (
	folderPrefix = "teps-mpi-"
	longestBase  = 60 // a socket's path has at most 103 bytes
)

func newShortcut() (*shortcut, error) {
	base := os.TempDir()
	if len(base) > longestBase {
		base = "/tmp"
	}
	sweep(base)
	folder, err := os.MkdirTemp(base, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make a folder for a socket in %s (TMPDIR chooses another place; its path may have at most %d bytes, because a socket's is limited): %w", base, longestBase, err)
	}
	s := &shortcut{path: filepath.Join(folder, "rank0")}
	if s.lock, err = os.Open(folder); err == nil {
		if err = syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			s.listener, err = net.Listen("unix", s.path)
		}
	}
	if err != nil {
		s.remove()
		return nil, errors.Join(fmt.Errorf("make a socket in %s: %w", folder, err), os.RemoveAll(folder))
	}
	return s, nil
}

// folder is where mpirun may write.
func (s *shortcut) folder() string { return filepath.Dir(s.path) }

// close ends the offer; who has connected stays connected.
func (s *shortcut) close() { _ = s.listener.Close() }

// remove deletes the folder with all that is in it.
func (s *shortcut) remove() {
	_ = os.RemoveAll(s.folder())
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// sweep removes folders whose owner has died. Both signs are asked for: the lock alone would take a folder that its owner
// has just made, the process number alone one of an engine in another container.
func sweep(base string) {
	names, _ := filepath.Glob(filepath.Join(base, folderPrefix+"*"))
	for _, name := range names {
		var pid int
		n, _ := fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), folderPrefix), "%d-", &pid)
		if n != 1 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		lock, err := os.Open(name)
		if err != nil {
			continue // somebody else's
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(name)
		}
		_ = lock.Close()
	}
}

// ConnectRank returns what rank 0 reads from and writes to.
func ConnectRank(socket string, stdin io.Reader, stdout io.Writer) (io.Reader, io.Writer, error) {
	if socket != "" {
		if connection, err := net.Dial("unix", socket); err == nil {
			return connection, connection, nil
		}
	}
	_, err := io.WriteString(stdout, overStdio)
	return stdin, stdout, err
}
