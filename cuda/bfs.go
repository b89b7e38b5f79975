// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// search is kernel 2 on a GPU. The same search without any of this: serial/bfs.go.
//
// Result: the parent of every label, 64 bits each, in device memory when the clock stops, and the levels with their
// times. The parents are copied to the host's memory afterwards.
//
// Method: direction-optimizing breadth-first search (Beamer, Asanović, Patterson, SC 2012; Kolganov 2018, section 3.2).
// The device runs as many levels as it can in one cooperative launch; kernels/search.cu has both steps, the data
// structures of both directions, and the invariants between two levels. Meanwhile some threads of every block copy the
// output template to the parents, and correct it (kernels/output.cuh). So the host usually launches once and waits
// once. It does more
//
//   - if a search has more levels than one launch runs: it launches again;
//   - with topdown=dynamic: it launches the top-down step of each level between two launches of the search;
//   - with levels=stepped: it launches every level;
//   - if a search reached few vertices: then clearing the parents and writing those few is cheaper than correcting
//     the template.
//
// Invariants between two launches: the state of the search is on the device, status describes the last launch, and
// levels has the levels that are over.
type search struct {
	device  *gpu
	memory  *driver.Allocator
	c       configuration
	params  searchParams  // of the last launch
	status  *deviceStatus // of the last launch; in pinned host memory, written by the device
	parents uint64        // [labels] on the device
	stage   *driver.Stage // for copying them; nil: not needed so far
	levels  []plugins.Level
}

// fewShare is the share of the vertices, 1/fewShare, below which a search has reached few.
const fewShare = 8

// maxLevels is the number of levels that a search records. More would need allocations inside the clock.
const maxLevels = 1 << 16

// newSearch allocates what a search needs besides the graph.
func (b *builder) newSearch() *search {
	labels := b.graph.Labels
	s := &search{device: b.device, memory: b.Memory, c: b.c, levels: make([]plugins.Level, 0, maxLevels+1)}
	s.parents = b.Array("parents", parentBytes(int64(labels)))
	status := b.hostArray("status", int64(unsafe.Sizeof(deviceStatus{})))
	s.status = (*deviceStatus)(b.Memory.Host(status))
	s.params = searchParams{
		MaxLevels: launchLevels,
		Messages:  uint64(b.c.messages),
		Steps:     uint64(b.c.rule.Steps), Alpha: float32(b.c.rule.Alpha), Beta: float32(b.c.rule.Beta),
		Status: status, Parent: s.parents, Length: labels, MinReached: b.graph.Searched / fewShare,
		CachedVertices: b.device.cachedVertices,
	}
	if b.c.stepped {
		s.params.MaxLevels = 1
	}
	if b.c.dynamic {
		s.params.HostTopDown = 1
	}
	return s
}

// run searches from root and copies the parents to parent. The levels are valid until the next run; a search with
// more than maxLevels returns none.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (t plugins.Traversal, err error) {
	err = s.device.Do(func() error {
		if err := s.wake(); err != nil {
			return err
		}
		start := time.Now()
		if err := s.traverse(ctx, root); err != nil {
			return err
		}
		t.Elapsed = time.Since(start)
		s.record()
		if len(s.levels) <= maxLevels {
			t.Levels = s.levels
		}
		if err := s.readParents(ctx, parent); err != nil {
			return fmt.Errorf("copy parents to the host: %w", err)
		}
		return nil
	})
	return t, err
}

// readParents copies the parents to the host, many of them through a stage, which it makes the first time.
func (s *search) readParents(ctx context.Context, parent []graph.Vertex) (err error) {
	into := driver.Bytes(parent)
	if len(into) <= driver.StageBytes {
		return driver.Read(parent, s.parents)
	}
	if s.stage == nil {
		if s.stage, err = driver.NewStage(nil); err != nil {
			return err
		}
	}
	return s.stage.Download(ctx, into, func(_ uint64, first, _ int64) (uint64, error) {
		return s.parents + uint64(first), nil
	})
}

// repeat searches from the roots in turn until duration has passed. Each search is the timed part of run: it leaves
// its parents in device memory. Those of the last one are copied to the host.
func (s *search) repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, parent []graph.Vertex) (
	searches int64, err error) {
	err = s.device.Do(func() error {
		if err := s.wake(); err != nil {
			return err
		}
		searches, err = plugins.InTurn(ctx, roots, duration, func(root graph.Vertex) error { return s.traverse(ctx, root) })
		if err == nil {
			err = s.readParents(ctx, parent)
		}
		return err
	})
	return searches, err
}

// wake launches an empty kernel and waits for it. After the host's work between two searches, which can take long,
// device and driver respond slowly for some tens of microseconds that have nothing to do with the search.
func (s *search) wake() error {
	if err := s.device.Launch(s.device.Stream, 1, 1, wakeKernel()); err != nil {
		return err
	}
	if err := s.device.Stream.Synchronize(); err != nil {
		return fmt.Errorf("wake the device: %w", err)
	}
	return nil
}

// traverse is the loop: it launches levels until the search is over. The levels of the last launch are left to record.
func (s *search) traverse(ctx context.Context, root graph.Vertex) (err error) {
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

// launchLevels starts or continues a search: it launches all levels that one launch can run, or one with
// levels=stepped.
func (s *search) launchLevels(newSearch bool) error {
	d, p := s.device, &s.params
	p.Launch++
	p.NewSearch = 0
	if newSearch {
		p.NewSearch = 1
		p.Copies += uint64(d.searchBlocks)
	}
	params := *p // cgo may not see a pointer into s
	// All blocks run at the same time, so that they can wait for each other. The driver runs one cooperative launch after
	// the other: ranks that share a GPU are launched without its guarantee, each with its share of the multiprocessors.
	err := driver.LaunchTogether(d.Stream, d.searchFunction, d.searchBlocks, d.searchThreads, d.searchShared,
		unsafe.Pointer(&params), !d.shared)
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

// writeFew writes the parents of a search that reached few vertices (kernels/output.cu).
func (s *search) writeFew() error {
	const blocksPerMultiprocessor = 8
	d, p := s.device, &s.params
	blocks := d.Multiprocessors * blocksPerMultiprocessor
	return errors.Join(
		d.Launch(d.Stream, blocks, blockThreads, clearParentsKernel(p.Parent, p.Length)),
		d.Launch(d.Stream, blocks, blockThreads, writeReachedKernel(p.Parent)),
		d.Launch(d.Stream, blocks, blockThreads, writeCorrectionsKernel(p.Parent)),
		d.Launch(d.Stream, 1, 1, writeRootKernel(p.Parent, p.Root)),
		d.Stream.Synchronize())
}

func (s *search) close() error {
	return s.device.Do(func() (err error) {
		if s.stage != nil {
			err = s.stage.Close()
		}
		return errors.Join(err, s.memory.FreeAll(), s.device.Close())
	})
}
