// SPDX-License-Identifier: Apache-2.0

package child

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func attributes(orphaned syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphaned}
}

// adoptOrphans makes this process the parent of every descendant that loses its parent. It does not fail on Linux 3.4
// and later.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// Peer returns the process ID of the other side of a Unix socket. A process of another user is an error.
func Peer(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	err = errors.Join(raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}), err)
	switch {
	case err != nil:
		return 0, err
	case peer.Uid != uint32(os.Geteuid()):
		return 0, fmt.Errorf("process %d belongs to user %d, not to %d", peer.Pid, peer.Uid, os.Geteuid())
	case peer.Pid == 0:
		return 0, errors.New("the other process is in another process namespace; start both in the same container")
	}
	return int(peer.Pid), nil
}

// Adopt watches a process that something else has started, such as a launcher, and treats it like one of Start: the
// rest of its group is killed when it has ended. The process does not die with this one, and how it ended is unknown.
// Its environment should get the variable Mark before it starts others.
func Adopt(pid int, atEnd func()) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	p := &Process{adopted: pid, mark: "TEPS_CHILD=" + rand.Text(), exited: make(chan struct{})}
	go func() {
		defer unix.Close(fd)
		for errors.Is(second(unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)), unix.EINTR) {
		}
		p.end(atEnd)
	}()
	return p, nil
}

func second(_ int, err error) error { return err }

// freezeTime is how long Freeze waits for the program to stop. A thread inside a driver may stop later; it cannot write
// to memory there.
const freezeTime = 100 * time.Millisecond

// Freeze stops the program's process group, until SIGCONT, and returns when the program has stopped.
func (p *Process) Freeze() {
	for start := time.Now(); p.Signal(syscall.SIGSTOP) == nil && !p.IsStopped() && time.Since(start) < freezeTime; {
		time.Sleep(20 * time.Microsecond)
	}
}

// IsStopped reports whether all threads of the process are stopped or gone.
func (p *Process) IsStopped() bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/stat", p.PID()))
	for _, file := range files {
		stat, err := os.ReadFile(file)
		state := string(stat[strings.LastIndex(string(stat), ")")+1:])
		if err == nil && !strings.HasPrefix(state, " T") && !strings.HasPrefix(state, " Z") {
			return false
		}
	}
	return true
}

// DescriptorPath returns the path by which other processes of this user open a file descriptor of this process. The
// process ID in it is that of /proc, which may be of an outer PID namespace. It is an error where the kernel refuses
// them: /proc is missing, or this program has capabilities (setcap) that they lack, or may not be read.
func DescriptorPath(fd uintptr) (string, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return "", err
	}
	var caps [2]unix.CapUserData
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil {
		err = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0])
	}
	if err == nil && (dumpable != 1 || os.Geteuid() != 0 && caps[0].Permitted|caps[1].Permitted != 0) {
		return "", errors.New("ptrace(2) would not be allowed")
	}
	return fmt.Sprintf("/proc/%s/fd/%d", self, fd), nil
}
