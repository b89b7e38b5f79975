package rpc

// Tests of what only Linux has: sealed memory, and mappings in /proc.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
)

// An engine finds the file of the tuples in /proc of its parent. It can open it for writing, but not write or map it.
func TestTuplesCannotBeOpenedAgainForWriting(t *testing.T) {
	s := makeTestSegment(t, tupleSegment, 3)
	tuples := view[graph.Edge](s.bytes)
	tuples[0] = graph.MakeEdge(0, 1) // the host still writes
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{1}, 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("write: got %v, want EPERM", err)
	}
	_, err = unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("writable mapping: got %v, want EPERM", err)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	if err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_WRITE); !errors.Is(err, unix.EACCES) {
		t.Errorf("making a mapping writable: got %v, want EACCES", err)
	}
	if tuples[0] != graph.MakeEdge(0, 1) {
		t.Errorf("the first tuple is %v", tuples[0])
	}
}

// A stopped engine is like one that hangs.
func TestCallOfStoppedEngineEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	s.limits.grace = 200 * time.Millisecond
	client := s.open("serial")
	stop(t, client.PID()) // before the call, which a busy machine may take to the engine after the deadline
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.call(ctx, client, "search")
	if !errors.Is(err, ErrHung) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want ErrHung and DeadlineExceeded", err)
	}
	s.works(s.parents(3))
}

func TestClosingTheHostEndsStoppedEngine(t *testing.T) {
	s := newStage(t)
	s.limits.grace, s.limits.close = 100*time.Millisecond, 200*time.Millisecond
	stop(t, s.open("serial").PID())
	if err := s.Close(); !errors.Is(err, ErrHung) {
		t.Errorf("got %v, want ErrHung", err)
	}
}

// stop stops a process. Signals take time.
func stop(t *testing.T, pid int) {
	t.Helper()
	signal(t, pid, syscall.SIGSTOP)
	for stopped := false; !stopped; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		stopped = bytes.Contains(stat, []byte(") T "))
	}
}

func TestLengthOfASegmentIsFixed(t *testing.T) {
	s := makeTestSegment(t, tupleSegment, 10)
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{0, 1 << 20} {
		if err := f.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("truncate to %d: got %v, want EPERM", size, err)
		}
	}
}

func TestParentsStayAttachedUntilOthersAreNamed(t *testing.T) {
	s := newStage(t)
	client := s.open("reports its mappings")
	if _, err := client.Construct(context.Background(), s.triangle()); err != nil {
		t.Fatal(err)
	}
	first, second := s.parents(100), s.parents(200)
	for i, c := range []struct {
		parent []graph.Vertex
		want   string
	}{
		{nil, ""},
		{first, "800"},
		{first[10:20], "800"},
		{second, "1600"},
		{first, "800"},
		{nil, ""},
	} {
		_, err := client.Search(context.Background(), 0, c.parent)
		if err == nil || err.Error() != c.want {
			t.Errorf("search %d: the engine maps %v, want %q", i, err, c.want)
		}
	}
}

func TestParentsLieInHugePagesWhereTheSystemCan(t *testing.T) {
	var release unix.Utsname
	if err := unix.Uname(&release); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(release.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil || major*100+minor < 601 {
		t.Skipf("Linux %d.%d without MADV_COLLAPSE", major, minor)
	}
	// Memory may be too fragmented at the moment, so one segment proves nothing.
	refused := error(nil)
	for range 5 {
		var kib int
		if kib, refused = inHugePages(t); kib >= 16<<10 { // of 32 MiB
			return
		}
	}
	if refused != nil {
		t.Skipf("this system refuses huge pages for shared memory now: %v", refused)
	}
	t.Error("five segments of 32 MiB have less than a half in huge pages")
}

// inHugePages makes a segment of 32 MiB and returns how much of it is in huge pages, and why the rest is not.
func inHugePages(t *testing.T) (kib int, refused error) {
	s := makeTestSegment(t, parentSegment, 4<<20)
	if address := uintptr(unsafe.Pointer(unsafe.SliceData(s.bytes))); address%hugePage != 0 {
		t.Errorf("mapped at %#x", address)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, mapping, _ := bytes.Cut(smaps, []byte("/memfd:teps-parents"))
	_, huge, _ := bytes.Cut(mapping, []byte("ShmemPmdMapped:"))
	if _, err := fmt.Sscan(string(huge), &kib); err != nil {
		t.Fatal(err)
	}
	whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.bytes))), 32<<20)
	return kib, unix.Madvise(whole, unix.MADV_COLLAPSE)
}
