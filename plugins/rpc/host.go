// SPDX-License-Identifier: Apache-2.0

// Package rpc runs each engine in a separate process. It is the only package that knows go-plugin and gRPC.
//
// The main function of an engine calls Serve. A host makes one Host, gets memory for tuples and parents from it, and
// opens programs. A Client is a plugins.Engine:
//
//	host := rpc.NewHost(logger)
//	defer host.Close()
//	tuples, release, err := host.Tuples(n)
//	engine, err := host.Open(ctx, rpc.Program{Path: "./teps-engine-cuda"})
//	construction, err := engine.Construct(ctx, plugins.Input{Tuples: tuples})
//
// Calls travel over gRPC with mutual TLS. Tuples and parents lie in shared memory. If an engine crashes, hangs or
// answers nonsense, the call ends with an error that names the fault (ErrProgram and the others). Engines die with the
// host, even when it is killed. A temporary directory that a killed host leaves behind is removed by the next one.
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
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

type limits struct {
	start time.Duration // from the start of the program until it can be called, and for Describe
	grace time.Duration // from the end of a call's context until the engine is killed
	close time.Duration // for the engine's Close, before grace

	stopped time.Duration // during a call, until the call ends
}

// Host owns engine processes and the memory shared with them. Its methods may be called by several goroutines.
type Host struct {
	logger *slog.Logger
	limits limits
	output output

	mu       sync.Mutex // guards what follows
	closed   bool
	clients  map[*Client]bool
	segments map[*segment]bool
	lastID   uint64            // of a segment
	files    map[string]string // checksum of each engine's file when it was first opened, by path
	silent   map[string]error  // why an engine did not answer, by Client.key
}

// NewHost returns a Host that logs what engines log and print, with the attribute "engine". Close ends its engines.
func NewHost(logger *slog.Logger) *Host {
	return &Host{
		logger: logger, limits: limits{30 * time.Second, 3 * time.Second, 10 * time.Second, 8 * time.Second},
		clients: map[*Client]bool{}, segments: map[*segment]bool{}, files: map[string]string{},
		silent: map[string]error{},
	}
}

// Tuples implements plugins.Lender, as the next methods do. All pages are present. Errors wrap ErrSegment, and
// plugins.ErrMemory if memory is short.
func (h *Host) Tuples(n int64) (tuples []graph.Edge, release func() error, err error) {
	return allocate[graph.Edge](h, tupleSegment, n, present)
}

// Reserve is Tuples with pages that are taken when they are first written. Engines can be given the tuples after Trim.
func (h *Host) Reserve(n int64) (room []graph.Edge, release func() error, err error) {
	return allocate[graph.Edge](h, tupleSegment, n, reserved)
}

// Trim gives back the room behind tuples, a slice from the beginning of a reservation.
func (h *Host) Trim(tuples []graph.Edge) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segments {
		if first, ok := within(tuples[:cap(tuples)], s.bytes); ok && first == 0 && s.file != nil {
			return s.trim(int64(len(tuples)))
		}
	}
	return fmt.Errorf("rpc: trim %d tuples, which do not begin a reservation: %w", len(tuples), ErrSegment)
}

func (h *Host) Weights(n int64) (weights []float32, release func() error, err error) {
	return allocate[float32](h, weightSegment, n, present)
}

func (h *Host) Distances(n int64) (distances []float32, release func() error, err error) {
	return allocate[float32](h, distanceSegment, n, present)
}

func (h *Host) Parents(n int64) (parents []graph.Vertex, release func() error, err error) {
	return allocate[graph.Vertex](h, parentSegment, n, present)
}

func allocate[E element](h *Host, kind segmentKind, n int64, pages pages) ([]E, func() error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, fmt.Errorf("rpc: the host is closed: %w", plugins.ErrClosed)
	}
	h.lastID++
	s, err := newSegment(h.lastID, kind, n, pages)
	if err != nil {
		return nil, nil, err
	}
	h.segments[s] = true
	return view[E](s.bytes), func() error { return h.release(s) }, nil
}

// release unmaps a segment. A second release does nothing.
func (h *Host) release(s *segment) error {
	h.mu.Lock()
	known := h.segments[s]
	delete(h.segments, s)
	h.mu.Unlock()
	if !known {
		return nil
	}
	return s.release()
}

// segmentOf names data to an engine; nil for no data. With the state reserved, the segment may be an untrimmed one;
// otherwise that is an error for tuples, and seals weights.
func segmentOf[E element](h *Host, kind segmentKind, data []E, state pages) (*enginepb.Segment, error) {
	if len(data) == 0 {
		return nil, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segments {
		if first, ok := within(data, s.bytes); ok && s.kind == kind {
			if s.file != nil && state == present {
				if kind != weightSegment {
					break
				}
				if err := s.trim(s.count); err != nil {
					return nil, err
				}
			}
			return &enginepb.Segment{Id: s.id, Path: s.path, Total: s.count, First: first, Count: int64(len(data))}, nil
		}
	}
	return nil, fmt.Errorf("rpc: these %d %s are not in memory from the host; use Host.Tuples, Host.Parents and "+
		"similar methods: %w", len(data), kind, ErrSegment)
}

// Close ends all engines, which may take some seconds if one of them hangs, and releases all memory. A second Close
// does nothing.
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
	h.KeepOutput("")

	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.segments {
		failures = append(failures, s.release())
		delete(h.segments, s)
	}
	return errors.Join(failures...)
}
