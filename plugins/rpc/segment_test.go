// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// makeTestSegment makes a segment that the test releases.
func makeTestSegment(t testing.TB, kind segmentKind, n int64) *segment {
	t.Helper()
	s := must.Get(newSegment(1, kind, n, present))
	t.Cleanup(func() { must.Do(s.release()) })
	return s
}

func TestTemporaryFileServesAsSegmentWithoutMemfd(t *testing.T) {
	dir := shortDirectory(t)
	const size = 3 * graph.EdgeBytes
	f, path, discard, err := openFile(dir, size)
	must.Do(err)
	host := must.Get(mapFile(f, size, true))
	view[graph.Edge](host.bytes)[2] = graph.MakeEdge(5, 6)
	engine := must.Get(attachFile(path, size, false, false))
	if got := view[graph.Edge](engine.bytes)[2]; got != graph.MakeEdge(5, 6) {
		t.Errorf("the engine sees %v", got)
	}
	must.Do(engine.unmap(), host.unmap(), discard())
	if left := entries(dir); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestAttachRefusesFilesThatWereNotAnnounced(t *testing.T) {
	s := makeTestSegment(t, parentSegment, 100)
	pipe := first(os.Pipe())
	defer pipe.Close()
	fd := func(n int) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n) }
	for _, c := range map[string]struct {
		path  string
		size  int64
		words string
	}{
		"no such descriptor": {fd(9999), 800, "same user"},
		"no such process":    {"/proc/4194305/fd/3", 800, "same user"},
		"relative path":      {"segment", 800, "not absolute"},
		"directory":          {"/proc", 800, "directory"},
		"device":             {"/dev/zero", 800, "want a regular file"},
		"pipe":               {fd(int(pipe.Fd())), 800, ""},
		"shorter":            {s.path, 801, "it has 800 bytes instead of 801"},
		"longer":             {s.path, 799, "it has 800 bytes instead of 799"},
	} {
		must.Fail(t, must.Err(attachFile(c.path, c.size, true, false)), c.words)
	}
}

func TestRequestForElementsOutsideOfASegmentIsRefused(t *testing.T) {
	st := newStage(t)
	client := st.open("serial")
	must.Get(client.Construct(context.Background(), st.triangle()))
	parents := st.parents(10)
	named := must.Get(segmentOf(st.Host, parentSegment, parents, present))
	for name, change := range map[string]func(*enginepb.Segment){
		"one too many":    func(w *enginepb.Segment) { w.Count = 11 },
		"negative":        func(w *enginepb.Segment) { w.First = -1 },
		"sum overflows":   func(w *enginepb.Segment) { w.First, w.Count = 1, math.MaxInt64 },
		"total overflows": func(w *enginepb.Segment) { w.Total, w.Count = math.MaxInt64/8, math.MaxInt64/8 },
		"wrong total":     func(w *enginepb.Segment) { w.Total = 11 },
		"wrong path":      func(w *enginepb.Segment) { w.Id, w.Path = 99, w.Path+"9999" },
		"relative path":   func(w *enginepb.Segment) { w.Id, w.Path = 99, "segment" },
	} {
		wire := proto.CloneOf(named)
		change(wire)
		_, err := client.engine.Search(context.Background(), &enginepb.SearchRequest{Parent: wire})
		if answer, ok := FromStatus(err); !ok || !errors.Is(answer, ErrSegment) {
			t.Errorf("%s: got %v, want ErrSegment", name, err)
		}
	}
	must.Get(client.Search(context.Background(), 0, plugins.Output{Parent: parents}))
}

func TestOnlyMemoryOfTheHostIsSharedAndEveryPartOfIt(t *testing.T) {
	s := newStage(t)
	input, around, client := s.triangle(), s.parents(10), s.open("serial")
	must.Get(client.Construct(context.Background(), input))
	must.Get(client.Search(context.Background(), 2, plugins.Output{Parent: around[3:6]}))
	if got := fmt.Sprint(around[2:7]); got != fmt.Sprint([]graph.Vertex{graph.Unwritten, 2, 2, 2, graph.Unwritten}) {
		t.Errorf("the parents and their neighbors: %s", got)
	}
	_, err := client.Search(t.Context(), 2, plugins.Output{Parent: make([]graph.Vertex, 3)})
	must.Is(t, err, ErrSegment, "Host.Parents")
	input.Tuples = slices.Clone(input.Tuples)
	must.Is(t, must.Err(client.Construct(t.Context(), input)), ErrSegment)
}

func TestImpossibleSizesAreRefused(t *testing.T) {
	s := newStage(t)
	for _, n := range []int64{-1, math.MaxInt64, math.MaxInt64 / 12} {
		_, _, err := s.Tuples(n)
		must.Is(t, err, ErrSegment)
	}
	_, _, err := s.Parents(1 << 57)
	must.Is(t, err, plugins.ErrMemory)
	empty, release, err := s.Tuples(0)
	if err != nil || len(empty) != 0 {
		t.Fatalf("no tuples: got %d and %v", len(empty), err)
	}
	must.Do(release())
}

// A file's tuples are read into room that is larger than the machine's memory.
func TestReserveTakesWhatIsWrittenAndTrimMakesItASegment(t *testing.T) {
	s := newStage(t)
	triangle := s.triangle().Tuples
	for _, n := range []int{len(triangle), 0} {
		room, release, err := s.Reserve(1 << 36)
		must.Do(err)
		copy(room, triangle)
		must.Is(t, must.Err(s.open("serial").Construct(context.Background(), plugins.Input{Tuples: room[:3]})), ErrSegment)
		must.Is(t, s.Trim(room[1:2]), ErrSegment)
		tuples := room[:n]
		must.Do(s.Trim(tuples))
		if n > 0 {
			must.Get(s.open("serial").Construct(context.Background(), plugins.Input{Tuples: tuples}))
			tuples[0] = triangle[1] // the host may write still
		}
		must.Is(t, s.Trim(tuples), ErrSegment)
		zero := must.Get(os.Open("/dev/zero"))
		_, err = zero.Read(unsafe.Slice((*byte)(unsafe.Pointer(&room[1<<20])), 1))
		if zero.Close(); !errors.Is(err, unix.EFAULT) {
			t.Errorf("memory behind the tuples can be written (%v)", err)
		}
		must.Do(release())
	}
}

// The addresses on both sides of an array are inaccessible for host and engine, except those up to the end of the last
// page. This array ends with a page.
func TestMemoryAroundAnArrayIsInaccessible(t *testing.T) {
	const n = 1 << 10
	s := makeTestSegment(t, parentSegment, n)
	attached := must.Get(attachFile(s.path, n*vertexBytes, true, false))
	zero := must.Get(os.Open("/dev/zero"))
	defer zero.Close()
	for name, memory := range map[string][]byte{"host": s.bytes, "engine": attached.bytes} {
		start := unsafe.Pointer(unsafe.SliceData(memory))
		touch := func(at int) error { // the kernel writes there, or returns EFAULT
			_, err := zero.Read(unsafe.Slice((*byte)(unsafe.Add(start, at)), 1))
			return err
		}
		for _, inside := range []int{0, len(memory) - 1} {
			if err := touch(inside); err != nil {
				t.Errorf("%s: byte %d: %v", name, inside, err)
			}
		}
		for _, outside := range []int{-guardBytes, -8, -1, len(memory), len(memory) + 4096, len(memory) + guardBytes - 1} {
			must.Is(t, touch(outside), unix.EFAULT)
		}
	}
	must.Do(attached.unmap())
}
