//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// chunk is how many tuples go to the device at a time.
const chunk = 4 << 20

// transfer brings the tuples to the device, as pairs of 32-bit labels, and finds the largest label.
func (b *builder) transfer() (err error) {
	if b.scratch, err = b.memory.array("counters", 8*16); err != nil {
		return err
	}
	n := int64(len(b.tuples))
	if err := checkTuples(n, 0, false); err != nil {
		return err
	}
	// lists are as large as pairs; where both and as much again to sort do not fit, the pairs wait in the host
	if 8*n*3 < b.memory.room() {
		b.pairs, err = b.memory.array("tuples", 8*n)
	} else {
		b.notes = append(b.notes, plugins.Fact{Name: "tuples", Value: "pinned in the host during kernel 1"})
		b.pairs, err = b.memory.hostArray("tuples", 8*n)
	}
	if err != nil {
		return err
	}
	if err := b.clearScratch(); err != nil {
		return err
	}
	if err := b.stream(); err != nil {
		return err
	}
	var bounds [2]uint64
	if err := read(bounds[:], b.scratch); err != nil {
		return fmt.Errorf("cuda: look at tuples: %w", err)
	}
	if err := checkTuples(n, bounds[0], bounds[1] != 0); err != nil {
		return err
	}
	if n > 0 {
		b.graph.Labels = bounds[0] + 1
	}
	return nil
}

// stage is where a chunk of tuples waits for the bus. The tuples lie in memory of the host that the device cannot read by
// itself, and the driver copies such memory with one thread; here all threads copy a chunk while the bus moves the one before.
type stage struct {
	pinned
	tuples []graph.Edge // the view of pinned
	moved  cu.Event     // the bus has read it
}

func newStage(tuples int64) (s stage, err error) {
	if s.moved, err = cu.MakeEvent(cu.DisableTiming); err != nil {
		return s, fmt.Errorf("cuda: make an event: %w", err)
	}
	if s.pinned, err = allocatePinned(tuples * graph.EdgeBytes); err != nil {
		return s, errors.Join(fmt.Errorf("cuda: staged tuples: %d MiB pinned in the host: %w: %w", tuples*graph.EdgeBytes>>20, plugins.ErrMemory, err),
			cu.DestroyEvent(&s.moved))
	}
	s.tuples = unsafe.Slice((*graph.Edge)(s.host), tuples)
	return s, nil
}

func (s *stage) close() error { return errors.Join(s.free(), cu.DestroyEvent(&s.moved)) }

// fill copies a chunk with all threads.
func (s *stage) fill(part []graph.Edge) {
	var wg sync.WaitGroup
	share := len(part)/runtime.GOMAXPROCS(0) + 1
	for from := 0; from < len(part); from += share {
		wg.Go(func() { copy(s.tuples[from:], part[from:min(from+share, len(part))]) })
	}
	wg.Wait()
}

// stream moves the tuples over the bus, chunk by chunk through two stages, and unpacks each chunk on the device.
func (b *builder) stream() (err error) {
	n := int64(len(b.tuples))
	raw, err := b.memory.array("staged tuples", graph.EdgeBytes*min(n, chunk))
	if err != nil {
		return err
	}
	var stages []*stage
	defer func() {
		err = errors.Join(err, cu.Synchronize()) // the bus may still read a stage
		for _, s := range stages {
			err = errors.Join(err, s.close())
		}
		err = errors.Join(err, b.memory.release(&raw))
	}()
	for i := int64(0); i*chunk < n; i++ {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if i < 2 {
			s, err := newStage(min(n-i*chunk, chunk))
			if err != nil {
				return err
			}
			stages = append(stages, &s)
		}
		s := stages[i%2]
		if i >= 2 {
			if err := s.moved.Synchronize(); err != nil {
				return fmt.Errorf("cuda: copy tuples to the device: %w", err)
			}
		}
		part := b.tuples[i*chunk : min((i+1)*chunk, n)]
		s.fill(part)
		if err := cu.MemcpyHtoDAsync(cu.DevicePtr(raw), s.host, graph.EdgeBytes*int64(len(part)), cu.NoStream); err != nil {
			return fmt.Errorf("cuda: copy tuples to the device: %w", err)
		}
		if err := s.moved.Record(cu.NoStream); err != nil {
			return fmt.Errorf("cuda: copy tuples to the device: %w", err)
		}
		if err := b.device.kernels.narrow.launch(cu.NoStream, b.stride(), raw, uint64(len(part)), b.pairs+uint64(8*i*chunk), b.scratch); err != nil {
			return err
		}
	}
	return nil
}
