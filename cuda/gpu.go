//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// gpu is a GPU with the kernels loaded.
type gpu struct {
	number          int
	uuid            string // as nvidia-smi prints it
	context         cu.CUContext
	multiprocessors int
	module
	graph          uint64 // address of the kernels' constant graph
	searchFunction cu.Function
	searchBlocks   int
	shared         bool   // by several ranks: one block of each runs on a multiprocessor
	searchThreads  int    // of a block of the search
	searchShared   int    // bytes of shared memory of a block of the search
	cachedVertices uint64 // vertices whose frontier bits fit into them
	stream         cu.Stream
}

// pendingLaunches is how many children of top_down_dynamic may wait; its threads do the work of further ones
// themselves.
const pendingLaunches = 1 << 15

// openGPU opens a GPU for one graph. The caller has locked its goroutine to the thread. The driver's context of
// the GPU stays open until the process ends, as in CUDA's runtime library, since creating it takes half a second.
//
// ranks is how many ranks of a search of several GPUs share this one, 0 for a search of this GPU alone.
func openGPU(number, ranks int) (d *gpu, err error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("count GPUs: %w", err)
	}
	if number >= count {
		return nil, fmt.Errorf("GPU %d of the options device and gpus: the GPUs of this machine are numbered 0 to %d: %w",
			number, count-1, plugins.ErrOption)
	}
	d = &gpu{number: number}
	if err := d.open(cu.Device(number), ranks); err != nil {
		return nil, errors.Join(fmt.Errorf("open GPU %d: %w", number, err), d.close())
	}
	return d, nil
}

func (d *gpu) open(gpu cu.Device, ranks int) (err error) {
	if d.uuid, err = uuidOf(gpu); err != nil {
		return err
	}
	if d.context, err = gpu.RetainPrimaryCtx(); err != nil {
		return fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	if err := cu.SetCurrentContext(d.context); err != nil {
		return err
	}
	if d.multiprocessors, err = gpu.Attribute(cu.MultiprocessorCount); err != nil {
		return err
	}
	d.shared = ranks > 1
	d.searchBlocks = d.multiprocessors / max(ranks, 1)
	if d.module, err = loadModule(ranks > 0); err != nil {
		return fmt.Errorf("load the kernels: %w: %w; the GPU needs compute capability 7.0 or later, and the program a build "+
			"for it (TEPS_CUDA_ARCHS of cuda/build.sh)", plugins.ErrUnavailable, err)
	}
	if d.graph, err = d.variable("graph"); err != nil {
		return err
	}
	if err := d.prepareSearch(gpu, ranks > 0); err != nil {
		return err
	}
	if d.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return fmt.Errorf("make a stream: %w", err)
	}
	if err := cu.SetLimit(cu.DevRuntimePendingLaunchCount, pendingLaunches); err != nil {
		return fmt.Errorf("reserve device-side launches: %w", err)
	}
	return nil
}

// prepareSearch gives the blocks of the search their shared memory: what they need, and the frontier bits of as many
// vertices as the kernels want and fit.
func (d *gpu) prepareSearch(gpu cu.Device, several bool) (err error) {
	at, err := d.variable("sizes")
	if err != nil {
		return err
	}
	var sizes [6]uint64 // as in search.cu
	if err := read(sizes[:], at); err != nil {
		return fmt.Errorf("read sizes: %w", err)
	}
	mirrored := [4]uint64{
		uint64(unsafe.Sizeof(deviceGraph{})), uint64(unsafe.Sizeof(deviceStatus{})), uint64(unsafe.Sizeof(searchParams{})),
		uint64(unsafe.Sizeof(deviceExchange{})),
	}
	if [4]uint64(sizes[2:]) != mirrored {
		return fmt.Errorf("structures have %v bytes in the kernels and %v in the program; %s", sizes[2:], mirrored, rebuild)
	}
	if d.searchFunction, err = d.lookup("search"); err != nil {
		return err
	}
	if several { // a kernel that is loaded when it is first launched would wait for one that runs
		f, err := d.lookup("wake_all")
		if err != nil {
			return err
		}
		if _, err := f.Attribute(cu.FnMaxThreadsPerBlock); err != nil {
			return err
		}
	}
	if d.searchThreads, err = d.searchFunction.Attribute(cu.FnMaxThreadsPerBlock); err != nil {
		return err
	}
	limit, err := gpu.Attribute(maxSharedMemory)
	if err != nil {
		return err
	}
	cached := cachedBytes(int64(sizes[0]), int64(sizes[1]), int64(limit))
	d.cachedVertices = uint64(8 * cached)
	d.searchShared = int(sizes[0]) + int(cached)
	if err := allowShared(d.searchFunction, d.searchShared); err != nil {
		return fmt.Errorf("allow %d bytes of shared memory: %w", d.searchShared, err)
	}
	return nil
}

// do calls f on a thread with the device's context, as the driver requires.
func (d *gpu) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return fmt.Errorf("use GPU %d: %w", d.number, err)
	}
	return f()
}

// close frees what open made, except for the context.
func (d *gpu) close() error {
	var all []error
	if d.stream != (cu.Stream{}) {
		all = append(all, d.stream.Destroy())
	}
	if d.loaded != (cu.Module{}) {
		all = append(all, d.loaded.Unload())
	}
	return errors.Join(all...)
}

// describeDevices lists every GPU of this machine.
func describeDevices() (all []plugins.Device, err error) {
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
