//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// device is an open GPU: its context, the kernels, and what a search launches into.
type device struct {
	number   int
	uuid     string // as nvidia-smi prints it
	context  cu.CUContext
	module   cu.Module
	units    int // multiprocessors
	kernels  kernels
	graph    uint64 // address of the kernels' constant `graph`
	work     cu.Stream
	begun    cu.Event
	ended    cu.Event
	copies   uint64 // of the output template that were launched, by blocks
	launches uint64 // of the search
	near     uint64 // vertices of which a block keeps the frontier bits
}

// openDevice opens a GPU. The caller has locked its goroutine to the thread (use).
func openDevice(number int) (d *device, err error) {
	if why := missing(); why != "" {
		return nil, fmt.Errorf("cuda: %w: %s", plugins.ErrUnavailable, why)
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: count GPUs: %w", err)
	}
	if number >= count {
		return nil, fmt.Errorf("cuda: option %s=%d: there are %d GPUs, numbered from 0: %w", optionDevice, number, count, plugins.ErrOption)
	}
	gpu := cu.Device(number)
	d = &device{number: number}
	if d.uuid, err = uuidOf(gpu); err != nil {
		return nil, err
	}
	if d.context, err = gpu.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("cuda: open GPU %d: %w: %w", number, plugins.ErrUnavailable, err)
	}
	defer func(opened *device) { // a return with an error has made d nil by then
		if err != nil {
			err = errors.Join(err, opened.close())
		}
	}(d)
	if err = cu.SetCurrentContext(d.context); err != nil {
		return nil, fmt.Errorf("cuda: open GPU %d: %w", number, err)
	}
	if d.units, err = gpu.Attribute(cu.MultiprocessorCount); err != nil {
		return nil, fmt.Errorf("cuda: open GPU %d: %w", number, err)
	}
	if d.module, err = cu.LoadData(image); err != nil {
		return nil, fmt.Errorf("cuda: load the kernels into GPU %d: %w: %w; it needs compute capability 7.0 or later, and a build for what it has (TEPS_CUDA_ARCHS of cuda/build.sh)",
			number, plugins.ErrUnavailable, err)
	}
	if err = d.kernels.load(d.module); err != nil {
		return nil, err
	}
	at, _, err := d.module.Global("graph")
	if err != nil {
		return nil, fmt.Errorf("cuda: the kernels have no graph: %w; build the program again with cuda/build.sh", err)
	}
	d.graph = uint64(at)
	if err = d.share(gpu); err != nil {
		return nil, err
	}
	if d.work, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, fmt.Errorf("cuda: make a stream: %w", err)
	}
	for _, event := range []*cu.Event{&d.begun, &d.ended} {
		if *event, err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return nil, fmt.Errorf("cuda: make an event: %w", err)
		}
	}
	// a master thread may launch a child for every vertex of a frontier; beyond this it does the child's work itself
	if err = cu.SetLimit(cu.DevRuntimePendingLaunchCount, pendingLaunches); err != nil {
		return nil, fmt.Errorf("cuda: make room for device-side launches: %w", err)
	}
	return d, nil
}

// share gives the blocks of the search their shared memory: what they need, and the frontier bits of as many of the first vertices as
// the kernels want and there is room for.
func (d *device) share(gpu cu.Device) error {
	at, _, err := d.module.Global("shared_memory")
	if err != nil {
		return fmt.Errorf("cuda: the kernels have no shared_memory: %w; build the program again with cuda/build.sh", err)
	}
	var bytes [2]uint64 // needed, wanted for frontier bits
	if err := read(bytes[:], uint64(at)); err != nil {
		return fmt.Errorf("cuda: shared memory of the search: %w", err)
	}
	most, err := gpu.Attribute(mostShared)
	if err != nil {
		return fmt.Errorf("cuda: open GPU %d: %w", d.number, err)
	}
	near := nearBytes(int64(bytes[0]), int64(bytes[1]), int64(most))
	d.near = uint64(8 * near)
	return d.kernels.search.allow(int(int64(bytes[0]) + near))
}

const pendingLaunches = 1 << 15

// use ties the calling goroutine and the device's context to one thread, as the driver wants it, until release is called.
func (d *device) use() (release func(), err error) {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("cuda: use GPU %d: %w", d.number, err)
	}
	return runtime.UnlockOSThread, nil
}

func (d *device) close() error {
	var all []error
	for _, event := range []*cu.Event{&d.begun, &d.ended} {
		if *event != (cu.Event{}) {
			all = append(all, cu.DestroyEvent(event))
		}
	}
	if d.work != (cu.Stream{}) {
		all = append(all, d.work.Destroy())
	}
	if d.module != (cu.Module{}) {
		all = append(all, d.module.Unload())
	}
	all = append(all, cu.Device(d.number).ReleasePrimaryCtx())
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("cuda: close GPU %d: %w", d.number, err)
	}
	return nil
}

// describeDevices lists every GPU of this machine.
func describeDevices() ([]plugins.Device, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("cuda: count GPUs: %w", err)
	}
	var all []plugins.Device
	for i := range count {
		gpu := cu.Device(i)
		name, err := gpu.Name()
		if err != nil {
			return nil, fmt.Errorf("cuda: name of GPU %d: %w", i, err)
		}
		memory, err := gpu.TotalMem()
		if err != nil {
			return nil, fmt.Errorf("cuda: memory of GPU %d: %w", i, err)
		}
		attribute := func(a cu.DeviceAttribute) int {
			x, e := gpu.Attribute(a)
			err = errors.Join(err, e)
			return x
		}
		units := attribute(cu.MultiprocessorCount)
		uuid, noUUID := uuidOf(gpu)
		err = errors.Join(err, noUUID)
		details := []plugins.Fact{
			{Name: plugins.DeviceUUID, Value: uuid},
			{Name: "compute capability", Value: fmt.Sprintf("%d.%d", attribute(cu.ComputeCapabilityMajor), attribute(cu.ComputeCapabilityMinor))},
			{Name: "largest clock of the multiprocessors", Value: fmt.Sprintf("%d MHz", attribute(cu.ClockRate)/1000)},
			{Name: "largest clock of the memory", Value: fmt.Sprintf("%d MHz", attribute(cu.MemoryClockRate)/1000)},
			{Name: "second-level cache", Value: fmt.Sprintf("%d MiB", attribute(cu.L2CacheSize)>>20)},
			{Name: "CUDA of the driver", Value: fmt.Sprintf("%d.%d", cu.Version()/1000, cu.Version()%1000/10)},
		}
		if err != nil {
			return nil, fmt.Errorf("cuda: describe GPU %d: %w", i, err)
		}
		all = append(all, plugins.Device{Kind: "gpu", Name: name, Units: units, MemoryBytes: memory, Details: details})
	}
	return all, nil
}

// uuidOf is a GPU's identity, GPU-... as nvidia-smi and its library print it, by which a power meter is matched with it.
func uuidOf(gpu cu.Device) (string, error) {
	id, err := gpu.UUID()
	if err != nil {
		return "", fmt.Errorf("cuda: UUID of GPU %d: %w", int(gpu), err)
	}
	return "GPU-" + id.String(), nil
}

// onThread runs open or close of a device on a thread that no other goroutine uses meanwhile.
func onThread(do func() (*device, error)) (*device, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return do()
}
