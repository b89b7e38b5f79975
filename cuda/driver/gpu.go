// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// GPU is a GPU with kernels loaded.
type GPU struct {
	Number          int
	UUID            string // as nvidia-smi prints it
	Context         cu.CUContext
	Multiprocessors int
	Stream          cu.Stream
	Launches        int64 // of kernels by Launch and LaunchArgument

	loaded    cu.Module
	functions map[string]cu.Function // found so far, by the names in kernels/*.cu
}

const rebuild = "build the program again with cuda/build.sh"

// Open opens a GPU for one graph and loads an image of kernels. The caller has locked its goroutine to the thread. The
// driver's context of the GPU stays open until the process ends, as in CUDA's runtime library, since creating it takes
// half a second. options names the options that number comes from.
func Open(number int, options, image string) (d *GPU, err error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("count GPUs: %w", err)
	}
	if number >= count {
		return nil, fmt.Errorf("%w: GPU %d of the %s: the GPUs of this machine are numbered 0 to %d",
			plugins.ErrUnavailable, number, options, count-1)
	}
	d = &GPU{Number: number}
	if err := d.open(cu.Device(number), image); err != nil {
		return nil, errors.Join(fmt.Errorf("open GPU %d: %w", number, err), d.Close())
	}
	return d, nil
}

func (d *GPU) open(gpu cu.Device, image string) (err error) {
	if d.UUID, err = uuidOf(gpu); err != nil {
		return err
	}
	if d.Context, err = gpu.RetainPrimaryCtx(); err != nil {
		return fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	if err := cu.SetCurrentContext(d.Context); err != nil {
		return err
	}
	if d.Multiprocessors, err = gpu.Attribute(cu.MultiprocessorCount); err != nil {
		return err
	}
	if err := d.Load(image); errors.Is(err, cu.OutOfMemory) {
		return fmt.Errorf("load the kernels: %w: other programs use the memory of the GPU; see nvidia-smi", plugins.ErrMemory)
	} else if err != nil {
		return fmt.Errorf("load the kernels: %w: %w; the GPU needs compute capability 7.0 or later, and the program a build "+
			"for it (TEPS_CUDA_ARCHS of cuda/build.sh)", plugins.ErrUnavailable, err)
	}
	if d.Stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("make a stream: %w", err)
	}
	return nil
}

// Load loads an image of kernels in place of the one before. No kernel may run.
func (d *GPU) Load(image string) error {
	before := d.loaded
	loaded, err := cu.LoadData(image)
	if err != nil {
		return err
	}
	d.loaded, d.functions = loaded, make(map[string]cu.Function)
	if before != (cu.Module{}) {
		return before.Unload()
	}
	return nil
}

// Lookup returns the kernel of a name.
func (d *GPU) Lookup(name string) (f cu.Function, err error) {
	f, ok := d.functions[name]
	if !ok {
		if f, err = d.loaded.Function(name); err != nil {
			return f, fmt.Errorf("kernel %s is not in the program: %w; %s", name, err, rebuild)
		}
		d.functions[name] = f
	}
	return f, nil
}

// Variable returns the address of a variable of the kernels.
func (d *GPU) Variable(name string) (uint64, error) {
	at, _, err := d.loaded.Global(name)
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

// Of returns the call of a kernel.
func Of(kernel string, args ...uint64) Call { return Call{kernel, args} }

// Launch queues a kernel on a stream.
func (d *GPU) Launch(stream cu.Stream, blocks, threads int, call Call) error {
	return d.launch(stream, call.Kernel, blocks, threads, unsafe.Pointer(unsafe.SliceData(call.Args)), len(call.Args))
}

// LaunchArgument queues a kernel with one argument, a structure without pointers.
func LaunchArgument[T any](d *GPU, stream cu.Stream, name string, blocks, threads int, argument T) error {
	return d.launch(stream, name, blocks, threads, unsafe.Pointer(&argument), 1)
}

func (d *GPU) launch(stream cu.Stream, name string, blocks, threads int, arguments unsafe.Pointer, n int) error {
	f, err := d.Lookup(name)
	if err != nil {
		return err
	}
	if err := LaunchFunction(stream, f, blocks, threads, 0, arguments, n, false); err != nil {
		return fmt.Errorf("kernel %s: %w", name, err)
	}
	d.Launches++
	return nil
}

// LaunchCooperative is LaunchArgument for a kernel whose blocks run at the same time and wait for each other.
func LaunchCooperative[T any](stream cu.Stream, f cu.Function, blocks, threads int, argument T) error {
	return LaunchFunction(stream, f, blocks, threads, 0, unsafe.Pointer(&argument), 1, true)
}

// Read copies from the device to a slice of values without pointers.
func Read[T any](into []T, from uint64) error {
	if len(into) == 0 {
		return nil
	}
	return cu.MemcpyDtoH(unsafe.Pointer(&into[0]), cu.DevicePtr(from), int64(len(offload.Bytes(into))))
}

// Write copies a value without pointers to the device.
func Write[T any](into uint64, from T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(&from), int64(unsafe.Sizeof(from)))
}

