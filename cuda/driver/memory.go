// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// Allocator owns all arrays of a graph, on the device and pinned in the host, and enforces a limit on the device.
type Allocator struct {
	Limit  int64            // bytes on the device
	Used   int64            // bytes on the device
	InHost int64            // bytes pinned in the host
	advice string           // what to do if there is too little
	arrays map[uint64]array // by device address
}

type array struct {
	bytes    int64
	host     Pinned // zero: on the device
	reserved int64  // bytes of addresses of Shrinkable; 0: another array
}

// driverReserve is left to the driver, for device-side launches and the stacks of kernels.
const driverReserve = 512 << 20

// NewAllocator limits the arrays to limit bytes on the device, or to what is free; 0: to what is free. advice ends the
// error of an allocation beyond the limit. After an error nothing is free.
func NewAllocator(limit int64, advice string) (*Allocator, error) {
	m := &Allocator{advice: advice, arrays: make(map[uint64]array)}
	free, _, err := cu.MemInfo()
	if err != nil {
		return m, fmt.Errorf("read free device memory: %w", err)
	}
	free -= driverReserve
	m.Limit = min(cmp.Or(limit, free), free)
	return m, nil
}

// LeaveToOthers lowers the limit to what other processes have left free.
func (m *Allocator) LeaveToOthers() error {
	free, _, err := cu.MemInfo()
	m.Limit = min(m.Limit, m.Used+free-driverReserve)
	return err
}

// Room returns how many bytes are left on the device.
func (m *Allocator) Room() int64 { return m.Limit - m.Used }

// OnDevice allocates an array on the device.
func (m *Allocator) OnDevice(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, minArray)
	if bytes > m.Room() {
		return 0, fmt.Errorf("%s: %s needed on the device, %s of %s used: %w; %s",
			what, units.Bytes(bytes), units.Bytes(m.Used), units.Bytes(m.Limit), plugins.ErrMemory, m.advice)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("%s: allocate %s on the device: %w: %w", what, units.Bytes(bytes), plugins.ErrMemory, err)
	}
	m.arrays[uint64(at)] = array{bytes: bytes}
	m.Used += bytes
	return uint64(at), nil
}

// Shrinkable allocates an array on the device that Shrink makes shorter. Its size is rounded down to pieces.
func (m *Allocator) Shrinkable(what string, bytes int64) (at uint64, size int64, err error) {
	pieces := max(bytes/pieceBytes, 1)
	if at, err = mapMemory(pieces); err != nil {
		return 0, 0, fmt.Errorf("%s: allocate %s on the device: %w: %w", what, units.Bytes(bytes), plugins.ErrMemory, err)
	}
	size = pieces * pieceBytes
	m.arrays[at] = array{bytes: size, reserved: size}
	m.Used += size
	return at, size, nil
}

// Shrink gives back the memory behind the first bytes of an array of Shrinkable. Unlike the driver's functions that
// free memory, its function for that does not wait for kernels.
func (m *Allocator) Shrink(at uint64, bytes int64) error {
	a := m.arrays[at]
	freed := a.bytes - min((bytes+pieceBytes-1)/pieceBytes*pieceBytes, a.bytes)
	a.bytes -= freed
	m.Used -= freed
	m.arrays[at] = a
	return errors.Join(cu.Synchronize(), unmapMemory(at+uint64(a.bytes), freed))
}

// minArray is the size of the smallest array in bytes: empty arrays have an address, too.
const minArray = 256

// OnHost allocates an array in pinned host memory, which kernels access over the bus.
func (m *Allocator) OnHost(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, minArray)
	p, err := AllocatePinned(bytes)
	if err != nil {
		return 0, fmt.Errorf("%s: pin %s of host memory: %w: %w", what, units.Bytes(bytes), plugins.ErrMemory, err)
	}
	m.arrays[p.Device] = array{bytes: bytes, host: p}
	m.InHost += bytes
	return p.Device, nil
}

// Free frees an array, if there is one at this address.
func (m *Allocator) Free(at uint64) error {
	a, ok := m.arrays[at]
	if !ok {
		return nil
	}
	delete(m.arrays, at)
	if a.host.Host != nil {
		m.InHost -= a.bytes
		return a.host.Free()
	}
	m.Used -= a.bytes
	if a.reserved != 0 {
		return errors.Join(cu.Synchronize(), unmapMemory(at, a.bytes), freeAddresses(at, a.reserved))
	}
	return cu.MemFree(cu.DevicePtr(at))
}

// FreeAll frees all arrays.
func (m *Allocator) FreeAll() (err error) {
	for at := range m.arrays {
		err = errors.Join(err, m.Free(at))
	}
	return err
}

// HostSlice returns an array in pinned host memory as n values without pointers, nil if there is none.
func HostSlice[T any](m *Allocator, at uint64, n int64) []T { return unsafe.Slice((*T)(m.Host(at)), n) }

// Host returns the address in the host of an array in pinned host memory.
func (m *Allocator) Host(at uint64) unsafe.Pointer { return m.arrays[at].host.Host }
