// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"context"
	"errors"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
)

// search is kernel 2 on an OpenCL device. The same search without any of this: serial/bfs.go.
//
// Result: the parent of every label, 64 bits each, in device memory when the clock stops.
//
// Method: direction-optimizing breadth-first search (Beamer, Asanović, Patterson, SC 2012), in the numbering of
// Kolganov (2018, section 2.2). OpenCL 1.2 has no barrier between work-groups, so a step of the search is a launch,
// called a slot. The host queues a batch of slots without looking at their results, and waits once. Every work-group
// computes the state of its slot (direction, queue, bitmaps) from the state and the counts of the slot before, so
// nothing crosses work-groups except at the end of a launch. The last slot of a batch ends the search if it is over;
// otherwise the host queues one work-group that runs levels with few edges alone, and another batch.
//
// With pocl, where a launch takes as long as several levels, a launch is a whole search: its work-groups take turns.
//
//   - top-down: the frontier is a queue of pieces of lists, each followed by as many items as it has work for; a
//     work-group collects new pieces in local memory. Long lists are in a queue of longer pieces, each followed by a
//     work-group. A frontier with few edges is followed by one work-group, level after level, in one slot.
//   - bottom-up: one bit of the hub of a word decides for 32 vertices. Others are collected in local memory, so that
//     all items have work; each looks at four neighbors of a vertex, then at SCAN more, and leaves longer lists to a
//     team.
//   - convert: makes the queue of a frontier that a bottom-up step has found.
//
// Output: the slots copy the output template to the parents, a share each. Vertices that were found through another
// neighbor than their first are marked in corrected and have their parent in by; the end of the search writes these,
// and -1 for vertices that were not reached.
//
// Invariants between two slots: visited[CURRENT] has all vertices of levels up to the frontier's, so an unvisited
// vertex has visited neighbors only in the frontier, and no bitmap of the frontier is needed. After a bottom-up slot
// the other bitmap is that of the level before.
type search struct {
	device  *driver.Context
	program *driver.Program
	sizes   sizes
	groups  int
	parent  driver.Array
	state   driver.Array
	result  [stateWords]uint32 // the state after the last batch

	begin, wake  *driver.Kernel
	first        []*driver.Kernel // the slots of the first batch, with their shares of the copy
	later, alone [4]*driver.Kernel
	turns        bool          // the first launch is the whole search
	begun        bool          // a search did not come to its end
	stage        *driver.Stage // for copying parents; nil: not needed so far
}

// Places in the state, as in kernels/search.cl.
const (
	stateWords = 144
	isDone     = 128 // RESULT + IS_DONE
	slotsUsed  = 129 // RESULT + SLOTS_USED
	turnsTaken = 130 // RESULT + TAKEN
	nextSlot   = 133 // RESULT + NEXT_SLOT
)

// Positions of arguments of the kernels.
const (
	slotNumber, slotRoot, slotTurns, slotCopy, slotLast = 0, 1, 2, 22, 24
)

// newSearch allocates the arrays of a search besides the graph.
func (b *builder) newSearch(program, alone *driver.Program) *search {
	g := &b.sizes
	s := &search{device: b.device, program: program, groups: b.device.Units * b.tuning.perUnit,
		parent: b.array("parents", 16*int64((g.Labels+1)/2)), turns: b.tuning.turns > 0, begun: true}
	g.ChunkWords = uint32(chunkWords(int(g.Words), s.groups*max(b.tuning.turns, 1), program.Group))
	s.sizes = *g
	pieces := int64(g.Searched) + int64(b.entries)/int64(b.tuning.piece) // at most, of a frontier
	long := 2*int64(b.entries)/int64(longPiece*b.tuning.piece) + 1
	s.state = b.filled("state", int64(len(s.result)), 0)
	var visited, queue, longQueue [2]driver.Array
	for i := range visited {
		visited[i] = b.array("bitmap of visited vertices", 4*int64(g.Words))
		queue[i] = b.array("queue", 8*pieces)
		longQueue[i] = b.array("queue of long lists", 8*long)
	}
	corrected := b.array("bitmap of corrected vertices", 4*int64(g.Words))
	by := b.array("parents by vertex", 4*int64(g.Searched))

	kernel := func(program *driver.Program, name string, arguments ...any) (k *driver.Kernel) {
		if b.err == nil {
			k, b.err = program.Kernel(name)
		}
		if b.err == nil {
			b.err = setArguments(k, arguments...)
		}
		return k
	}
	b.slot = func(program *driver.Program, i int, from, to, last uint32) *driver.Kernel {
		return kernel(program, "search_slot", uint32(i), uint32(0), uint32(0), *g, b.vertex, b.offset, b.target, b.quad,
			b.wordHub, b.outputTemplate, b.leafBegin, b.label, visited[0], visited[1], corrected, by, queue[0], queue[1],
			longQueue[0], longQueue[1], s.parent, s.state, from, to, last)
	}
	s.begin = kernel(program, "begin_searches", *g, visited[0], corrected, s.state)
	s.wake = kernel(program, "fill", s.state, uint32(0), uint32(1))
	for i := range s.later {
		s.later[i] = b.slot(program, 4+i, 0, 0, 0) // slot 0 begins a search
		s.alone[i] = b.slot(alone, 4+i, 0, 0, 0)
	}
	s.first = []*driver.Kernel{b.slot(program, 0, 0, (g.Labels+1)/2, 1)}
	return s
}

