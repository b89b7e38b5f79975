// SPDX-License-Identifier: Apache-2.0

package rpc

// Tests of what only Linux has: sealed memory, and mappings in /proc.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// An engine finds the file of the tuples in /proc of its parent. It can open it for writing, but not write, map or cut
// it.
func TestTuplesCannotBeOpenedAgainForWriting(t *testing.T) {
	s := makeTestSegment(t, tupleSegment, 3)
	tuples := view[graph.Edge](s.bytes)
	tuples[0] = graph.MakeEdge(0, 1) // the host still writes
	f := must.Get(os.OpenFile(s.path, os.O_RDWR, 0))
	defer f.Close()
	for _, size := range []int64{0, 1 << 20} {
		must.Is(t, f.Truncate(size), unix.EPERM)
	}
	must.Is(t, must.Err(f.WriteAt([]byte{1}, 0)), unix.EPERM)
	must.Is(t, must.Err(unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)), unix.EPERM)
	m := must.Get(unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_SHARED))
	defer unix.Munmap(m)
	must.Is(t, unix.Mprotect(m, unix.PROT_READ|unix.PROT_WRITE), unix.EACCES)
	if tuples[0] != graph.MakeEdge(0, 1) {
		t.Errorf("the first tuple is %v", tuples[0])
	}
}

// A host can tell a stopped engine from a slow one.
func TestCallOfStoppedEngineEndsBeforeItsContext(t *testing.T) {
	s := newStage(t)
	s.limits.grace, s.limits.stopped = 100*time.Millisecond, 200*time.Millisecond
	client := s.open("serial")
	stop(t, client.PID())
	err := s.call(t.Context(), client, "search")
	must.Is(t, err, ErrHung, fmt.Sprintf("process %d was stopped", client.PID()))
	s.works(s.parents(3))
}

// An engine that works on after its call changes nothing while it is frozen, and goes on in the next call.
func TestFrozenEngineChangesNothing(t *testing.T) {
	s := newStage(t)
	client := s.open("works on")
	must.Get(client.Construct(context.Background(), s.triangle()))
	parent := s.parents(3)
	must.Get(client.Search(context.Background(), 0, plugins.Output{Parent: parent}))
	client.Freeze()
	frozen := atomic.LoadInt64((*int64)(&parent[0]))
	time.Sleep(20 * time.Millisecond)
	if now := atomic.LoadInt64((*int64)(&parent[0])); now != frozen {
		t.Errorf("parent[0] was %d when the engine was frozen, and is %d", frozen, now)
	}
	must.Get(client.Describe(context.Background()))
	for atomic.LoadInt64((*int64)(&parent[0])) == frozen { // forever, if the call did not thaw the engine
		time.Sleep(time.Millisecond)
	}
	client.Freeze()
	must.Do(client.Close())
}

// stop stops a process. Signals take time.
func stop(t *testing.T, pid int) {
	t.Helper()
	signal(t, pid, syscall.SIGSTOP)
	for stopped := false; !stopped; time.Sleep(time.Millisecond) {
		stat := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
		stopped = bytes.Contains(stat, []byte(") T "))
	}
}

func TestParentsStayAttachedUntilOthersAreNamed(t *testing.T) {
	s := newStage(t)
	client := s.open("reports its mappings")
	must.Get(client.Construct(context.Background(), s.triangle()))
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
		_, err := client.Search(context.Background(), 0, plugins.Output{Parent: c.parent})
		if err == nil || err.Error() != c.want {
			t.Errorf("search %d: the engine maps %v, want %q", i, err, c.want)
		}
	}
}

func TestParentsLieInHugePagesWhereTheSystemCan(t *testing.T) {
	var release unix.Utsname
	must.Do(unix.Uname(&release))
	var major, minor int
	must.Get(fmt.Sscanf(unix.ByteSliceToString(release.Release[:]), "%d.%d", &major, &minor))
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
	smaps := must.Get(os.ReadFile("/proc/self/smaps"))
	_, mapping, _ := bytes.Cut(smaps, []byte("/memfd:teps-parents"))
	_, huge, _ := bytes.Cut(mapping, []byte("ShmemPmdMapped:"))
	must.Get(fmt.Sscan(string(huge), &kib))
	whole := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.bytes))), 32<<20)
	return kib, unix.Madvise(whole, unix.MADV_COLLAPSE)
}

// A host with capabilities is not dumpable, and a host may see the /proc of another PID namespace, or none.
func TestSegmentIsAFileWhereProcIsClosed(t *testing.T) {
	must.Do(unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	defer func() { must.Do(unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) }()
	s := must.Get(newSegment(1, parentSegment, 100, present))
	if strings.HasPrefix(s.path, "/proc/") {
		t.Errorf("the segment is %s", s.path)
	}
	engine := must.Get(attachFile(s.path, 800, true, false))
	view[graph.Vertex](engine.bytes)[99] = 7
	if got := view[graph.Vertex](s.bytes)[99]; got != 7 {
		t.Errorf("the host sees %d", got)
	}
	must.Do(engine.unmap(), s.release())
	must.Is(t, must.Err(os.Stat(filepath.Dir(s.path))), os.ErrNotExist)
}
