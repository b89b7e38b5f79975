package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/tepsbench/teps/plugins"
)

// measure looks at every tuple once to learn what nobody tells kernel 1: how many labels there are. It refuses labels
// that do not fit 32 bits; the largest 32-bit number is kept free to mean "none".
func (b *builder) measure() error {
	largest := make([]uint32, b.team.size)
	wrong := make([]int, b.team.size) // 1 + position of a tuple that does not fit
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, len(b.tuples), 1)
		var top uint32
		for i, e := range b.tuples[from:to] {
			u, v, narrow := e.Narrow()
			if !narrow || u == none || v == none {
				wrong[worker] = from + i + 1
				return
			}
			top = max(top, u, v)
		}
		largest[worker] = top
	})
	for worker := range b.team.size {
		if i := wrong[worker]; i > 0 {
			return fmt.Errorf("cpu: construct: tuple %d is %v: %w: labels must be below %d; relabel the vertices", i-1, b.tuples[i-1],
				plugins.ErrTuples, none)
		}
		if len(b.tuples) > 0 {
			b.labels = max(b.labels, int(largest[worker])+1)
		}
	}
	return nil
}

// countDegrees counts the tuples at every vertex, duplicates included and self-loops left out, into b.degrees (one
// number for each label).
//
// Each worker counts in bytes of its own, a quarter of the memory and four times as many counters in a cache, and
// carries over to the shared counter the few times that a byte is full.
func (b *builder) countDegrees() (err error) {
	if b.degrees, err = allocate[uint32](b.memory, "degrees", b.labels); err != nil {
		return err
	}
	counts, err := allocate[uint8](b.memory, "degree counters", b.labels*b.team.size)
	if err != nil {
		return err
	}
	b.team.run(func(worker int) {
		own := counts[worker*b.labels:][:b.labels]
		rest := b.share(worker)
		for tuples := b.batch(&rest); len(tuples) > 0; tuples = b.batch(&rest) {
			for _, e := range tuples {
				u, v, _ := e.Narrow()
				if u == v {
					continue
				}
				if own[u]++; own[u] == 0 {
					atomic.AddUint32(&b.degrees[u], 256)
				}
				if own[v]++; own[v] == 0 {
					atomic.AddUint32(&b.degrees[v], 256)
				}
			}
		}
	})
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 64)
		for w := range b.team.size {
			own := counts[w*b.labels:][:b.labels]
			for v := from; v < to; v++ {
				b.degrees[v] += uint32(own[v])
			}
		}
	})
	release(b.memory, &counts)
	return nil
}
