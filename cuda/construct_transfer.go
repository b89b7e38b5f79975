//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// chunk is how many tuples go to the device at a time.
const chunk = 4 << 20

// transfer copies the tuples to the device as pairs of 32-bit labels, and finds the largest label.
func (b *builder) transfer() {
	n := int64(len(b.tuples))
	b.counters = b.array("counters", 8*counters)
	b.fail("tuples", checkTuples(n, 0, false))
	// Lists are as large as pairs. If both, and as much again to sort, do not fit, the pairs stay in the host.
	if 8*n*3 < b.memory.Room() {
		b.pairs = b.array("tuples", 8*n)
	} else {
		b.note("tuples", "pinned in the host during kernel 1")
		b.pairs = b.hostArray("tuples", 8*n)
	}
	b.clearCounters()
	b.copyTuples()
	maxLabel, tooLong := b.counter(0), b.counter(1) != 0
	b.fail("tuples", checkTuples(n, maxLabel, tooLong))
	if n > 0 {
		b.graph.Labels = maxLabel + 1
		b.graph.AllLabels = b.graph.Labels
	}
}

// stage is a pinned buffer for a chunk of tuples. The device cannot read the tuples where they are, and the driver
// copies such memory with one thread; here all threads copy a chunk while the bus transfers the previous one.
type stage struct {
	driver.Pinned
	tuples      []graph.Edge // view of driver.Pinned
	transferred cu.Event
}

func newStage(tuples int64) (s *stage, err error) {
	s = &stage{}
	if s.transferred, err = cu.MakeEvent(cu.DisableTiming); err != nil {
		return nil, err
	}
	bytes := tuples * graph.EdgeBytes
	if s.Pinned, err = driver.AllocatePinned(bytes); err != nil {
		return nil, errors.Join(fmt.Errorf("pin %s of host memory: %w: %w", units.Bytes(bytes), plugins.ErrMemory, err),
			cu.DestroyEvent(&s.transferred))
	}
	s.tuples = unsafe.Slice((*graph.Edge)(s.Host), tuples)
	return s, nil
}

func (s *stage) close() error { return errors.Join(s.Free(), cu.DestroyEvent(&s.transferred)) }

// fill copies a chunk with all threads.
func (s *stage) fill(part []graph.Edge) {
	var wg sync.WaitGroup
	share := len(part)/runtime.GOMAXPROCS(0) + 1
	for from := 0; from < len(part); from += share {
		wg.Go(func() { copy(s.tuples[from:], part[from:min(from+share, len(part))]) })
	}
	wg.Wait()
}

// copyTuples copies the tuples chunk by chunk, alternating between two stages, and unpacks each chunk on the device.
func (b *builder) copyTuples() {
	n := int64(len(b.tuples))
	raw := b.array("staged tuples", graph.EdgeBytes*min(n, chunk))
	var stages [2]*stage
	for from := int64(0); from < n && b.err == nil; from += chunk {
		part := b.tuples[from:min(from+chunk, n)]
		b.fail("copy tuples to the device", b.copyChunk(&stages[from/chunk%2], part, raw))
		b.call("unpack_tuples", raw, uint64(len(part)), b.pairs+uint64(8*from), b.counters)
		b.fail("kernel 1", b.ctx.Err())
	}
	err := cu.Synchronize() // the bus may still read a stage
	for _, s := range stages {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	b.fail("copy tuples to the device", err)
	b.release(&raw)
}

// copyChunk copies part to raw on the device through a stage, which it makes if there is none yet.
func (b *builder) copyChunk(s **stage, part []graph.Edge, raw uint64) (err error) {
	if *s == nil {
		*s, err = newStage(int64(len(part)))
	} else {
		err = (*s).transferred.Synchronize()
	}
	if err != nil {
		return err
	}
	(*s).fill(part)
	bytes := graph.EdgeBytes * int64(len(part))
	if err := cu.MemcpyHtoDAsync(cu.DevicePtr(raw), (*s).Host, bytes, cu.NoStream); err != nil {
		return err
	}
	return (*s).transferred.Record(cu.NoStream)
}
