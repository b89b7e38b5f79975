//go:build linux && (amd64 || arm64) && (cgo || nvml)

package power

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// openNVML loads the library that comes with the driver when it is asked for, so that a machine without one only lacks a
// meter. There is no C in this, but a program that can load a library needs the system's dynamic linker. A build
// without cgo (CGO_ENABLED=0, or no C compiler) needs none and runs under any libc, so it does this only when it is told to (-tags nvml).
func openNVML() (nvmlLibrary, error) { return loadNVML("libnvidia-ml.so.1") }

func loadNVML(file string) (nvmlLibrary, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%s, which comes with NVIDIA's driver, is not there", file)
	}
	n := &nvmlFunctions{handle: handle}
	for _, f := range []struct {
		function any
		name     string
	}{
		{&n.init, "nvmlInit_v2"}, {&n.shutdown, "nvmlShutdown"},
		{&n.count, "nvmlDeviceGetCount_v2"}, {&n.byIndex, "nvmlDeviceGetHandleByIndex_v2"},
		{&n.driver, "nvmlSystemGetDriverVersion"}, {&n.uuid, "nvmlDeviceGetUUID"}, {&n.name, "nvmlDeviceGetName"},
		{&n.energy, "nvmlDeviceGetTotalEnergyConsumption"}, {&n.power, "nvmlDeviceGetPowerUsage"},
		{&n.limit, "nvmlDeviceGetEnforcedPowerLimit"},
		{&n.mig, "nvmlDeviceGetMigMode"},
	} {
		address, err := purego.Dlsym(handle, f.name)
		if err != nil && f.name == "nvmlDeviceGetMigMode" {
			n.mig = nil // drivers before 450 know no MIG
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s has no function %s: the driver is too old", file, f.name), purego.Dlclose(handle))
		}
		purego.RegisterFunc(f.function, address)
	}
	if code := n.init(); code != nvmlOK {
		return nil, errors.Join(fmt.Errorf("NVML does not start: %w", code), purego.Dlclose(handle))
	}
	return n, nil
}

// nvmlFunctions are functions of nvml.h, by their C signatures.
type nvmlFunctions struct {
	handle         uintptr
	init, shutdown func() nvmlCode
	count          func(*uint32) nvmlCode
	byIndex        func(uint32, *nvmlDevice) nvmlCode
	driver         func(*byte, uint32) nvmlCode
	uuid, name     func(nvmlDevice, *byte, uint32) nvmlCode
	energy         func(nvmlDevice, *uint64) nvmlCode
	power, limit   func(nvmlDevice, *uint32) nvmlCode
	mig            func(nvmlDevice, *uint32, *uint32) nvmlCode
}

// nvmlText is the size of a buffer that holds every text asked for (NVML_DEVICE_UUID_V2_BUFFER_SIZE and others: 96).
const nvmlText = 96

func text(buffer []byte) string {
	before, _, _ := bytes.Cut(buffer, []byte{0})
	return string(before)
}

func (n *nvmlFunctions) Count() (int, nvmlCode) {
	var count uint32
	code := n.count(&count)
	return int(count), code
}

func (n *nvmlFunctions) Driver() string {
	var buffer [nvmlText]byte
	if n.driver(&buffer[0], nvmlText) != nvmlOK {
		return ""
	}
	return text(buffer[:])
}

func (n *nvmlFunctions) Handle(index int) (nvmlDevice, nvmlCode) {
	var device nvmlDevice
	code := n.byIndex(uint32(index), &device)
	return device, code
}

func (n *nvmlFunctions) UUID(d nvmlDevice) (string, nvmlCode) {
	var buffer [nvmlText]byte
	code := n.uuid(d, &buffer[0], nvmlText)
	return text(buffer[:]), code
}

func (n *nvmlFunctions) Name(d nvmlDevice) string {
	var buffer [nvmlText]byte
	if n.name(d, &buffer[0], nvmlText) != nvmlOK {
		return "GPU"
	}
	return text(buffer[:])
}

func (n *nvmlFunctions) TotalEnergy(d nvmlDevice) (uint64, nvmlCode) {
	var millijoules uint64
	code := n.energy(d, &millijoules)
	return millijoules, code
}

func (n *nvmlFunctions) Power(d nvmlDevice) (uint32, nvmlCode) {
	var milliwatts uint32
	code := n.power(d, &milliwatts)
	return milliwatts, code
}

func (n *nvmlFunctions) PowerLimit(d nvmlDevice) (uint32, nvmlCode) {
	var milliwatts uint32
	code := n.limit(d, &milliwatts)
	return milliwatts, code
}

func (n *nvmlFunctions) MIG(d nvmlDevice) bool {
	var current, pending uint32
	return n.mig != nil && n.mig(d, &current, &pending) == nvmlOK && current == 1
}

// Close ends the library's session. The library itself stays loaded: its threads may still be in it.
func (n *nvmlFunctions) Close() nvmlCode { return n.shutdown() }
