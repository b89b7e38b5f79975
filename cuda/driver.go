//go:build cuda

package cuda

// Beside the binding: what it lacks, or does in a way that an engine cannot live with.
//
//   - Package cu initialises the driver when the program starts, and ends the program where there is none. The program
//     therefore brings a cuInit of its own, which loads the driver by name, keeps what came of it, and lets cu go on.
//     Nothing else of the driver is called where that failed. It is linked without the driver's library (build.sh).
//   - Cooperative launches, more shared memory than 48 KiB, pinned host memory with a device address, and its release.

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <cuda.h>

static void *driverLibrary;
static CUresult driverOutcome = CUDA_ERROR_NOT_INITIALIZED;

CUresult cuInit(unsigned int flags) {
	driverLibrary = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (driverLibrary != 0) {
		CUresult (*init)(unsigned int) = (CUresult (*)(unsigned int))dlsym(driverLibrary, "cuInit");
		if (init != 0) driverOutcome = init(flags);
	}
	return CUDA_SUCCESS;
}

static int driverLoaded(void) { return driverLibrary != 0; }
static int driverResult(void) { return driverOutcome; }

static int launchCooperative(void *function, unsigned blocks, unsigned threads, unsigned shared, void *stream, uint64_t *values, int n) {
	void *arguments[16];
	for (int i = 0; i < n && i < 16; i++) arguments[i] = &values[i];
	return cuLaunchCooperativeKernel((CUfunction)function, blocks, 1, 1, threads, 1, 1, shared, (CUstream)stream, arguments);
}

static int allowShared(void *function, int bytes) {
	return cuFuncSetAttribute((CUfunction)function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

// allocatePinned allocates host memory that the device reads and writes at *device.
static int allocatePinned(size_t bytes, void **host, uint64_t *device) {
	CUdeviceptr at = 0;
	CUresult r = cuMemHostAlloc(host, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
	if (r != CUDA_SUCCESS) return r;
	r = cuMemHostGetDevicePointer(&at, *host, 0);
	if (r != CUDA_SUCCESS) cuMemFreeHost(*host);
	*device = at;
	return r;
}

static int freePinned(void *host) { return cuMemFreeHost(host); }
static const char *errorName(int r) { const char *name = 0; cuGetErrorName((CUresult)r, &name); return name ? name : "unknown error"; }
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// missing says in one sentence why there is no GPU to use here; empty: there is one.
func missing() string {
	switch {
	case C.driverLoaded() == 0:
		return "there is no NVIDIA driver here: libcuda.so.1 was not found; install the driver, or set LD_LIBRARY_PATH to where it lies"
	case C.driverResult() == C.CUDA_ERROR_NO_DEVICE:
		return "the NVIDIA driver finds no GPU here; look at nvidia-smi and at CUDA_VISIBLE_DEVICES"
	case C.driverResult() != C.CUDA_SUCCESS:
		return fmt.Sprintf("the NVIDIA driver does not start: %v; look at nvidia-smi", driverError(C.driverResult()))
	}
	return ""
}

// driverError is a result of the driver that is no success.
type driverError int

func (e driverError) Error() string { return C.GoString(C.errorName(C.int(e))) }

func outcome(r C.int) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return driverError(r)
}

// address returns what cu.Function, which is a CUfunction, keeps to itself.
func address(f cu.Function) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&f)) }

// launchCooperative launches f with all of its blocks at once, so that they can wait for each other, and with so many bytes of
// shared memory for each.
func launchCooperative(f cu.Function, blocks, threads, shared int, stream cu.Stream, args []uint64) error {
	return outcome(C.launchCooperative(address(f), C.uint(blocks), C.uint(threads), C.uint(shared), unsafe.Pointer(stream.C()),
		(*C.uint64_t)(unsafe.Pointer(&args[0])), C.int(len(args))))
}

// mostShared is the shared memory that a block may have at most, where it was allowed to.
const mostShared = cu.DeviceAttribute(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)

// allowShared allows launches of f with so many bytes of shared memory a block.
func allowShared(f cu.Function, bytes int) error {
	return outcome(C.allowShared(address(f), C.int(bytes)))
}

// pinned is host memory with a device address.
type pinned struct {
	host   unsafe.Pointer
	device uint64
}

func allocatePinned(bytes int64) (p pinned, err error) {
	var device C.uint64_t
	if err := outcome(C.allocatePinned(C.size_t(bytes), &p.host, &device)); err != nil {
		return pinned{}, err
	}
	p.device = uint64(device)
	return p, nil
}

func (p pinned) free() error { return outcome(C.freePinned(p.host)) }
