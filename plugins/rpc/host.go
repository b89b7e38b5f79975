// Package rpc runs engines in processes of their own: it is the transport between plugins.Engine at the host and
// plugins.Engine in an engine's program, and the only package that knows go-plugin and gRPC.
//
// An engine's main function calls Serve. A host makes one Host, gets its tuples and parent arrays from it, and opens
// programs; a Client is a plugins.Engine:
//
//	host, err := rpc.NewHost(rpc.HostOptions{Logger: logger})
//	defer host.Close()
//	tuples, release, err := host.Tuples(n)
//	engine, err := host.Open(ctx, rpc.Program{Path: "./teps-engine-cuda"})
//	construction, err := engine.Construct(ctx, plugins.Graph{Tuples: tuples})
//
// Calls travel over gRPC with mutual TLS; tuples and parents lie in shared memory (segment.go). Whatever an engine does
// (crash, hang, stop, talk nonsense), a call ends with an error that says so (errors.go), within a second or, for an
// engine that hangs, HostOptions.Grace after the end of the call's context. No process outlives the host, even one that
// is killed, and no file: but for the folder of an engine that was starting just then, which the next host removes.
package rpc

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// HostOptions are the choices of a Host; the zero value is usable.
type HostOptions struct {
	Logger     *slog.Logger  // receives what engines log and print, with the attribute "engine"; default: slog.Default()
	Grace      time.Duration // how long a call may go on after its context has ended, before its engine is killed; default 3 s
	StopLimit  time.Duration // how long an engine may be stopped (SIGSTOP) during a call, before it is killed; default 3 s
	CloseLimit time.Duration // how long an engine's Close may take, before Grace begins; default 10 s
}

// Host owns engine processes and the memory shared with them. Its methods may be called from several goroutines.
type Host struct {
	options HostOptions
	files   folder // for segments on systems without memfd
	swept   sync.Once

	mu       sync.Mutex // guards what follows
	closed   bool
	clients  map[*Client]struct{}
	segments map[*segment]int // number of calls that use it
}

// NewHost makes a Host. Close it to end its engines.
func NewHost(options HostOptions) (*Host, error) {
	if options.Grace < 0 || options.StopLimit < 0 || options.CloseLimit < 0 {
		return nil, fmt.Errorf("rpc: new host: Grace %v, StopLimit %v and CloseLimit %v must not be negative",
			options.Grace, options.StopLimit, options.CloseLimit)
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Grace == 0 {
		options.Grace = 3 * time.Second
	}
	if options.StopLimit == 0 {
		options.StopLimit = 3 * time.Second
	}
	if options.CloseLimit == 0 {
		options.CloseLimit = 10 * time.Second
	}
	return &Host{options: options, clients: map[*Client]struct{}{}, segments: map[*segment]int{}}, nil
}

// Tuples returns n zero tuples in memory that is shared with engines, all of its pages present. release gives the
// memory back; it fails, and does nothing, while a call uses the tuples. The slice must not be touched afterwards.
//
// Errors: ErrSegment, with plugins.ErrMemory when there is not enough memory.
func (h *Host) Tuples(n int64) (tuples []graph.Edge, release func() error, err error) {
	return allocate[graph.Edge](h, tupleSegment, n)
}

// Parents is Tuples for a parent array of n vertices.
func (h *Host) Parents(n int64) (parents []graph.Vertex, release func() error, err error) {
	return allocate[graph.Vertex](h, parentSegment, n)
}

func allocate[E element](h *Host, kind segmentKind, n int64) ([]E, func() error, error) {
	s, err := h.segment(kind, n)
	if err != nil {
		return nil, nil, err
	}
	return view[E](s.elements()), func() error { return h.release(s) }, nil
}

func (h *Host) segment(kind segmentKind, n int64) (*segment, error) {
	s, err := makeSegment(kind, n, h.segmentFolder)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.Join(fmt.Errorf("rpc: the host is closed: %w", plugins.ErrClosed), s.release())
	}
	h.segments[s] = 0
	return s, nil
}

// segmentFolder is where segments are made that need a file.
func (h *Host) segmentFolder() (string, error) { return h.files.path() }

// release takes a segment from all engines and unmaps it. A second release does nothing.
func (h *Host) release(s *segment) error {
	h.mu.Lock()
	uses, known := h.segments[s]
	if uses == 0 {
		delete(h.segments, s)
	}
	clients := slices.Collect(maps.Keys(h.clients))
	h.mu.Unlock()
	if !known {
		return nil
	}
	if uses > 0 {
		return fmt.Errorf("rpc: release %s: %d calls are using them; wait for the calls: %w", s.kind, uses, ErrBusy)
	}
	for _, client := range clients {
		client.detach(s.id)
	}
	return s.release()
}

// lent is a slice on its way to an engine.
type lent struct {
	segment *segment // nil: no elements
	first   int64
	private bool // the segment was made for this call
}

// lend finds the segment that data lies in; data from elsewhere is copied into a segment of its own. giveBack
// ends it.
func lend[E element](h *Host, kind segmentKind, data []E) (lent, error) {
	if len(data) == 0 {
		return lent{}, nil
	}
	h.mu.Lock()
	for s := range h.segments {
		if first, ok := within(data, s.elements()); ok && s.kind == kind {
			h.segments[s]++
			h.mu.Unlock()
			return lent{segment: s, first: first}, nil
		}
	}
	h.mu.Unlock()
	s, err := h.segment(kind, int64(len(data)))
	if err != nil {
		return lent{}, err
	}
	copy(view[E](s.elements()), data)
	h.mu.Lock()
	h.segments[s]++
	h.mu.Unlock()
	return lent{segment: s, private: true}, nil
}

// giveBack ends the use of a segment, and the segment if it is private.
func (h *Host) giveBack(l lent) error {
	if l.segment == nil {
		return nil
	}
	h.mu.Lock()
	h.segments[l.segment]--
	h.mu.Unlock()
	if l.private {
		return h.release(l.segment)
	}
	return nil
}

// Close ends all engines, which may take some seconds if one of them hangs, and releases all memory: slices from Tuples
// and Parents must not be touched afterwards. A second Close does nothing.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	clients := slices.Collect(maps.Keys(h.clients))
	h.mu.Unlock()

	failures := make([]error, len(clients))
	var closing sync.WaitGroup
	for i, client := range clients {
		closing.Go(func() { failures[i] = client.Close() })
	}
	closing.Wait()

	h.mu.Lock()
	defer h.mu.Unlock()
	for s, uses := range h.segments {
		if uses == 0 {
			failures = append(failures, s.release())
			delete(h.segments, s)
		}
	}
	return errors.Join(append(failures, h.files.remove())...)
}
