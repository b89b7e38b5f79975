// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// StageBytes is how much a Stage moves at a time: a multiple of the sizes of a tuple and of a parent.
const StageBytes = 24 << 20

// Stage moves arrays between a device and memory of the host that is not pinned. The device cannot reach such memory,
// and the driver copies it with one thread; here all threads copy a chunk while the bus transfers another one.
type Stage struct {
	memory  *Allocator
	buffers [2]buffer
}

type buffer struct {
	pinned Pinned
	device uint64
	moved  cu.Event
}

// NewStage allocates the buffers, on the device from memory. Without memory there are none on the device: a Stage for
// Download of arrays that lie there.
func NewStage(memory *Allocator) (*Stage, error) {
	s := &Stage{memory: memory}
	for i := range s.buffers {
		b := &s.buffers[i]
		var err error
		if b.moved, err = cu.MakeEvent(cu.DisableTiming); err == nil {
			if b.pinned, err = AllocatePinned(StageBytes); err != nil {
				err = fmt.Errorf("pin host memory: %w: %w", plugins.ErrMemory, err)
			}
		}
		if err == nil && memory != nil {
			b.device, err = memory.OnDevice("staging buffers", StageBytes)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (b *buffer) host(n int) []byte { return unsafe.Slice((*byte)(b.pinned.Host), n) }

// Upload sends from to the device, chunk by chunk. use queues what reads a chunk there: n bytes of from, from the one
// at first on.
func (s *Stage) Upload(ctx context.Context, from []byte, use func(at uint64, first, n int64) error) error {
	for first := 0; first < len(from); first += StageBytes {
		b := &s.buffers[first/StageBytes%2]
		part := from[first:min(first+StageBytes, len(from))]
		if err := errors.Join(ctx.Err(), b.moved.Synchronize()); err != nil {
			return err
		}
		offload.Copy(b.host(len(part)), part)
		err := cu.MemcpyHtoDAsync(cu.DevicePtr(b.device), b.pinned.Host, int64(len(part)), cu.NoStream)
		if err == nil {
			err = errors.Join(b.moved.Record(cu.NoStream), use(b.device, int64(first), int64(len(part))))
		}
		if err != nil {
			return err
		}
	}
	return cu.Synchronize()
}

// Download fills into from the device, chunk by chunk. fill returns where a chunk lies there, n bytes of into from the
// one at first on; it may queue what writes the chunk to at.
func (s *Stage) Download(ctx context.Context, into []byte,
	fill func(at uint64, first, n int64) (from uint64, err error)) error {
	var parts [2][]byte // on their way
	for first, i := 0, 0; first < len(into) || len(parts[0])+len(parts[1]) > 0; first, i = first+StageBytes, 1-i {
		b := &s.buffers[i]
		if len(parts[i]) > 0 {
			if err := errors.Join(ctx.Err(), b.moved.Synchronize()); err != nil {
				return err
			}
			arrived := parts[i]
			parts[i] = nil
			offload.Copy(arrived, b.host(len(arrived)))
		}
		if first >= len(into) {
			continue
		}
		parts[i] = into[first:min(first+StageBytes, len(into))]
		n := int64(len(parts[i]))
		from, err := fill(b.device, int64(first), n)
		if err == nil {
			err = cu.MemcpyDtoHAsync(b.pinned.Host, cu.DevicePtr(from), n, cu.NoStream)
		}
		if err = errors.Join(err, b.moved.Record(cu.NoStream)); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the buffers.
func (s *Stage) Close() (err error) {
	for i := range s.buffers {
		b := &s.buffers[i]
		err = errors.Join(err, b.pinned.Free(), cu.DestroyEvent(&b.moved))
		if s.memory != nil {
			err = errors.Join(err, s.memory.Free(b.device))
		}
	}
	return err
}
