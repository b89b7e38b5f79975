// SPDX-License-Identifier: Apache-2.0

// Package driver calls OpenCL 1.2 through a library that it opens at run time: no C compiler is needed, and the same
// program runs with the driver of any maker. library.go opens libraries, device.go lists devices, queue.go has the
// memory, the programs and the command queue of one device, and stage.go moves large arrays.
package driver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// places has the functions that this package calls, and the place of each in the table of functions to which every
// object of a driver points (cl_khr_icd; cl_icd.h).
var places = map[string]uintptr{
	"clGetPlatformIDs": 0, "clGetPlatformInfo": 1, "clGetDeviceIDs": 2, "clGetDeviceInfo": 3, "clCreateContext": 4,
	"clReleaseContext": 7, "clCreateCommandQueue": 9, "clReleaseCommandQueue": 11, "clCreateBuffer": 14,
	"clReleaseMemObject": 18, "clCreateProgramWithSource": 26, "clReleaseProgram": 29, "clBuildProgram": 30,
	"clGetProgramBuildInfo": 33, "clCreateKernel": 34, "clReleaseKernel": 37, "clSetKernelArg": 38,
	"clGetKernelWorkGroupInfo": 40, "clWaitForEvents": 41, "clReleaseEvent": 44, "clFlush": 46, "clFinish": 47,
	"clEnqueueReadBuffer": 48, "clEnqueueWriteBuffer": 49, "clEnqueueMapBuffer": 56, "clEnqueueUnmapMemObject": 58,
	"clEnqueueNDRangeKernel": 59,
}

// api has the functions of a platform, and what they write.
type api struct {
	address map[string]uintptr // of functions, by name
	code    int32              // an error
	size    uintptr            // of an answer
	handle  uintptr            // an object
}

// platform is the driver of a maker.
type platform struct {
	*api
	id uintptr
}

// LibraryVariable names the environment variable with the library to open: a loader or the library of one driver.
const LibraryVariable = "TEPS_OPENCL"

// loaders are the libraries that find all installed drivers; drivers are those that containers have without the file
// that leads a loader to them.
func loaders() (loaders, drivers []string) {
	if file := os.Getenv(LibraryVariable); file != "" {
		return []string{file}, nil
	}
	if runtime.GOOS == "darwin" {
		return []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}, nil
	}
	return []string{"libOpenCL.so.1", "libOpenCL.so"},
		[]string{"libnvidia-opencl.so.1", "/usr/local/nvidia/lib64/libnvidia-opencl.so.1"}
}

// platforms returns the platforms of all libraries. The error says why there are none.
func platforms() (all []platform, err error) {
	files, drivers := loaders()
	var failed error
	for _, file := range files {
		if all, err = open(file); err == nil {
			break
		}
		failed = cmp.Or(failed, err)
	}
	nvidia := func(p platform) bool { return strings.HasPrefix(p.text("clGetPlatformInfo", platformName), "NVIDIA") }
	for _, file := range drivers {
		if slices.ContainsFunc(all, nvidia) {
			break
		}
		if more, err := open(file); err == nil {
			all = append(all, more...)
		}
	}
	if len(all) == 0 && failed != nil {
		return nil, fmt.Errorf("no OpenCL library opens (%w); install the OpenCL driver of your device, or name its library "+
			"in %s (docs/opencl.md)", failed, LibraryVariable)
	}
	return all, nil
}

// open opens a library and returns its platforms.
func open(file string) ([]platform, error) {
	library, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, errors.New(strings.TrimSpace(err.Error()))
	}
	a := &api{address: map[string]uintptr{}}
	for name := range places {
		if a.address[name], err = purego.Dlsym(library, name); err != nil {
			return openDriver(library, file)
		}
	}
	ids, err := platformIDs(a.address["clGetPlatformIDs"])
	all := make([]platform, len(ids))
	for i, id := range ids {
		all[i] = platform{a, id}
	}
	return all, err
}

// openDriver returns the platforms of a driver that only a loader is meant to open: they point to tables of functions.
func openDriver(library uintptr, file string) ([]platform, error) {
	find, err := purego.Dlsym(library, "clGetExtensionFunctionAddress")
	if err != nil {
		return nil, fmt.Errorf("%s is not a library of OpenCL 1.2", file)
	}
	name := append([]byte("clIcdGetPlatformIDsKHR"), 0)
	list, _, _ := purego.SyscallN(find, uintptr(unsafe.Pointer(&name[0])))
	if list == 0 {
		return nil, fmt.Errorf("%s is not a library of OpenCL 1.2", file)
	}
	ids, err := platformIDs(list)
	var all []platform
	for _, id := range ids {
		table := *(**[64]uintptr)(pointer(id))
		p := platform{&api{address: map[string]uintptr{}}, id}
		for name, place := range places {
			p.address[name] = table[place]
		}
		all = append(all, p)
	}
	return all, err
}

// pointer returns an address of memory that Go does not manage as a pointer.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// platformIDs calls clGetPlatformIDs or its counterpart in a driver.
func platformIDs(list uintptr) ([]uintptr, error) {
	const limit, none = 64, -1001 // CL_PLATFORM_NOT_FOUND_KHR
	ids, n := make([]uintptr, limit), new(uint32)
	code, _, _ := purego.SyscallN(list, limit, uintptr(unsafe.Pointer(&ids[0])), uintptr(unsafe.Pointer(n)))
	if int32(code) != 0 && int32(code) != none {
		return nil, &Error{int32(code), "clGetPlatformIDs"}
	}
	return ids[:min(*n, limit)], nil
}

// call calls a function that returns an error code. Memory to which arguments point lives and stays in its place during
// the call.
//
//go:uintptrescapes
func (a *api) call(f string, arguments ...uintptr) error {
	if code, _, _ := purego.SyscallN(a.address[f], arguments...); int32(code) != 0 {
		return &Error{int32(code), f}
	}
	return nil
}

// create calls a function that returns an object, and takes the address of the error code as its last argument.
//
//go:uintptrescapes
func (a *api) create(f string, arguments ...uintptr) (uintptr, error) {
	object, _, _ := purego.SyscallN(a.address[f], arguments...)
	if a.code != 0 {
		return 0, &Error{a.code, f}
	}
	return object, nil
}

// codeAt is the last argument of create.
func (a *api) codeAt() uintptr { return uintptr(unsafe.Pointer(&a.code)) }

// info returns an answer of a clGet...Info function about what the leading arguments name, or nothing.
//
//go:uintptrescapes
func (a *api) info(f string, what ...uintptr) []byte {
	a.size = 0
	arguments := append(what, 0, 0, uintptr(unsafe.Pointer(&a.size)))
	if a.call(f, arguments...) != nil || a.size == 0 {
		return nil
	}
	answer := make([]byte, a.size)
	arguments = append(what, a.size, uintptr(unsafe.Pointer(&answer[0])), 0)
	if a.call(f, arguments...) != nil {
		return nil
	}
	runtime.KeepAlive(answer)
	return answer
}

// text returns an answer that is a text.
func (p platform) text(f string, parameter uintptr) string { return text(p.info(f, p.id, parameter)) }

func text(answer []byte) string {
	return strings.TrimSpace(string(bytes.TrimRight(answer, "\x00")))
}

// number returns an answer that is a number of 4 or 8 bytes, or 0.
func number(answer []byte) (n int64) {
	for i := len(answer) - 1; i >= 0 && len(answer) <= 8; i-- {
		n = n<<8 | int64(answer[i])
	}
	return n
}
