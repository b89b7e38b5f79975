//go:build cuda

package cuda

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// search is kernel 2: a direction-optimising breadth-first search (Beamer, Asanović, Patterson, SC 2012) on a GPU, after
// Kolganov 2018, section 3.2.
//
// The device runs as many levels as it can in one cooperative launch (kernels/search.cu has the steps and what holds between
// them). Some threads of every block copy the output template to the parents meanwhile; when both are done, the parents that the
// template does not have are corrected (kernels/output.cuh). The host launches once and waits once. It has more to do
//
//   - when a search has more levels than one launch records: it launches again;
//   - with topdown=dynamic: it launches the top-down step of each level between two launches of the rest;
//   - with levels=stepped: it launches every level, with events around it;
//   - when a search reached little: then clearing the parents and writing the few is cheaper than correcting the template.
type search struct {
	device *device
	memory *memory
	graph  deviceGraph
	c      configuration
	rule   uint64 // alpha, beta

	status  *deviceStatus // in host memory that the device writes
	pinned  pinned
	parents uint64 // [length] on the device
	length  int64
	levels  []plugins.Level
}

func newSearch(b *builder) (*search, error) {
	s := &search{device: b.device, memory: b.memory, graph: b.graph, c: b.c, rule: floats(b.c.rule.Alpha, b.c.rule.Beta)}
	var err error
	if s.pinned, err = allocatePinned(int64(unsafe.Sizeof(deviceStatus{}))); err != nil {
		return nil, fmt.Errorf("cuda: status: %w: %w", plugins.ErrMemory, err)
	}
	s.status = (*deviceStatus)(s.pinned.host)
	s.levels = make([]plugins.Level, 0, mostLevels+1)
	return s, s.size(int64(b.graph.Labels))
}

// size makes the parents on the device length long.
func (s *search) size(length int64) (err error) {
	if length == s.length && s.parents != 0 {
		return nil
	}
	if err := s.memory.release(&s.parents); err != nil {
		return fmt.Errorf("cuda: parents: %w", err)
	}
	s.length = 0
	if s.parents, err = s.memory.array("parents", parentBytes(length)); err == nil {
		s.length = length
	}
	return err
}

// run searches from root and fills parent. The clock stops when the parents lie in device memory, 64 bits each, in original
// labels; the host's copy is made after it. The result is valid until the next run.
func (s *search) run(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	if err := s.size(int64(len(parent))); err != nil {
		return plugins.Traversal{}, err
	}
	if err := s.wake(); err != nil {
		return plugins.Traversal{}, err
	}
	s.levels = s.levels[:0]
	start := time.Now()
	if err := s.traverse(ctx, uint64(root)); err != nil {
		_ = cu.Synchronize() // nothing may still run when the arrays are used again; the first error is the one to tell
		return plugins.Traversal{}, err
	}
	elapsed := time.Since(start)
	if len(s.levels) > mostLevels {
		s.levels = s.levels[:0]
	}
	if err := read(parent, s.parents); err != nil {
		return plugins.Traversal{}, fmt.Errorf("cuda: copy parents to the host: %w", err)
	}
	return plugins.Traversal{Elapsed: elapsed, Levels: s.levels}, nil
}

// wake launches nothing and waits for it: after the host's work between two searches, which can be long, device and driver are slow
// for some tens of microseconds that have nothing to do with a search. It knows neither root nor graph.
func (s *search) wake() error {
	if err := s.device.kernels.wake.launch(s.device.work, 1); err != nil {
		return err
	}
	if err := s.device.work.Synchronize(); err != nil {
		return fmt.Errorf("cuda: wake the device: %w", err)
	}
	return nil
}

// little is the share of the vertices, 1/little, below which a search has reached little.
const little = 8

func (s *search) least() uint64 { return s.graph.Searched / little }

func (s *search) traverse(ctx context.Context, root uint64) error {
	d, k := s.device, &s.device.kernels
	if err := s.step(root, true); err != nil {
		return err
	}
	for {
		if err := d.work.Synchronize(); err != nil {
			return fmt.Errorf("cuda: search from %d: %w", root, err)
		}
		if err := s.record(); err != nil {
			return err
		}
		if s.status.Done != 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.status.Expand != 0 && s.status.Queued > 0 {
			masters := (s.status.Queued + blockThreads - 1) / blockThreads
			if err := k.expandDynamic.launch(d.work, int(masters), s.status.Queued); err != nil {
				return err
			}
		}
		if err := s.step(root, false); err != nil {
			return err
		}
	}
	if s.status.Reached >= s.least() {
		return nil
	}
	if err := k.erase.launch(d.work, d.units*outputBlocks, s.parents, uint64(s.length)); err != nil {
		return err
	}
	if err := k.writeReached.launch(d.work, d.units*outputBlocks, s.parents); err != nil {
		return err
	}
	if err := k.writeFinds.launch(d.work, d.units*outputBlocks, s.parents); err != nil {
		return err
	}
	if err := k.writeRoot.launch(d.work, 1, s.parents, root); err != nil {
		return err
	}
	if err := d.work.Synchronize(); err != nil {
		return fmt.Errorf("cuda: search from %d: %w", root, err)
	}
	return nil
}

const outputBlocks = 8 // of a multiprocessor, for the kernels of output.cu

// step launches levels: as many as there are and the record holds, or one with levels=stepped.
func (s *search) step(root uint64, fresh bool) error {
	d := s.device
	most := uint64(1) << 62
	if s.c.stepped {
		most = 1
		if fresh || s.status.Expand == 0 { // else the level has begun
			if err := d.begun.Record(d.work); err != nil {
				return fmt.Errorf("cuda: %w", err)
			}
		}
	}
	flags := uint64(0)
	if fresh {
		flags |= flagFresh
		d.copies += uint64(d.units)
	}
	if s.c.dynamic {
		flags |= flagHostExpands
	}
	d.launches++
	err := d.kernels.search.launchTogether(d.work, d.units, root, flags, most, s.rule, s.pinned.device,
		s.parents, uint64(s.length), s.least(), d.copies, d.launches, d.near)
	if err != nil && fresh {
		d.copies -= uint64(d.units) // they will not come
	}
	if err == nil && s.c.stepped {
		err = d.ended.Record(d.work)
	}
	return err
}

// record takes over the levels of the last launch.
func (s *search) record() error {
	for i := range s.status.Levels {
		l := &s.status.Level[i]
		level := plugins.Level{
			Frontier: int64(l.Frontier),
			Edges:    plugins.Counted(int64(l.Looked)),
			Elapsed:  time.Duration(l.Nanoseconds),
		}
		if l.BottomUp != 0 {
			level.Direction = graph.BottomUp
		}
		if s.c.stepped && s.status.Expand == 0 && i == s.status.Levels-1 { // else it is a root's that is a leaf
			ms, err := s.device.begun.Elapsed(s.device.ended)
			if err != nil {
				return fmt.Errorf("cuda: time of a level: %w", err)
			}
			level.Elapsed = time.Duration(ms * float64(time.Millisecond))
		}
		if len(s.levels) <= mostLevels {
			s.levels = append(s.levels, level)
		}
	}
	return nil
}

// mostLevels is how many levels a search may have of which it says something, as in the engine cpu; more would have to be
// made room for while the clock runs.
const mostLevels = 1 << 16

func (s *search) close() error { return s.pinned.free() }
