package rpc

// Linux backs a segment with a memfd: memory without a name, which is gone with its last user, however they die.
// An engine opens it as /proc/<host's pid>/fd/<n>, which also works for segments made after the engine was started.

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// back makes the file behind the segment, of a fixed size.
func (s *segment) back(size int64, dir func() (string, error)) error {
	fd, err := memfd("teps-" + s.kind.String())
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return s.backFile(size, dir) // a sandbox without memfd
	}
	if err != nil {
		return fmt.Errorf("memfd_create: %w", err)
	}
	s.file = os.NewFile(uintptr(fd), "teps-"+s.kind.String())
	s.path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd)
	s.discard = s.file.Close
	if err := s.file.Truncate(size); err != nil {
		return errors.Join(err, s.discard())
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		return errors.Join(fmt.Errorf("seal the memfd: %w", err), s.discard())
	}
	return nil
}

// memfd makes a sealable memfd. Kernels from 6.3 on want to be told that it holds no program; older ones refuse the
// flag that says so.
func memfd(name string) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	return fd, err
}

// checkSeals refuses a memfd whose length could change under the engine's feet. Files that are no memfd have no seals
// and are trusted to keep their length.
func checkSeals(f *os.File) error {
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read its seals: %w: %w", ErrSegment, err)
	}
	if fixed := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW; seals&fixed != fixed {
		return fmt.Errorf("its length is not sealed (seals %#x): %w", seals, ErrSegment)
	}
	return nil
}

// chunk is what one goroutine works on at a time, in bytes.
const chunk = 64 << 20

// inChunks works on all of memory, on all processors: pages are bound by page faults, not by memory bandwidth.
func inChunks(memory []byte, work func(part []byte) error) error {
	parts := make(chan []byte)
	failures := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range failures {
		workers.Go(func() {
			for part := range parts {
				if failures[i] == nil {
					failures[i] = work(part)
				}
			}
		})
	}
	for len(memory) > 0 {
		n := min(len(memory), chunk)
		parts <- memory[:n]
		memory = memory[n:]
	}
	close(parts)
	workers.Wait()
	return errors.Join(failures...)
}

// allocateHuge gives a fresh mapping huge pages. Few systems grant them to shared memory by themselves (the setting
// transparent_hugepage/shmem_enabled is "never" by default), but since Linux 6.1 MADV_COLLAPSE makes them on demand,
// from a stretch of 2 MiB of which one page is there. Where it cannot, small pages stay or come later.
func allocateHuge(memory []byte) {
	_ = inChunks(memory[:len(memory)&^(hugePage-1)], func(part []byte) error {
		for at := 0; at < len(part); at += hugePage {
			part[at] = 0
		}
		return unix.Madvise(part, unix.MADV_COLLAPSE)
	})
}

// populate makes every page of memory present. Attaching a segment of huge pages takes next to no time.
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