// learnBatch sets the number of slots of the first batch: those of the longest of four searches from vertices of
// different degrees, or one slot for a deep graph. No later search changes it.
func (s *search) learnBatch(ctx context.Context, b *builder) error {
	slots := b.tuning.batch
	learns := s.sizes.Vertices > 0 && slots == 0 && !s.turns
	for i := uint32(1); i <= 4 && learns && b.err == nil; i++ {
		at := int64(s.sizes.Vertices-1) * int64(i) / 5
		if err := s.Traverse(ctx, graph.Vertex(b.read(b.label, at, 1)[0])); err != nil {
			return err
		}
		slots = max(slots, int(s.result[slotsUsed]))
	}
	if slots <= 1 || slots > maxBatch || b.err != nil {
		return b.err
	}
	// The last slot may end the search, which needs the whole copy.
	pairs, shares := int(s.sizes.Labels+1)/2, slots-1
	b.fail(driver.Set(s.first[0], slotCopy+1, uint32(pairs/shares)))
	b.fail(driver.Set(s.first[0], slotLast, uint32(0)))
	for i := 1; i < slots; i++ {
		s.first = append(s.first, b.slot(s.program, i, uint32(pairs*min(i, shares)/shares),
			uint32(pairs*min(i+1, shares)/shares), uint32(i/shares)))
	}
	return b.err
}

// Do calls f.
func (s *search) Do(f func() error) error { return f() }

// Wake launches a small kernel and waits for it. After the host's work between two searches, device and driver respond
// slowly for a time that has nothing to do with the search.
func (s *search) Wake() error { return errors.Join(s.wake.Launch(1), s.device.Finish()) }

// Traverse is the search inside the clock.
func (s *search) Traverse(ctx context.Context, root graph.Vertex) (err error) {
	defer func() {
		if err != nil {
			_ = s.device.Finish() // nothing may still run when the arrays are used again; err is the error to report
		}
	}()
	if s.begun {
		err = s.begin.Launch(s.groups)
	}
	s.begun = true
	err = errors.Join(err, driver.Set(s.first[0], slotRoot, uint32(root)),
		driver.Set(s.first[len(s.first)-1], slotRoot, uint32(root)))
	if err != nil {
		return err
	}
	if s.turns {
		return s.traverseInTurns(ctx)
	}
	slot := 0
	for i, k := range s.first {
		if err := k.Launch(s.groups); err != nil {
			return err
		}
		if slot++; i == 0 {
			if err := s.device.Flush(); err != nil { // the device begins while the host queues the rest
				return err
			}
		}
	}
	for batch := 2; ; batch = min(2*batch, maxBatch) {
		before := s.result[slotsUsed]
		if err := s.readResult(ctx); err != nil || !s.begun {
			return err
		}
		if int(s.result[slotsUsed]-before) > batch { // a work-group ran levels alone
			batch = 2
		}
		if err := s.alone[slot&3].Launch(1); err != nil {
			return err
		}
		for i := range batch {
			k := s.later[slot&3]
			err := errors.Join(driver.Set(k, slotRoot, uint32(root)), driver.Set(k, slotLast, uint32(i/(batch-1))),
				k.Launch(s.groups))
			if err != nil {
				return err
			}
			slot++
		}
	}
}

// traverseInTurns launches the kernel that runs all slots.
func (s *search) traverseInTurns(ctx context.Context) error {
	for slot, k := uint32(0), s.first[0]; ; slot = s.result[nextSlot] {
		err := errors.Join(driver.Set(k, slotNumber, slot), driver.Set(k, slotTurns, s.result[turnsTaken]),
			k.Launch(s.groups))
		if err == nil {
			err = s.readResult(ctx)
		}
		if err != nil || !s.begun {
			return err
		}
	}
}

// readResult waits for the device and sees whether the search is over.
func (s *search) readResult(ctx context.Context) error {
	err := driver.Read(s.device, s.result[:], s.state, 0)
	if err == nil && s.result[isDone] == 0 {
		return ctx.Err()
	}
	s.begun = err != nil
	return err
}

// Report says nothing: the levels stay on the device.
func (s *search) Report(graph.Vertex) (t plugins.Traversal) { return t }

// CopyTo copies the parents of the last search to the host.
func (s *search) CopyTo(ctx context.Context, out plugins.Output) (err error) {
	parent := out.Parent
	if len(offload.Bytes(parent)) <= driver.StageBytes {
		return driver.Read(s.device, parent, s.parent, 0)
	}
	if s.stage == nil {
		if s.stage, err = s.device.NewStage(); err != nil {
			return err
		}
	}
	return s.stage.Download(ctx, offload.Bytes(parent), s.parent)
}

// Close frees the graph and closes the device.
func (s *search) Close() (err error) {
	if s.stage != nil {
		err = s.stage.Close()
	}
	return errors.Join(err, s.device.Finish(), s.device.Close())
}
