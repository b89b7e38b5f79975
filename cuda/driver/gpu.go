// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// GPU is a GPU with kernels loaded.
type GPU struct {
	Number          int
	UUID            string // as nvidia-smi prints it
	Context         cu.CUContext
	Multiprocessors int
	Stream          cu.Stream
	Module
}

// Open opens a GPU for one graph and loads an image of kernels. The caller has locked its goroutine to the thread. The
// driver's context of the GPU stays open until the process ends, as in CUDA's runtime library, since creating it takes
// half a second. options names the options that number comes from.
func Open(number int, options, image string) (d *GPU, err error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("count GPUs: %w", err)
	}
	if number >= count {
		return nil, plugins.OptionError("GPU %d of the %s: the GPUs of this machine are numbered 0 to %d",
			number, options, count-1)
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
	if d.Module, err = loadModule(image); err != nil {
		return fmt.Errorf("load the kernels: %w: %w; the GPU needs compute capability 7.0 or later, and the program a build "+
			"for it (TEPS_CUDA_ARCHS of cuda/build.sh)", plugins.ErrUnavailable, err)
	}
	if d.Stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("make a stream: %w", err)
	}
	return nil
}

// Do calls f on a thread with the device's context, as the driver requires.
func (d *GPU) Do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.Context); err != nil {
		return fmt.Errorf("use GPU %d: %w", d.Number, err)
	}
	return f()
}

// Close frees what Open made, except for the context.
func (d *GPU) Close() error {
	var all []error
	if d.Stream != (cu.Stream{}) {
		all = append(all, d.Stream.Destroy())
	}
	if d.loaded != (cu.Module{}) {
		all = append(all, d.loaded.Unload())
	}
	return errors.Join(all...)
}

// Devices lists every GPU of this machine.
func Devices() (all []plugins.Device, err error) {
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
