// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

// Functions that package cu lacks, or has in a form that an engine cannot use:
//
//   - cu initializes the driver when the program starts, and ends the program on a machine without one. The program
//     therefore defines its own cuInit, which loads the driver's library by name, keeps the result, and reports
//     success to cu. If loading failed, the engine calls no other function of the driver. The program is linked
//     without the driver's library (build.sh).
//   - cu copies every launch argument as 8 bytes, and cannot launch cooperatively, raise the limit on shared memory,
//     or allocate pinned host memory with a device address.

/*
#cgo LDFLAGS: -ldl
#cgo noescape launchFunction
#cgo nocallback launchFunction
#include <dlfcn.h>
#include <stdint.h>
#include <cuda.h>

static void *driverLibrary;
static CUresult initResult = CUDA_ERROR_NOT_INITIALIZED;

CUresult cuInit(unsigned int flags) {
	driverLibrary = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (driverLibrary != 0) {
		CUresult (*init)(unsigned int) = (CUresult (*)(unsigned int))dlsym(driverLibrary, "cuInit");
		if (init != 0) initResult = init(flags);
	}
	return CUDA_SUCCESS;
}

static int driverLoaded(void) { return driverLibrary != 0; }
static CUresult driverInitResult(void) { return initResult; }

// launchFunction takes n arguments of 8 bytes, or one argument of any size.
static CUresult launchFunction(void *function, unsigned blocks, unsigned threads, unsigned shared, void *stream,
	void *values, int n, int cooperative) {
	void *arguments[16];
	for (int i = 0; i < n && i < 16; i++) arguments[i] = (uint64_t *)values + i;
	if (cooperative) {
		return cuLaunchCooperativeKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, arguments);
	}
	return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, arguments, 0);
}

static CUresult allocatePinned(size_t bytes, void **host, CUdeviceptr *at) {
	CUresult r = cuMemHostAlloc(host, bytes, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
	if (r != CUDA_SUCCESS) return r;
	r = cuMemHostGetDevicePointer(at, *host, 0);
	if (r != CUDA_SUCCESS) cuMemFreeHost(*host);
	return r;
}

static CUresult registerPinned(void *host, size_t bytes, CUdeviceptr *at) {
	CUresult r = cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_DEVICEMAP);
	if (r != CUDA_SUCCESS) return r;
	r = cuMemHostGetDevicePointer(at, host, 0);
	if (r != CUDA_SUCCESS) cuMemHostUnregister(host);
	return r;
}

// mapMemory reserves addresses and puts n pieces of device memory there.
static CUresult mapMemory(size_t n, size_t piece, CUdeviceptr *address) {
	CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAllocationProp properties = {CU_MEM_ALLOCATION_TYPE_PINNED};
	CUdeviceptr at = 0;
	size_t mapped = 0;
	CUresult r = cuCtxGetDevice(&access.location.id);
	properties.location = access.location;
	if (r == CUDA_SUCCESS) r = cuMemAddressReserve(&at, n * piece, 0, 0, 0);
	for (; r == CUDA_SUCCESS && mapped < n; mapped += r == CUDA_SUCCESS) {
		CUmemGenericAllocationHandle memory;
		if ((r = cuMemCreate(&memory, piece, &properties, 0)) != CUDA_SUCCESS) break;
		r = cuMemMap(at + mapped * piece, piece, 0, memory, 0);
		cuMemRelease(memory); // the mapping keeps it
	}
	if (r == CUDA_SUCCESS) r = cuMemSetAccess(at, n * piece, &access, 1);
	if (r != CUDA_SUCCESS && mapped != 0) cuMemUnmap(at, mapped * piece);
	if (r != CUDA_SUCCESS && at != 0) cuMemAddressFree(at, n * piece);
	*address = at;
	return r;
}

static CUresult openMemory(void *handle, CUdeviceptr *at) {
	return cuIpcOpenMemHandle(at, *(CUipcMemHandle *)handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Missing explains in one sentence why this machine has no usable GPU; empty: it has one.
func Missing() string {
	switch {
	case C.driverLoaded() == 0:
		return "libcuda.so.1, the NVIDIA driver's library, was not found; install the driver, " +
			"or add the library's directory to LD_LIBRARY_PATH"
	case C.driverInitResult() == C.CUDA_ERROR_NO_DEVICE:
		return "the NVIDIA driver finds no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES"
	case C.driverInitResult() != C.CUDA_SUCCESS:
		return fmt.Sprintf("the NVIDIA driver does not start: %v; check nvidia-smi", driverError(C.driverInitResult()))
	}
	return ""
}

// driverError is an error code of the driver.
type driverError C.CUresult

func (e driverError) Error() string {
	var name *C.char
	if C.cuGetErrorName(C.CUresult(e), &name); name == nil {
		return "unknown error"
	}
	return C.GoString(name)
}

func result(r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return driverError(r)
}

// handle returns the CUfunction that a cu.Function hides.
func handle(f cu.Function) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&f)) }

// LaunchFunction queues f on a stream, with n arguments of 8 bytes each or one of any size, and with shared bytes of
// shared memory in each block. If it is cooperative, all its blocks run at the same time and can wait for each other.
func LaunchFunction(stream cu.Stream, f cu.Function, blocks, threads, shared int, arguments unsafe.Pointer, n int,
	cooperative bool) error {
	flag := C.int(0)
	if cooperative {
		flag = 1
	}
	return result(C.launchFunction(handle(f), C.uint(blocks), C.uint(threads), C.uint(shared),
		unsafe.Pointer(stream.C()), arguments, C.int(n), flag))
}

// MaxSharedMemory is the shared memory that a block may have after AllowShared.
const MaxSharedMemory = cu.DeviceAttribute(C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)

// AllowShared allows launches of f with the given bytes of shared memory in each block.
func AllowShared(f cu.Function, bytes int) error {
	return result(C.cuFuncSetAttribute(C.CUfunction(handle(f)), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
		C.int(bytes)))
}

// Pinned is host memory with a device address.
type Pinned struct {
	Host   unsafe.Pointer
	Device uint64
}

// AllocatePinned allocates pinned host memory.
func AllocatePinned(bytes int64) (p Pinned, err error) {
	var at C.CUdeviceptr
	if err := result(C.allocatePinned(C.size_t(bytes), &p.Host, &at)); err != nil {
		return Pinned{}, err
	}
	p.Device = uint64(at)
	return p, nil
}

// Free frees memory of AllocatePinned.
func (p Pinned) Free() error { return cu.MemFreeHost(p.Host) }

// PinBytes pins memory of the host that the caller has, which must stay mapped until Unpin.
func PinBytes(memory []byte) (p Pinned, err error) {
	var at C.CUdeviceptr
	p.Host = unsafe.Pointer(unsafe.SliceData(memory))
	if err := result(C.registerPinned(p.Host, C.size_t(len(memory)), &at)); err != nil {
		return Pinned{}, err
	}
	p.Device = uint64(at)
	return p, nil
}

// Unpin ends PinBytes.
func (p Pinned) Unpin() error { return result(C.cuMemHostUnregister(p.Host)) }

// ExportMemory returns a handle with which OpenMemory of another process opens an array of OnDevice.
func ExportMemory(at uint64) ([]byte, error) {
	handle := make([]byte, C.CU_IPC_HANDLE_SIZE)
	return handle, result(C.cuIpcGetMemHandle((*C.CUipcMemHandle)(unsafe.Pointer(unsafe.SliceData(handle))),
		C.CUdeviceptr(at)))
}

// OpenMemory maps the memory of a handle from another process, on the same GPU or on one that can reach it.
func OpenMemory(handle []byte) (uint64, error) {
	if len(handle) != C.CU_IPC_HANDLE_SIZE {
		return 0, fmt.Errorf("a handle of %d bytes; CUDA's have %d", len(handle), C.CU_IPC_HANDLE_SIZE)
	}
	var at C.CUdeviceptr
	err := result(C.openMemory(unsafe.Pointer(unsafe.SliceData(handle)), &at))
	return uint64(at), err
}

// CloseMemory ends OpenMemory.
func CloseMemory(at uint64) error { return result(C.cuIpcCloseMemHandle(C.CUdeviceptr(at))) }

// pieceBytes is the size of a piece of mapped memory.
const pieceBytes = 64 << 20

// mapMemory allocates device memory in n pieces at consecutive addresses, so that the last ones can be given back.
func mapMemory(n int64) (uint64, error) {
	var at C.CUdeviceptr
	err := result(C.mapMemory(C.size_t(n), pieceBytes, &at))
	return uint64(at), err
}

// unmapMemory gives back some bytes, all of a number of pieces, from an address on.
func unmapMemory(at uint64, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return result(C.cuMemUnmap(C.CUdeviceptr(at), C.size_t(bytes)))
}

// freeAddresses frees the addresses of mapMemory.
func freeAddresses(at uint64, bytes int64) error {
	return result(C.cuMemAddressFree(C.CUdeviceptr(at), C.size_t(bytes)))
}
