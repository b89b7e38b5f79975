package rpc

// What only Linux offers: sealed memory, and the state of a process and its mappings in /proc.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func TestAStoppedEngineIsFoundDuringACall(t *testing.T) {
	s := newStage(t, HostOptions{StopLimit: time.Second})
	start := time.Now()
	err := s.call(context.Background(), s.open("stops"), "search")
	if !errors.Is(err, ErrStopped) {
		t.Fatalf("got %v, want ErrStopped", err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("noticed after %v", took)
	}
	s.works(s.parents(3))
}

func TestAStoppedEngineIsFoundByTheDeadline(t *testing.T) {
	s := newStage(t, HostOptions{Grace: 200 * time.Millisecond})
	client := s.open("stops")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	err := s.call(ctx, client, "search")
	if !errors.Is(err, ErrStopped) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want ErrStopped and DeadlineExceeded", err)
	}
}

func TestClosingTheHostEndsAStoppedEngine(t *testing.T) {
	s := newStage(t, HostOptions{Grace: 200 * time.Millisecond, StopLimit: 500 * time.Millisecond})
	client := s.open("serial")
	stop(t, client.PID())
	for !isStopped(client.PID()) {
		time.Sleep(time.Millisecond) // signals take their time
	}
	start := time.Now()
	if err := s.Close(); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v, want ErrStopped", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestTheLengthOfASegmentIsFixed(t *testing.T) {
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

func TestASegmentWhoseLengthIsNotSealedIsRefused(t *testing.T) {
	s := &segment{kind: parentSegment, count: 100}
	fd, err := memfd("teps-test")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, segmentHeader+800); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Pwrite(fd, s.header(), 0); err != nil {
		t.Fatal(err)
	}
	_, err = attach(s.id, fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), parentSegment, 100)
	if !errors.Is(err, ErrSegment) {
		t.Fatalf("got %v, want ErrSegment", err)
	}
	mention(t, err, "not sealed")
}

func TestTheStateOfAProcessIsReadBehindItsName(t *testing.T) {
	if isStopped(os.Getpid()) {
		t.Error("this process is stopped, it says")
	}
	if isStopped(1 << 30) {
		t.Error("a process that does not exist is stopped, it says")
	}
}

func TestParentsStayAttachedUntilTheHostReleasesThem(t *testing.T) {
	s := newStage(t, HostOptions{})
	client := s.open("reports its mappings")
	mappings := func(parent []graph.Vertex) string {
		_, err := client.Search(context.Background(), 0, parent)
		if err == nil {
			t.Fatal("no report")
		}
		return err.Error()
	}
	tuples, releaseTuples, err := s.Tuples(5)
	if err != nil {
		t.Fatal(err)
	}
	first, releaseFirst, err := s.Parents(100)
	if err != nil {
		t.Fatal(err)
	}
	second, releaseSecond, err := s.Parents(100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Construct(context.Background(), plugins.Graph{Tuples: tuples}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		parent  []graph.Vertex
		release func() error
		want    string
	}{
		{nil, nil, ""},
		{first, nil, "parents"},
		{first[10:20], nil, "parents"},
		{second, releaseTuples, "parents parents"},
		{first, releaseSecond, "parents parents"},
		{first, nil, "parents"},
		{make([]graph.Vertex, 7), releaseFirst, "parents parents"}, // one of them for this call alone
		{nil, nil, ""},
	} {
		if got := mappings(c.parent); got != c.want {
			t.Errorf("search %d: the engine maps %q, want %q", i, got, c.want)
		}
		if c.release != nil {
			if err := c.release(); err != nil {
				t.Error(err)
			}
			if err := c.release(); err != nil {
				t.Errorf("a second release: %v", err)
			}
		}
	}
}

func TestAttachingLeavesNoMappingBehind(t *testing.T) {
	mappings := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(maps, []byte{'\n'})
	}
	s := makeTestSegment(t, parentSegment, 3000)
	before := mappings()
	for range 300 {
		memory, err := attach(s.id, s.path, parentSegment, 3000)
		if err != nil {
			t.Fatal(err)
		}
		if err := unmap(memory); err != nil {
			t.Fatal(err)
		}
	}
	if after := mappings(); after > before+50 { // Go's own heap may grow
		t.Errorf("%d mappings before, %d after", before, after)
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
	// Memory may be too fragmented now, and no longer a moment later, so one segment says nothing.
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

// inHugePages makes a segment of 32 MiB and returns how much of it is in huge pages, and what keeps the rest out of them.
func inHugePages(t *testing.T) (kib int, refused error) {
	s := makeTestSegment(t, parentSegment, 4<<20)
	if address := uintptr(unsafe.Pointer(unsafe.SliceData(s.memory))); address%hugePage != 0 {
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
	whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.memory))), 32<<20)
	return kib, unix.Madvise(whole, unix.MADV_COLLAPSE)
}
