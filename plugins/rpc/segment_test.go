package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// make makes a segment that the test releases.
func makeTestSegment(t testing.TB, kind segmentKind, n int64) *segment {
	t.Helper()
	s, err := makeSegment(kind, n, func() (string, error) { return t.TempDir(), nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.release(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestWhatOneSideWritesTheOtherSees(t *testing.T) {
	s := makeTestSegment(t, parentSegment, 1000)
	host := view[graph.Vertex](s.elements())
	host[999] = 42
	memory, err := attach(s.id, s.path, parentSegment, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap(memory)
	engine := view[graph.Vertex](memory[segmentHeader:])
	if len(engine) != 1000 || engine[999] != 42 {
		t.Fatalf("the engine sees %d vertices, the last is %d", len(engine), engine[len(engine)-1])
	}
	engine[0] = 7
	if host[0] != 7 {
		t.Errorf("the host sees %d", host[0])
	}
}

func TestAFileServesAsASegmentWhereThereIsNoMemfd(t *testing.T) {
	folder := t.TempDir()
	s := &segment{kind: tupleSegment, count: 3}
	rand.Read(s.id[:])
	if err := s.backFile(segmentHeader+3*graph.EdgeBytes, func() (string, error) { return folder, nil }); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.memory, err = mapFile(s.file, segmentHeader+3*graph.EdgeBytes, true, false); err != nil {
		t.Fatal(err)
	}
	copy(s.memory, s.header())
	view[graph.Edge](s.elements())[2] = graph.MakeEdge(5, 6)
	memory, err := attach(s.id, s.path, tupleSegment, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap(memory)
	if got := view[graph.Edge](memory[segmentHeader:])[2]; got != graph.MakeEdge(5, 6) {
		t.Errorf("the engine sees %v", got)
	}
	if err := s.release(); err != nil {
		t.Error(err)
	}
	if left := entries(folder); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestASegmentThatIsNotWhatWasAnnouncedIsRefused(t *testing.T) {
	s := makeTestSegment(t, parentSegment, 100)
	damaged := func(at int, value byte) *segment {
		d := makeTestSegment(t, parentSegment, 100)
		d.memory[at] += value
		return d
	}
	file := func(size int64) string {
		path := filepath.Join(t.TempDir(), "segment")
		header := make([]byte, segmentHeader)
		copy(header, s.header())
		if err := os.WriteFile(path, header, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	fd := func(n int) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), n) }

	for name, c := range map[string]struct {
		path  string
		kind  segmentKind
		total int64
		id    segmentID
		words string
	}{
		"no such descriptor":  {fd(9999), parentSegment, 100, s.id, "same user"},
		"no such process":     {"/proc/4194305/fd/3", parentSegment, 100, s.id, "same user"},
		"relative path":       {"segment", parentSegment, 100, s.id, "not absolute"},
		"folder":              {"/proc", tupleSegment, 100, s.id, "not memory"},
		"device":              {"/dev/zero", parentSegment, 100, s.id, "not memory"},
		"pipe":                {fd(int(pipe.Fd())), tupleSegment, 100, s.id, "not memory"},
		"empty file":          {file(0), parentSegment, 100, s.id, "0 bytes long"},
		"header alone":        {file(segmentHeader), parentSegment, 100, s.id, "100 parents need 4896"},
		"too short":           {file(segmentHeader + 799), parentSegment, 100, s.id, "is 4895 bytes long"},
		"too long":            {file(segmentHeader + 801), parentSegment, 100, s.id, "is 4897 bytes long"},
		"another kind":        {s.path, tupleSegment, 100, s.id, "holds parents, not tuples"},
		"another number":      {s.path, parentSegment, 99, s.id, "announced were 99"},
		"another segment":     {s.path, parentSegment, 100, segmentID{1}, "its id is"},
		"wrong magic":         {damaged(0, 1).path, parentSegment, 100, s.id, "starts with"},
		"other layout":        {damaged(8, 1).path, parentSegment, 100, s.id, "version 2"},
		"other element size":  {damaged(16, 4).path, parentSegment, 100, s.id, "12 bytes"},
		"reserved bytes used": {damaged(20, 1).path, parentSegment, 100, s.id, "id is"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "reserved bytes used" { // only then is everything else right
				d := damaged(20, 1)
				c.path, c.id, c.words = d.path, d.id, "unknown contents"
			}
			memory, err := attach(c.id, c.path, c.kind, c.total)
			if !errors.Is(err, ErrSegment) {
				t.Fatalf("got %d bytes and %v, want ErrSegment", len(memory), err)
			}
			mention(t, err, c.words)
		})
	}
}

func TestARequestForElementsOutsideOfASegmentIsRefused(t *testing.T) {
	st := newStage(t, HostOptions{})
	client := st.open("serial")
	if _, err := client.Construct(context.Background(), st.triangle()); err != nil {
		t.Fatal(err)
	}
	parents := st.parents(10)
	l, err := lend(st.Host, parentSegment, parents)
	if err != nil {
		t.Fatal(err)
	}
	defer st.giveBack(l)
	for name, change := range map[string]func(*enginepb.Segment){
		"one too many":    func(w *enginepb.Segment) { w.Count = 11 },
		"negative":        func(w *enginepb.Segment) { w.First = -1 },
		"sum overflows":   func(w *enginepb.Segment) { w.First, w.Count = 1, math.MaxInt64 },
		"total overflows": func(w *enginepb.Segment) { w.Total, w.Count = math.MaxInt64/8, math.MaxInt64/8 },
		"short id":        func(w *enginepb.Segment) { w.Id = w.Id[:3] },
		"unknown id":      func(w *enginepb.Segment) { w.Id = make([]byte, 16) },
		"wrong total":     func(w *enginepb.Segment) { w.Total = 11 },
		"wrong path":      func(w *enginepb.Segment) { w.Path += "9999" },
	} {
		wire := toWire(l, len(parents))
		wire.Id = slices.Clone(wire.Id)
		change(wire)
		_, err := client.engine.Search(context.Background(), &enginepb.SearchRequest{Parent: wire})
		if answer, ok := fromStatus(err); !ok || !errors.Is(answer, ErrSegment) {
			t.Errorf("%s: got %v, want ErrSegment", name, err)
		}
	}
	if _, err := client.Search(context.Background(), 0, parents); err != nil {
		t.Errorf("a right request afterwards: %v", err)
	}
}

func TestAShortParentArrayIsTheEnginesError(t *testing.T) {
	s := newStage(t, HostOptions{})
	client := s.open("serial")
	if _, err := client.Construct(context.Background(), s.triangle()); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{0, 2} {
		if _, err := client.Search(context.Background(), 0, s.parents(n)); !errors.Is(err, plugins.ErrParent) {
			t.Errorf("%d parents: got %v, want ErrParent", n, err)
		}
	}
}

func TestSlicesFromAnywhereWork(t *testing.T) {
	s := newStage(t, HostOptions{})
	shared, private := s.triangle(), plugins.Graph{Tuples: []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 0)}}
	around := s.parents(10)
	client := s.open("serial")
	for _, g := range []plugins.Graph{shared, private} {
		if _, err := client.Construct(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		for _, parent := range [][]graph.Vertex{around[3:6], make([]graph.Vertex, 3)} {
			if _, err := client.Search(context.Background(), 2, parent); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(parent); got != "[2 2 2]" {
				t.Errorf("parents %s, want [2 2 2]", got)
			}
		}
	}
	if around[2] != graph.Unwritten || around[6] != graph.Unwritten {
		t.Errorf("beside the parents: %v", around)
	}
}

func TestASegmentInUseIsNotReleased(t *testing.T) {
	s := newStage(t, HostOptions{})
	client := s.open("waits")
	parent, release, err := s.Parents(3)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		close(started)
		client.Search(ctx, 0, parent)
	}()
	<-started
	for used := false; !used; {
		s.mu.Lock()
		for _, uses := range s.segments {
			used = used || uses > 0
		}
		s.mu.Unlock()
	}
	if err := release(); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	cancel()
	<-done
	parent[0] = 1 // still there
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestImpossibleSizesAreRefused(t *testing.T) {
	s := newStage(t, HostOptions{})
	for _, n := range []int64{-1, math.MaxInt64, math.MaxInt64 / 12} {
		if _, _, err := s.Tuples(n); !errors.Is(err, ErrSegment) {
			t.Errorf("%d tuples: got %v, want ErrSegment", n, err)
		}
	}
	if _, _, err := s.Parents(1 << 57); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("2^57 parents: got %v, want ErrMemory", err)
	}
	empty, release, err := s.Tuples(0)
	if err != nil || len(empty) != 0 {
		t.Fatalf("no tuples: got %d and %v", len(empty), err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// Arrays of 2^9 parents and more end with a page. What lies behind them is shut, for the host and for an engine.
func TestTheMemoryBehindAnArrayIsShut(t *testing.T) {
	const n = 1 << 10
	s := makeTestSegment(t, parentSegment, n)
	attached, err := attach(s.id, s.path, parentSegment, n)
	if err != nil {
		t.Fatal(err)
	}
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	for name, memory := range map[string][]byte{"host": s.memory, "engine": attached} {
		start := unsafe.Pointer(unsafe.SliceData(memory))
		touch := func(at int) error { // the kernel writes there, or says EFAULT
			_, err := zero.Read(unsafe.Slice((*byte)(unsafe.Add(start, at)), 1))
			return err
		}
		if err := touch(len(memory) - 1); err != nil {
			t.Errorf("%s: the last parent: %v", name, err)
		}
		for _, beyond := range []int{0, 7, 4096, guardBytes - 1} {
			if err := touch(len(memory) + beyond); !errors.Is(err, unix.EFAULT) {
				t.Errorf("%s: byte %d behind the array can be written to (%v)", name, beyond, err)
			}
		}
	}
	if err := unmap(attached); err != nil {
		t.Error(err)
	}
}
