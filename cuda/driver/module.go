// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Module is an image of kernels loaded into a GPU.
type Module struct {
	loaded    cu.Module
	functions map[string]cu.Function // found so far, by the names in kernels/*.cu
	launches  *int64                 // of these kernels, but for those of LaunchKernel and LaunchTogether
}

const rebuild = "build the program again with cuda/build.sh"

func loadModule(image string) (m Module, err error) {
	m.functions, m.launches = make(map[string]cu.Function), new(int64)
	m.loaded, err = cu.LoadData(image)
	return m, err
}

// Replace loads another image in place of this one. No kernel may run.
func (m *Module) Replace(image string) error {
	other, err := loadModule(image)
	if err != nil {
		return err
	}
	err = m.loaded.Unload()
	*m = other
	return err
}

// Lookup returns the kernel of a name.
func (m Module) Lookup(name string) (f cu.Function, err error) {
	f, ok := m.functions[name]
	if !ok {
		if f, err = m.loaded.Function(name); err != nil {
			return f, fmt.Errorf("kernel %s is not in the program: %w; %s", name, err, rebuild)
		}
		m.functions[name] = f
	}
	return f, nil
}

// Variable returns the address of a variable of the kernels.
func (m Module) Variable(name string) (uint64, error) {
	at, _, err := m.loaded.Global(name)
	if err != nil {
		return 0, fmt.Errorf("the kernels have no variable %s: %w; %s", name, err, rebuild)
	}
	return uint64(at), nil
}

// Call is a kernel with its arguments of 8 bytes each. The functions of kernels.gen.go make them.
type Call struct {
	Kernel string
	Args   []uint64
}

// Launch queues a kernel on a stream.
func (m Module) Launch(stream cu.Stream, blocks, threads int, call Call) error {
	f, err := m.Lookup(call.Kernel)
	if err != nil {
		return err
	}
	if err := LaunchKernel(stream, f, blocks, threads, call.Args); err != nil {
		return fmt.Errorf("kernel %s: %w", call.Kernel, err)
	}
	*m.launches++
	return nil
}

// Launches is how many kernels Launch and LaunchArgument have queued.
func (m Module) Launches() int64 { return *m.launches }

// LaunchArgument queues a kernel with one argument, a structure without pointers.
func LaunchArgument[T any](m Module, stream cu.Stream, name string, blocks, threads int, argument T) error {
	f, err := m.Lookup(name)
	if err != nil {
		return err
	}
	if err := LaunchTogether(stream, f, blocks, threads, 0, unsafe.Pointer(&argument), false); err != nil {
		return fmt.Errorf("kernel %s: %w", name, err)
	}
	*m.launches++
	return nil
}

// Read copies from the device to a slice of values without pointers.
func Read[T any](into []T, from uint64) error {
	if len(into) == 0 {
		return nil
	}
	bytes := int64(len(into)) * int64(unsafe.Sizeof(into[0]))
	return cu.MemcpyDtoH(unsafe.Pointer(&into[0]), cu.DevicePtr(from), bytes)
}

// Write copies a value without pointers to the device.
func Write[T any](into uint64, from T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(&from), int64(unsafe.Sizeof(from)))
}

// WriteAll copies a slice of values without pointers to the device.
func WriteAll[T any](into uint64, from []T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(unsafe.SliceData(from)),
		int64(len(from))*int64(unsafe.Sizeof(from[0])))
}