// WriteAll copies a slice of values without pointers to the device.
func WriteAll[T any](into uint64, from []T) error {
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(unsafe.SliceData(from)), int64(len(offload.Bytes(from))))
}

// LoopBlocks is the number of blocks of a kernel that loops over its work.
func (d *GPU) LoopBlocks() int { return d.Multiprocessors * 8 }

// Do calls f on a thread with the device's context, as the driver requires.
func (d *GPU) Do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.Context); err != nil {
		return fmt.Errorf("use GPU %d: %w", d.Number, err)
	}
	return f()
}

// Close ends Open. The context stays.
func (d *GPU) Close() (err error) {
	if d.Stream != (cu.Stream{}) {
		err = d.Stream.Destroy()
	}
	if d.loaded != (cu.Module{}) {
		err = errors.Join(err, d.loaded.Unload())
	}
	return err
}

// Devices lists every GPU of this machine, none if GPUs are Missing.
func Devices() (all []plugins.Device, err error) {
	if Missing() != "" {
		return nil, nil
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("count GPUs: %w", err)
	}
	for i := range count {
		d, err := describeDevice(cu.Device(i))
		if err != nil {
			return nil, fmt.Errorf("describe GPU %d: %w", i, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func describeDevice(gpu cu.Device) (plugins.Device, error) {
	name, errName := gpu.Name()
	memory, errMemory := gpu.TotalMem()
	uuid, errUUID := uuidOf(gpu)
	err := errors.Join(errName, errMemory, errUUID)
	attribute := func(a cu.DeviceAttribute) int {
		x, e := gpu.Attribute(a)
		err = errors.Join(err, e)
		return x
	}
	dotted := func(major, minor int) string { return fmt.Sprintf("%d.%d", major, minor) }
	units := attribute(cu.MultiprocessorCount)
	details := []plugins.Fact{
		{Name: plugins.DeviceUUID, Value: uuid},
		{Name: "compute capability",
			Value: dotted(attribute(cu.ComputeCapabilityMajor), attribute(cu.ComputeCapabilityMinor))},
		{Name: "maximum clock of the multiprocessors", Value: fmt.Sprintf("%d MHz", attribute(cu.ClockRate)/1000)},
		{Name: "maximum clock of the memory", Value: fmt.Sprintf("%d MHz", attribute(cu.MemoryClockRate)/1000)},
		{Name: "second-level cache", Value: fmt.Sprintf("%d MiB", attribute(cu.L2CacheSize)>>20)},
		{Name: "CUDA version of the driver", Value: dotted(cu.Version()/1000, cu.Version()%1000/10)},
	}
	return plugins.Device{Kind: "gpu", Name: name, Units: units, MemoryBytes: memory, Details: details}, err
}

// uuidOf identifies a GPU as nvidia-smi and its library do, GPU-..., so that a power meter can be matched with it.
func uuidOf(gpu cu.Device) (string, error) {
	id, err := gpu.UUID()
	if err != nil {
		return "", fmt.Errorf("read the UUID: %w", err)
	}
	return "GPU-" + id.String(), nil
}
