// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"bytes"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// Array is an array in the memory of a device; 0: none.
type Array uintptr

// Context is an open device: its arrays, its programs and a queue, which runs commands in their order.
type Context struct {
	Device
	Used       int64 // bytes of arrays
	context    uintptr
	queue      uintptr
	arrays     map[Array]int64
	programs   []uintptr
	kernels    []uintptr
	argument   [argumentBytes]byte // of a kernel
	items      [1]uintptr          // of a launch
	group      [1]uintptr
	began      time.Time // of the first command since the last wait; zero: none
	lost       bool
	properties [3]uintptr
}

const argumentBytes = 64 // of the largest argument of a kernel

// Open opens the device.
func (d Device) Open() (*Context, error) {
	c := &Context{Device: d, arrays: make(map[Array]int64), properties: [3]uintptr{0x1084, d.platform.id, 0}}
	if d.Problem != "" {
		return nil, fmt.Errorf("%w: the OpenCL device %s cannot be used: %s", plugins.ErrUnavailable, d.Name, d.Problem)
	}
	var err error
	a := d.platform.api
	a.handle = d.id
	c.context, err = a.create("clCreateContext", uintptr(unsafe.Pointer(&c.properties)), 1,
		uintptr(unsafe.Pointer(&a.handle)), 0, 0, a.codeAt())
	if err == nil {
		c.queue, err = a.create("clCreateCommandQueue", c.context, c.id, 0, a.codeAt())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: the OpenCL device %s does not open: %w", plugins.ErrUnavailable, d.Name, err),
			c.Close())
	}
	return c, nil
}

func (c *Context) api() *api { return c.platform.api }

// Close frees everything, but for a device that is lost, whose driver may never answer.
func (c *Context) Close() (err error) {
	if c.lost {
		return nil
	}
	release := func(f string, object uintptr) {
		if object != 0 {
			err = errors.Join(err, c.api().call(f, object))
		}
	}
	for _, k := range c.kernels {
		release("clReleaseKernel", k)
	}
	for _, p := range c.programs {
		release("clReleaseProgram", p)
	}
	for a := range c.arrays {
		release("clReleaseMemObject", uintptr(a))
	}
	release("clReleaseCommandQueue", c.queue)
	release("clReleaseContext", c.context)
	return err
}

// Room returns how many bytes of arrays can still be allocated. Part of the memory is left to the driver.
func (c *Context) Room() int64 { return c.Memory - c.Memory/16 - c.Used }

// minArray is the size of an array for which fewer bytes are asked.
const minArray = 16

// Allocate makes an array with undefined contents.
func (c *Context) Allocate(what string, bytes int64) (Array, error) {
	return c.allocate(what, bytes, 1) // CL_MEM_READ_WRITE
}

func (c *Context) allocate(what string, bytes int64, flags uintptr) (Array, error) {
	bytes = max(bytes, minArray)
	if bytes > c.MaxArray {
		return 0, fmt.Errorf("%s: %s needed in one array, and the largest one of the device has %s: %w; use a smaller graph "+
			"or another device", what, units.Bytes(bytes), units.Bytes(c.MaxArray), plugins.ErrMemory)
	}
	if bytes > c.Room() {
		return 0, fmt.Errorf("%s: %s needed on the device, %s of %s used: %w; use a smaller graph or another device",
			what, units.Bytes(bytes), units.Bytes(c.Used), units.Bytes(c.Memory), plugins.ErrMemory)
	}
	at, err := c.api().create("clCreateBuffer", c.context, flags, uintptr(bytes), 0, c.api().codeAt())
	if err != nil {
		return 0, fmt.Errorf("%s: allocate %s on the device: %w", what, units.Bytes(bytes), c.explain(err, true))
	}
	c.Used += bytes
	c.arrays[Array(at)] = bytes
	return Array(at), nil
}

// Free frees an array, unless there is none or the device is lost.
func (c *Context) Free(a Array) error {
	if a == 0 || c.lost {
		return nil
	}
	c.Used -= c.arrays[a]
	delete(c.arrays, a)
	return c.explain(c.api().call("clReleaseMemObject", uintptr(a)), false)
}

// Read copies elements of an array from a byte offset on to into, and waits for it.
func Read[T any](c *Context, into []T, from Array, offset int64) error {
	return c.transfer("clEnqueueReadBuffer", from, true, offset, offload.Bytes(into), 0)
}

// Write copies from to the beginning of an array, and waits for it.
func Write[T any](c *Context, into Array, from []T) error {
	return c.transfer("clEnqueueWriteBuffer", into, true, 0, offload.Bytes(from), 0)
}

