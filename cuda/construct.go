//go:build cuda

package cuda

import (
	"context"
	"fmt"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// builder is kernel 1: it turns tuples into a graph on the device, in phases that are all kernels. What one phase leaves for
// the next lies on the device; only counts come back.
type builder struct {
	ctx    context.Context
	device *device
	memory *memory
	c      configuration
	tuples []graph.Edge
	graph  deviceGraph
	notes  []plugins.Fact

	pairs   uint64 // [tuples] u<<32 | v
	degree  uint64 // [labels] duplicates included
	largest uint64 // degree
	scratch uint64 // a few counters
}

// stride is how many blocks a kernel with a loop over its work gets.
func (b *builder) stride() int { return b.device.units * 8 }

// build runs kernel 1. What it allocated stays in m, on success only what a search needs.
func build(ctx context.Context, d *device, m *memory, c configuration, tuples []graph.Edge) (*builder, []plugins.Phase, error) {
	b := &builder{ctx: ctx, device: d, memory: m, c: c, tuples: tuples}
	var phases []plugins.Phase
	for _, phase := range []struct {
		name string
		do   func() error
	}{
		{"tuples to the device", b.transfer},
		{"degrees", b.degrees},
		{"order", b.order},
		{"lists", b.lists},
		{"columns", b.columns},
	} {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		start := time.Now()
		if err := phase.do(); err != nil {
			return nil, nil, err
		}
		if err := cu.Synchronize(); err != nil {
			return nil, nil, fmt.Errorf("cuda: %s: %w", phase.name, err)
		}
		phases = append(phases, plugins.Phase{Name: phase.name, Elapsed: time.Since(start)})
	}
	return b, phases, nil
}

func (b *builder) clearScratch() error { return cu.MemsetD8(cu.DevicePtr(b.scratch), 0, 8*16) }

// degrees counts the tuples at every label.
func (b *builder) degrees() (err error) {
	labels := int64(b.graph.Labels)
	if b.degree, err = b.zeroed("degrees", 4*labels); err != nil {
		return err
	}
	k := &b.device.kernels
	if err := k.countDegrees.launch(cu.NoStream, b.stride(), b.pairs, uint64(len(b.tuples)), b.degree); err != nil {
		return err
	}
	if err := b.clearScratch(); err != nil {
		return err
	}
	if err := k.largestDegree.launch(cu.NoStream, b.stride(), b.degree, b.graph.Labels, b.scratch); err != nil {
		return err
	}
	var found [2]uint64
	if err := read(found[:], b.scratch); err != nil {
		return fmt.Errorf("cuda: degrees: %w", err)
	}
	b.largest, b.graph.Vertices = found[0], found[1]
	return nil
}

// zeroed allocates an array of zeros.
func (b *builder) zeroed(what string, bytes int64) (uint64, error) { return b.filled(what, bytes, 0) }

// filled allocates an array of equal bytes.
func (b *builder) filled(what string, bytes int64, with byte) (uint64, error) {
	at, err := b.memory.array(what, bytes)
	if err != nil {
		return 0, err
	}
	if err := cu.MemsetD8(cu.DevicePtr(at), with, max(bytes, 256)); err != nil {
		return 0, fmt.Errorf("cuda: %s: %w", what, err)
	}
	return at, nil
}

// sort sorts n keys by bits low to high, stably. The result is in keys; both arrays may change places.
func (b *builder) sort(keys, spare *uint64, n int64, low, high int) error {
	k := &b.device.kernels
	tile := int64(blockThreads * sortKeys)
	blocks := int(max(1, min((n+tile-1)/tile, int64(b.device.units)*4)))
	places := int64(256 * blocks)
	place, err := b.memory.array("places of digits", 8*(places+1))
	if err != nil {
		return err
	}
	for pass := range digits(low, high) {
		shift := uint64(low + 8*pass)
		if err := k.sortCount.launch(cu.NoStream, blocks, *keys, uint64(n), shift, place); err != nil {
			return err
		}
		if err := k.scan.launch(cu.NoStream, 1, place, uint64(places), place+uint64(8*places)); err != nil {
			return err
		}
		if err := k.sortScatter.launch(cu.NoStream, blocks, *keys, *spare, uint64(n), shift, place); err != nil {
			return err
		}
		*keys, *spare = *spare, *keys
		if err := b.ctx.Err(); err != nil {
			return err
		}
	}
	return b.memory.release(&place)
}
