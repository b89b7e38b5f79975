// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Parameters of clGet...Info (cl.h).
const (
	platformName        = 0x0902
	deviceType          = 0x1000
	deviceUnits         = 0x1002
	deviceMaxGroup      = 0x1004
	deviceAddressBits   = 0x100d
	deviceMaxArray      = 0x1010
	deviceMemory        = 0x101f
	deviceLocalMemory   = 0x1023
	deviceLittleEndian  = 0x1026
	deviceAvailable     = 0x1027
	deviceCompiler      = 0x1028
	deviceName          = 0x102b
	deviceDriver        = 0x102d
	deviceVersion       = 0x102f
	deviceExtensions    = 0x1030
	deviceUnifiedMemory = 0x1035
	deviceUUID          = 0x106a // cl_khr_device_uuid
	programBuildLog     = 0x1183
	kernelGroup         = 0x11b0
)

// Device is a device that OpenCL finds.
type Device struct {
	Kind     string // gpu, cpu or accelerator
	Name     string
	Platform string // the name of the driver
	Driver   string // its version
	Version  string // of OpenCL
	UUID     string // as the maker's tools print it; empty: unknown
	Units    int    // compute units
	Memory   int64  // bytes of the device's memory
	MaxArray int64  // bytes of the largest array
	Unified  bool   // its memory is the host's
	Problem  string // why it cannot be used; empty: it can

	maxGroup int
	platform platform
	id       uintptr
}

// Devices lists the devices of all platforms, in the order in which their drivers list them. The error says why there
// are none.
func Devices() ([]Device, error) {
	found, err := platforms()
	if err != nil {
		return nil, err
	}
	var all []Device
	for _, p := range found {
		const every = 0xffffffff // CL_DEVICE_TYPE_ALL
		ids, n := make([]uintptr, 64), new(uint32)
		err := p.call("clGetDeviceIDs", p.id, every, uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])),
			uintptr(unsafe.Pointer(n)))
		if err != nil {
			continue // a platform without devices
		}
		for _, id := range ids[:min(int(*n), len(ids))] {
			all = append(all, p.device(id))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("OpenCL finds no device; install the OpenCL driver of your device (docs/opencl.md)")
	}
	return all, nil
}

// device asks for the properties of a device.
func (p platform) device(id uintptr) Device {
	get := func(parameter uintptr) []byte { return p.info("clGetDeviceInfo", id, parameter) }
	d := Device{platform: p, id: id, Kind: "accelerator", Platform: p.text("clGetPlatformInfo", platformName),
		Name: text(get(deviceName)), Driver: text(get(deviceDriver)), Version: text(get(deviceVersion)),
		Units: int(number(get(deviceUnits))), Memory: number(get(deviceMemory)), MaxArray: number(get(deviceMaxArray)),
		Unified: number(get(deviceUnifiedMemory)) != 0, maxGroup: int(number(get(deviceMaxGroup)))}
	switch kind := number(get(deviceType)); {
	case kind&4 != 0:
		d.Kind = "gpu"
	case kind&2 != 0:
		d.Kind = "cpu"
	}
	d.Unified = d.Unified || d.Kind == "cpu"
	if u := get(deviceUUID); len(u) == 16 && strings.Contains(text(get(deviceExtensions)), "cl_khr_device_uuid") {
		d.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
	}
	switch {
	case number(get(deviceAvailable)) == 0:
		d.Problem = "the driver says that it is not available"
	case number(get(deviceCompiler)) == 0:
		d.Problem = "its driver has no compiler"
	case number(get(deviceLittleEndian)) == 0 || number(get(deviceAddressBits)) != 64:
		d.Problem = "it is big-endian or has addresses of 32 bits"
	case number(get(deviceLocalMemory)) < localBytes:
		d.Problem = fmt.Sprintf("its work-groups have less than %d KiB of local memory", localBytes>>10)
	case strings.HasPrefix(d.Version, "OpenCL 1.0") || strings.HasPrefix(d.Version, "OpenCL 1.1"):
		d.Problem = "it has " + d.Version + ", and 1.2 is needed"
	}
	return d
}

// localBytes is the local memory that kernels may use; OpenCL 1.2 has at least as much in a full profile.
const localBytes = 32 << 10
