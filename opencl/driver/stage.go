// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"context"
	"errors"
	"unsafe"

	"github.com/tepsbench/teps/internal/offload"
)

// StageBytes is how much a Stage moves at a time: a multiple of the sizes of a tuple and of a parent.
const StageBytes = 24 << 20

// Stage moves large arrays between a device and memory of the host that the driver cannot transfer directly: all
// processors copy one part into memory of the driver while the bus transfers another.
type Stage struct {
	context *Context
	buffers [2]struct {
		array  Array // in the host
		memory []byte
		moved  *uintptr // event; 0: nothing is on its way
	}
}

// NewStage allocates two buffers for parts of at most StageBytes.
func (c *Context) NewStage() (*Stage, error) {
	s := &Stage{context: c}
	for i := range s.buffers {
		b := &s.buffers[i]
		var err error
		if b.array, err = c.allocate("staging buffer", StageBytes, 1|16); err != nil { // CL_MEM_ALLOC_HOST_PTR
			return nil, err
		}
		at, err := c.api().create("clEnqueueMapBuffer", c.queue, uintptr(b.array), 1, 3, 0, StageBytes, 0, 0, 0,
			c.api().codeAt())
		if err != nil {
			return nil, c.explain(err, true)
		}
		b.memory, b.moved = unsafe.Slice((*byte)(pointer(at)), StageBytes), new(uintptr)
	}
	return s, nil
}

// wait waits until what buffer i holds has been moved.
func (s *Stage) wait(i int) error {
	moved := s.buffers[i].moved
	if *moved == 0 {
		return nil
	}
	a := s.context.api()
	err := errors.Join(a.call("clWaitForEvents", 1, uintptr(unsafe.Pointer(moved))), a.call("clReleaseEvent", *moved))
	*moved = 0
	return s.context.explain(err, false)
}

// Upload copies from to an array of StageBytes on the device, part by part. use queues what reads a part there: n bytes
// of from, from the one at first on.
func (s *Stage) Upload(ctx context.Context, into Array, from []byte, use func(first, n int64) error) error {
	for first, i := 0, 0; first < len(from); first, i = first+StageBytes, 1-i {
		part := from[first:min(first+StageBytes, len(from))]
		if err := errors.Join(ctx.Err(), s.wait(i)); err != nil {
			return err
		}
		b := &s.buffers[i]
		offload.Copy(b.memory[:len(part)], part)
		err := s.context.transfer("clEnqueueWriteBuffer", into, false, 0, b.memory[:len(part)],
			uintptr(unsafe.Pointer(b.moved)))
		if err == nil {
			err = errors.Join(s.context.Flush(), use(int64(first), int64(len(part))))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(s.wait(0), s.wait(1))
}

// Download copies the beginning of an array to into.
func (s *Stage) Download(ctx context.Context, into []byte, from Array) error {
	var parts [2][]byte // on their way
	for first, i := 0, 0; first < len(into) || len(parts[0])+len(parts[1]) > 0; first, i = first+StageBytes, 1-i {
		b := &s.buffers[i]
		if err := errors.Join(ctx.Err(), s.wait(i)); err != nil {
			return err
		}
		offload.Copy(parts[i], b.memory[:len(parts[i])])
		parts[i] = nil
		if first < len(into) {
			parts[i] = into[first:min(first+StageBytes, len(into))]
			err := s.context.transfer("clEnqueueReadBuffer", from, false, int64(first), b.memory[:len(parts[i])],
				uintptr(unsafe.Pointer(b.moved)))
			if err := errors.Join(err, s.context.Flush()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close frees the buffers, after what is on its way, unless the device is lost.
func (s *Stage) Close() (err error) {
	c := s.context
	if c.lost {
		return nil
	}
	for i := range s.buffers {
		b := &s.buffers[i]
		err = errors.Join(err, s.wait(i))
		if b.array != 0 {
			err = errors.Join(err, c.api().call("clEnqueueUnmapMemObject", c.queue, uintptr(b.array),
				uintptr(unsafe.Pointer(unsafe.SliceData(b.memory))), 0, 0, 0), c.Finish(), c.Free(b.array))
		}
	}
	return err
}