func (c *Context) transfer(f string, a Array, blocking bool, offset int64, memory []byte, event uintptr) error {
	if len(memory) == 0 {
		return nil
	}
	wait := uintptr(0)
	if blocking {
		wait = 1
	}
	err := c.api().call(f, c.queue, uintptr(a), wait, uintptr(offset), uintptr(len(memory)),
		uintptr(unsafe.Pointer(&memory[0])), 0, 0, event)
	if err == nil && blocking {
		c.began = time.Time{}
	}
	return c.explain(err, false)
}

// Finish waits for all commands, unless the device is lost.
func (c *Context) Finish() error {
	if c.lost {
		return nil
	}
	err := c.api().call("clFinish", c.queue)
	if err == nil {
		c.began = time.Time{}
	}
	return c.explain(err, false)
}

// Flush submits the queued commands to the device.
func (c *Context) Flush() error { return c.explain(c.api().call("clFlush", c.queue), false) }

// Program is a program with its kernels, for work-groups of Group items.
type Program struct {
	Group   int
	Log     string // of the compiler
	context *Context
	handle  uintptr
}

// Build compiles a program for work-groups of the given number of items, or of as many as all of its kernels can have
// on this device; options returns the options of the compiler for a number.
func (c *Context) Build(source string, group int, options func(group int) string, kernels ...string) (*Program, error) {
	for group = min(group, c.maxGroup); ; group /= 2 {
		p, err := c.build(source, group, options(group))
		if err != nil {
			return nil, err
		}
		limit := group
		for _, name := range kernels {
			k, err := p.Kernel(name)
			if err != nil {
				return nil, err
			}
			limit = min(limit, int(number(c.api().info("clGetKernelWorkGroupInfo", k.handle, c.id, kernelGroup))))
		}
		if limit >= group {
			return p, nil
		}
		if group <= 8 {
			return nil, fmt.Errorf("%w: the OpenCL device %s runs the kernels with work-groups of at most %d items",
				plugins.ErrUnavailable, c.Name, limit)
		}
	}
}

func (c *Context) build(source string, group int, options string) (*Program, error) {
	a := c.api()
	code, length := []byte(source), uintptr(len(source))
	a.handle, a.size = uintptr(unsafe.Pointer(&code[0])), length
	handle, err := a.create("clCreateProgramWithSource", c.context, 1, uintptr(unsafe.Pointer(&a.handle)),
		uintptr(unsafe.Pointer(&a.size)), a.codeAt())
	if err != nil {
		return nil, c.explain(err, false)
	}
	c.programs = append(c.programs, handle)
	flags := append([]byte("-cl-std=CL1.2 "+options), 0)
	err = a.call("clBuildProgram", handle, 0, 0, uintptr(unsafe.Pointer(&flags[0])), 0, 0)
	log := a.info("clGetProgramBuildInfo", handle, c.id, programBuildLog)
	p := &Program{Group: group, Log: string(bytes.TrimRight(log, "\x00")), context: c, handle: handle}
	if err != nil {
		return nil, &BuildError{c.Device, p.Log, err}
	}
	return p, nil
}

// Kernel is a kernel with its arguments.
type Kernel struct {
	name    string
	program *Program
	handle  uintptr
}

// Kernel makes a kernel of the program; each has its own arguments.
func (p *Program) Kernel(name string) (*Kernel, error) {
	a, text := p.context.api(), append([]byte(name), 0)
	handle, err := a.create("clCreateKernel", p.handle, uintptr(unsafe.Pointer(&text[0])), a.codeAt())
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", name, err)
	}
	p.context.kernels = append(p.context.kernels, handle)
	return &Kernel{name, p, handle}, nil
}

// Set sets an argument to an Array, a number or a structure without pointers, as the kernel declares it.
func Set[T any](k *Kernel, i int, value T) error {
	c := k.program.context
	*(*T)(unsafe.Pointer(&c.argument)) = value
	err := c.api().call("clSetKernelArg", k.handle, uintptr(i), unsafe.Sizeof(value),
		uintptr(unsafe.Pointer(&c.argument)))
	if err != nil {
		return fmt.Errorf("kernel %s, argument %d: %w", k.name, i, err)
	}
	return nil
}

// Launch queues the kernel with a number of work-groups.
func (k *Kernel) Launch(groups int) error {
	c := k.program.context
	c.group[0] = uintptr(k.program.Group)
	c.items[0] = uintptr(groups) * c.group[0]
	if c.began.IsZero() {
		c.began = time.Now()
	}
	err := c.api().call("clEnqueueNDRangeKernel", c.queue, k.handle, 1, 0, uintptr(unsafe.Pointer(&c.items)),
		uintptr(unsafe.Pointer(&c.group)), 0, 0, 0)
	if err != nil {
		return c.explain(fmt.Errorf("kernel %s: %w", k.name, err), false)
	}
	return nil
}
