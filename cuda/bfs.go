// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// search is kernel 2 on a GPU. The same search without any of this: serial/bfs.go.
//
// Result: the parent of every label, 64 bits each, in device memory when the clock stops, and the levels with their
// times.
//
// Method: direction-optimizing breadth-first search (Beamer, Asanović, Patterson, SC 2012; Kolganov 2018, section 3.2).
// The device runs as many levels as it can in one cooperative launch; kernels/search.cu has both steps, the data
// structures of both directions, and the invariants between two levels. Some threads of every block copy the output
// template to the parents at the same time, and correct it (kernels/output.cuh). So the host usually launches once and
// waits once. It does more
//
//   - if a search has more levels than one launch runs, or levels=stepped: it launches again;
//   - with topdown=dynamic: it launches the top-down step of each level between two launches of the search;
//   - if a search reached few vertices: it clears the parents and writes those few, which is cheaper than correcting
//     the template.
//
// Invariants between two launches: the state of the search is on the device, status describes the last launch, and
// levels has the levels that are over.
type search struct {
	device  *gpu
	memory  *driver.Allocator
	params  searchParams  // of the last launch
	status  *deviceStatus // of the last launch; in pinned host memory, written by the device
	parents uint64        // [labels] on the device
	stage   *driver.Stage // for copying them; nil: not needed so far
	levels  []plugins.Level
	paths   *pathSearch // kernel 3 of the same graph; nil without weights
}

const (
	fewShare  = 8       // a search that reaches less than 1/fewShare of the vertices has reached few
	maxLevels = 1 << 16 // levels that a search records; more would need allocations inside the clock
)

// newSearch allocates the arrays of a search besides the graph.
func (b *builder) newSearch() *search {
	labels := b.graph.Labels
	s := &search{device: b.device, memory: b.Memory, levels: make([]plugins.Level, 0, maxLevels+1)}
	s.parents = b.Array("parents", parentBytes(int64(labels)))
	status := b.HostArray("status", int64(unsafe.Sizeof(deviceStatus{})))
	s.status = (*deviceStatus)(b.Memory.Host(status))
	rule := b.c.Switch()
	s.params = searchParams{
		MaxLevels: launchLevels,
		Messages:  uint64(slices.Index(messages, b.c.Text("messages"))),
		Steps:     uint64(rule.Steps), Alpha: float32(rule.Alpha), Beta: float32(rule.Beta),
		Status: status, Parent: s.parents, Length: labels, MinReached: b.graph.Searched / fewShare,
		CachedVertices: b.device.cachedVertices,
	}
	if b.c.Text("levels") == "stepped" {
		s.params.MaxLevels = 1
	}
	if b.c.Text("topdown") == "dynamic" {
		s.params.HostTopDown = 1
	}
	return s
}

// Report returns the levels, which are valid until the next search; a search with more than maxLevels returns none.
func (s *search) Report(graph.Vertex) (t plugins.Traversal) {
	s.record()
	if len(s.levels) <= maxLevels {
		t.Levels = s.levels
	}
	return t
}

// CopyTo copies the parents to the host.
func (s *search) CopyTo(ctx context.Context, out plugins.Output) (err error) {
	return download(ctx, &s.stage, offload.Bytes(out.Parent), s.parents)
}

// download copies an array to the host, a large one through a stage, which it makes the first time.
func download(ctx context.Context, stage **driver.Stage, into []byte, from uint64) (err error) {
	if len(into) <= driver.StageBytes {
		return driver.Read(into, from)
	}
	if *stage == nil {
		if *stage, err = driver.NewStage(nil); err != nil {
			return err
		}
	}
	return (*stage).Download(ctx, into, func(_ uint64, first, _ int64) (uint64, error) {
		return from + uint64(first), nil
	})
}

// Do calls f in the context of the GPU.
func (s *search) Do(f func() error) error { return s.device.Do(f) }

