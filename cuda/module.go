//go:build cuda

package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// image is kernels/*.cu, compiled and linked by build.sh for several architectures.
//
//go:embed kernels/kernels.fatbin
var image string

// imageOfSeveral is the same for several GPUs that search a graph together.
//
//go:embed kernels/several.fatbin
var imageOfSeveral string

const rebuild = "build the program again with cuda/build.sh"

// module is the image loaded into a GPU.
type module struct {
	loaded    cu.Module
	functions map[string]cu.Function // found so far, by the names in kernels/*.cu
}

func loadModule(several bool) (m module, err error) {
	m.functions = make(map[string]cu.Function)
	if several {
		m.loaded, err = cu.LoadData(imageOfSeveral)
	} else {
		m.loaded, err = cu.LoadData(image)
	}
	return m, err
}

func (m module) lookup(name string) (f cu.Function, err error) {
	f, ok := m.functions[name]
	if !ok {
		if f, err = m.loaded.Function(name); err != nil {
			return f, fmt.Errorf("kernel %s is not in the program: %w; %s", name, err, rebuild)
		}
		m.functions[name] = f
	}
	return f, nil
}

// variable returns the address of a variable of the kernels.
func (m module) variable(name string) (uint64, error) {
	at, _, err := m.loaded.Global(name)
	if err != nil {
		return 0, fmt.Errorf("the kernels have no variable %s: %w; %s", name, err, rebuild)
	}
	return uint64(at), nil
}

// launch queues a kernel on a stream.
func (m module) launch(stream cu.Stream, name string, blocks, threads int, args ...uint64) error {
	f, err := m.lookup(name)
	if err != nil {
		return err
	}
	if err := launchKernel(stream, f, blocks, threads, args); err != nil {
		return fmt.Errorf("kernel %s: %w", name, err)
	}
	return nil
}

// read copies from the device to a slice of values without pointers.
func read[T any](into []T, from uint64) error {
	if len(into) == 0 {
		return nil
	}
	bytes := int64(len(into)) * int64(unsafe.Sizeof(into[0]))
	return cu.MemcpyDtoH(unsafe.Pointer(&into[0]), cu.DevicePtr(from), bytes)
}

// write copies a value without pointers to the device.
func write[T any](into uint64, from T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(&from), int64(unsafe.Sizeof(from)))
}

// allocator owns all arrays of a graph, on the device and pinned in the host, and enforces a limit on the device.
type allocator struct {
	limit  int64            // bytes on the device
	used   int64            // bytes on the device
	inHost int64            // bytes pinned in the host
	arrays map[uint64]array // by device address
}

type array struct {
	bytes int64
	host  pinned // zero: on the device
}

// driverReserve is left to the driver, for device-side launches and the stacks of kernels.
const driverReserve = 512 << 20

// newAllocator limits the arrays to limit bytes on the device, or to what is free; 0: to what is free.
func newAllocator(limit int64) (*allocator, error) {
	free, _, err := cu.MemInfo()
	if err != nil {
		return nil, fmt.Errorf("read free device memory: %w", err)
	}
	free -= driverReserve
	if limit == 0 {
		limit = free
	}
	return &allocator{limit: min(limit, free), arrays: make(map[uint64]array)}, nil
}

// room returns how many bytes are left on the device.
func (m *allocator) room() int64 { return m.limit - m.used }

// onDevice allocates an array on the device.
func (m *allocator) onDevice(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, minArray)
	if bytes > m.room() {
		return 0, fmt.Errorf("%s: %s needed on the device, %s of %s used: %w; raise the option memory, or set lists=host",
			what, units.Bytes(bytes), units.Bytes(m.used), units.Bytes(m.limit), plugins.ErrMemory)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("%s: allocate %s on the device: %w: %w", what, units.Bytes(bytes), plugins.ErrMemory, err)
	}
	m.arrays[uint64(at)] = array{bytes: bytes}
	m.used += bytes
	return uint64(at), nil
}

const minArray = 256 // bytes: empty arrays have an address, too

// onHost allocates an array in pinned host memory, which kernels access over the bus.
func (m *allocator) onHost(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, minArray)
	p, err := allocatePinned(bytes)
	if err != nil {
		return 0, fmt.Errorf("%s: pin %s of host memory: %w: %w", what, units.Bytes(bytes), plugins.ErrMemory, err)
	}
	m.arrays[p.device] = array{bytes: bytes, host: p}
	m.inHost += bytes
	return p.device, nil
}

// free frees an array, if there is one at this address.
func (m *allocator) free(at uint64) error {
	a, ok := m.arrays[at]
	if !ok {
		return nil
	}
	delete(m.arrays, at)
	if a.host.host != nil {
		m.inHost -= a.bytes
		return a.host.free()
	}
	m.used -= a.bytes
	return cu.MemFree(cu.DevicePtr(at))
}

func (m *allocator) freeAll() error {
	var all []error
	for at := range m.arrays {
		all = append(all, m.free(at))
	}
	return errors.Join(all...)
}

// writeAll copies a slice of values without pointers to the device.
func writeAll[T any](into uint64, from []T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(unsafe.SliceData(from)),
		int64(len(from))*int64(unsafe.Sizeof(from[0])))
}
