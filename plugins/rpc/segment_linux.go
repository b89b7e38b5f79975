// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/child"
)

// openBacking makes the file of a segment: a memfd where engines can open it, as /proc/PID/fd/N of the host.
func openBacking(name string, size int64) (f *os.File, path string, discard func() error, err error) {
	fd, err := memfd(name)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return openFile(memoryDir(size), size) // a sandbox without memfd
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("memfd_create: %w", err)
	}
	f = os.NewFile(uintptr(fd), name)
	if path, err = child.DescriptorPath(f.Fd()); err != nil {
		_ = f.Close()
		return openFile(memoryDir(size), size)
	}
	if err = f.Truncate(size); err != nil {
		return nil, "", nil, errors.Join(fmt.Errorf("set the length of a memfd: %w", err), f.Close())
	}
	return f, path, f.Close, nil
}

// memoryDir returns a directory for a file of a size, in memory if there is room.
func memoryDir(size int64) string {
	const dir = "/dev/shm"
	var free unix.Statfs_t
	if unix.Statfs(dir, &free) == nil && int64(free.Bavail)*free.Bsize > size {
		return dir
	}
	return os.TempDir()
}

// seal fixes the length of a file, and its seals. A file that is not writable becomes read-only for everyone who has
// not mapped it yet, even if opened again for writing; before Linux 5.1, and without memfd, that is not possible.
func seal(f *os.File, writable bool) {
	if !writable {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE)
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
}

// memfd makes a memfd that can be sealed. Linux 6.3 and later warn without MFD_NOEXEC_SEAL, which older ones reject.
func memfd(name string) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	return fd, err
}

const chunk = 64 << 20 // bytes that a goroutine works on at a time

// inChunks calls work for all parts of memory on all processors, because page faults limit the making of pages.
func inChunks(memory []byte, work func(part []byte) error) (failed error) {
	var once sync.Once
	_, _ = graph.Parallel(context.Background(), runtime.GOMAXPROCS(0), int64(len(memory)), chunk,
		func(_ int, first, last int64) bool {
			err := work(memory[first:last])
			if err != nil {
				once.Do(func() { failed = err })
			}
			return err == nil
		})
	return failed
}

// collapse gives a new mapping huge pages if the system has any left. Few systems use them for shared memory by default
// (transparent_hugepage/shmem_enabled is usually "never"), but since Linux 6.1 MADV_COLLAPSE makes one of any 2 MiB
// that have a page present.
func collapse(memory []byte) {
	_ = inChunks(memory[:len(memory)&^(hugePage-1)], func(part []byte) error {
		for at := 0; at < len(part); at += hugePage {
			_ = unix.Madvise(part[at:at+1], unix.MADV_POPULATE_WRITE) // changes nothing
		}
		_ = unix.Madvise(part, unix.MADV_COLLAPSE)
		return nil
	})
}

// populate makes every page of memory present, so that page faults do not happen inside a measured time.
func populate(memory []byte, writable bool) error {
	advice := unix.MADV_POPULATE_READ
	if writable {
		advice = unix.MADV_POPULATE_WRITE
	}
	err := inChunks(memory, func(part []byte) error { return unix.Madvise(part, advice) })
	if errors.Is(err, unix.EINVAL) {
		return nil // before Linux 5.14: pages come with their first use
	}
	return err
}
