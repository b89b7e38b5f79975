// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
)

// The images are kernels/*.cu, compiled and linked by build.sh for several architectures: for plain lists, for packed
// ones, and for several GPUs that search a graph.
var (
	//go:embed kernels/kernels.fatbin
	image string
	//go:embed kernels/packed.fatbin
	packedImage string
	//go:embed kernels/several.fatbin
	imageOfSeveral string
)

// gpu is a GPU with the kernels of the engine loaded.
type gpu struct {
	*driver.GPU
	graph          uint64 // address of the kernels' constant graph
	searchFunction cu.Function
	searchBlocks   int
	notCooperative bool   // in tests: other ranks of this process run on the GPU at the same time
	searchThreads  int    // of a block of the search
	searchShared   int    // bytes of shared memory of a block of the search
	cachedVertices uint64 // vertices whose frontier bits fit into them
}

// pendingLaunches is how many child grids of top_down_dynamic may wait; its threads do the work of further ones.
const pendingLaunches = 1 << 15

// openGPU opens a GPU for one graph, or for a rank of a graph on several GPUs. The caller has locked its goroutine to
// the thread.
func openGPU(number int, several bool) (*gpu, error) {
	kernels := image
	if several {
		kernels = imageOfSeveral
	}
	opened, err := driver.Open(number, "option device", kernels)
	if err != nil {
		return nil, err
	}
	d := &gpu{GPU: opened}
	if err := d.prepare(several); err != nil {
		return nil, errors.Join(fmt.Errorf("open GPU %d: %w", number, err), d.Close())
	}
	return d, nil
}

// prepare finds the graph and the search in the kernels. The blocks of the search get the shared memory that they need,
// and the frontier bits of as many vertices as the kernels want and fit.
func (d *gpu) prepare(several bool) (err error) {
	d.searchBlocks = d.Multiprocessors
	if d.graph, err = d.Variable("graph"); err != nil {
		return err
	}
	at, err := d.Variable("sizes")
	if err != nil {
		return err
	}
	var sizes [6]uint64 // as in search.cu
	if err := driver.Read(sizes[:], at); err != nil {
		return fmt.Errorf("read sizes: %w", err)
	}
	mirrored := [4]uint64{
		uint64(unsafe.Sizeof(deviceGraph{})), uint64(unsafe.Sizeof(deviceStatus{})), uint64(unsafe.Sizeof(searchParams{})),
		uint64(unsafe.Sizeof(deviceExchange{})),
	}
	if [4]uint64(sizes[2:]) != mirrored {
		return fmt.Errorf("structures have %v bytes in the kernels and %v in the program; "+
			"build the program again with cuda/build.sh", sizes[2:], mirrored)
	}
	if d.searchFunction, err = d.Lookup("search"); err != nil {
		return err
	}
	if several { // a kernel that is loaded when it is first launched would wait for one that runs
		f, err := d.Lookup("wake_all")
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
	limit, err := cu.Device(d.Number).Attribute(driver.MaxSharedMemory)
	if err != nil {
		return err
	}
	cached := cachedBytes(int64(sizes[0]), int64(sizes[1]), int64(limit))
	d.cachedVertices = uint64(8 * cached)
	d.searchShared = int(sizes[0]) + int(cached)
	if err := driver.AllowShared(d.searchFunction, d.searchShared); err != nil {
		return fmt.Errorf("allow %d bytes of shared memory: %w", d.searchShared, err)
	}
	if err := cu.SetLimit(cu.DevRuntimePendingLaunchCount, pendingLaunches); err != nil {
		return fmt.Errorf("reserve device-side launches: %w", err)
	}
	return nil
}