// Wake launches an empty kernel and waits for it.
func (s *search) Wake() error {
	if err := s.device.Launch(s.device.Stream, 1, 1, wakeKernel()); err != nil {
		return err
	}
	if err := s.device.Stream.Synchronize(); err != nil {
		return fmt.Errorf("wake the device: %w", err)
	}
	return nil
}

// Traverse launches levels until the search is over. Report records the levels of the last launch.
func (s *search) Traverse(ctx context.Context, root graph.Vertex) (err error) {
	defer func() {
		if err != nil {
			_ = cu.Synchronize() // nothing may still run when the arrays are used again; err is the error to report
		}
	}()
	s.levels = s.levels[:0]
	s.params.Root = uint64(root)
	if err := s.launchLevels(true); err != nil {
		return err
	}
	for {
		if err := s.device.Stream.Synchronize(); err != nil {
			return err
		}
		if s.status.Done != 0 {
			break
		}
		s.record()
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.status.HostStep != 0 {
			if err := s.topDownStep(); err != nil {
				return err
			}
		}
		if err := s.launchLevels(false); err != nil {
			return err
		}
	}
	if s.status.Reached < s.params.MinReached {
		return s.writeFew()
	}
	return nil
}

// launchLevels starts or continues a search.
func (s *search) launchLevels(newSearch bool) error {
	d, p := s.device, &s.params
	p.Launch++
	p.NewSearch = 0
	if newSearch {
		p.NewSearch = 1
		p.Copies += uint64(d.searchBlocks)
	}
	params := *p // cgo may not see a pointer into s
	// All blocks run at the same time, so that they can wait for each other. The driver runs one cooperative launch of a
	// process after the other.
	err := driver.LaunchFunction(d.Stream, d.searchFunction, d.searchBlocks, d.searchThreads, d.searchShared,
		unsafe.Pointer(&params), 1, !d.notCooperative)
	if err != nil {
		if newSearch {
			p.Copies -= uint64(d.searchBlocks) // no block will copy
		}
		return fmt.Errorf("launch the search: %w", err)
	}
	return nil
}

// topDownStep launches the top-down step of a level by dynamic parallelism (Kolganov 2018, section 3.2;
// kernels/dynamic.cu).
func (s *search) topDownStep() error {
	blocks := int((s.status.Queued + blockThreads - 1) / blockThreads)
	if blocks == 0 {
		return nil
	}
	return s.device.Launch(s.device.Stream, blocks, blockThreads, topDownDynamicKernel(s.status.Queued))
}

// record appends the levels of the last launch.
func (s *search) record() {
	for _, l := range s.status.Level[:s.status.Levels] {
		if len(s.levels) <= maxLevels {
			s.levels = append(s.levels, l.level())
		}
	}
}

// level returns what a GPU has recorded of a level, without its phases.
func (l *deviceLevel) level() plugins.Level {
	level := plugins.Level{Frontier: int64(l.Frontier), Edges: plugins.Counted(int64(l.Examined)),
		Elapsed: time.Duration(l.Nanoseconds)}
	if l.BottomUp != 0 {
		level.Direction = graph.BottomUp
	}
	return level
}

// writeFew writes the parents of a search that reached few vertices (kernels/output.cu).
func (s *search) writeFew() error {
	d, p := s.device, &s.params
	blocks := d.LoopBlocks()
	return errors.Join(
		d.Launch(d.Stream, blocks, blockThreads, clearParentsKernel(p.Parent, p.Length)),
		d.Launch(d.Stream, blocks, blockThreads, writeReachedKernel(p.Parent)),
		d.Launch(d.Stream, blocks, blockThreads, writeCorrectionsKernel(p.Parent)),
		d.Launch(d.Stream, 1, 1, writeRootKernel(p.Parent, p.Root)),
		d.Stream.Synchronize())
}

// Close frees the graph.
func (s *search) Close() error {
	return s.device.Do(func() (err error) {
		if s.stage != nil {
			err = s.stage.Close()
		}
		if s.paths != nil {
			err = errors.Join(err, s.paths.gpu.Close())
		}
		return errors.Join(err, s.memory.FreeAll(), s.device.Close())
	})
}
