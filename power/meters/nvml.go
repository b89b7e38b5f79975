// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebitengine/purego"

	"github.com/tepsbench/teps/power"
)

// nvmlSource reads the energy counter of NVIDIA's management library, for boards since Volta. The library comes with
// the driver and does not need CUDA.
func nvmlSource() Source {
	return Source{Name: "nvml", Help: "NVIDIA GPUs", Open: func(_ context.Context, r Request) ([]power.Meter, error) {
		if r.Root != "/" {
			return nil, errors.New("GPUs are read through the driver's library, not through files below " + r.Root)
		}
		library, err := loadNVML("libnvidia-ml.so.1")
		if err != nil {
			return nil, err
		}
		return openNVML(library)
	}}
}

type nvmlCode int32

const (
	nvmlOK           nvmlCode = 0
	nvmlNoSupport    nvmlCode = 3
	nvmlNoPermission nvmlCode = 4
	nvmlGPULost      nvmlCode = 15
)

// nvmlErrors explains the codes that users can fix.
var nvmlErrors = map[nvmlCode]string{
	nvmlNoSupport: "this GPU, or this kind of virtual GPU, does not support it",
	nvmlNoPermission: "this user may not read it; a container needs the devices /dev/nvidia* and the driver's " +
		`"utility" capability`,
	9:           "the driver is not loaded; nvidia-smi must work first",
	12:          "libnvidia-ml.so.1 and the driver have different versions, as after an update; reboot",
	18:          "libnvidia-ml.so.1 and the driver have different versions, as after an update; reboot",
	nvmlGPULost: "the GPU has fallen off the bus",
}

func (c nvmlCode) Error() string {
	return cmp.Or(nvmlErrors[c], fmt.Sprintf("NVML returned code %d", int32(c)))
}

// failure returns c as an error, which wraps power.ErrGone if the GPU is lost; nil if there is none.
func (c nvmlCode) failure() error {
	switch c {
	case nvmlOK:
		return nil
	case nvmlGPULost:
		return fmt.Errorf("%w: %w", power.ErrGone, c)
	}
	return c
}

type nvmlDevice uintptr

// nvmlBuffer has room for every text of NVML.
type nvmlBuffer [96]byte

// An nvmlLibrary has the functions of nvml.h in use. Energy is in millijoules.
type nvmlLibrary struct {
	init, shutdown func() nvmlCode
	count          func(*uint32) nvmlCode
	handle         func(index uint32, device *nvmlDevice) nvmlCode
	uuid, name     func(nvmlDevice, *nvmlBuffer, uint32) nvmlCode
	energy         func(nvmlDevice, *uint64) nvmlCode
	mig            func(device nvmlDevice, current, pending *uint32) nvmlCode
}

// loadNVML loads the library at run time, so that teps runs without it. The library stays loaded, because its threads
// may run after its shutdown.
func loadNVML(file string) (*nvmlLibrary, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%s, which comes with NVIDIA's driver, is not installed", file)
	}
	l := &nvmlLibrary{}
	for _, f := range []struct {
		function any
		name     string
	}{
		{&l.init, "nvmlInit_v2"}, {&l.shutdown, "nvmlShutdown"},
		{&l.count, "nvmlDeviceGetCount_v2"}, {&l.handle, "nvmlDeviceGetHandleByIndex_v2"},
		{&l.uuid, "nvmlDeviceGetUUID"}, {&l.name, "nvmlDeviceGetName"},
		{&l.energy, "nvmlDeviceGetTotalEnergyConsumption"}, {&l.mig, "nvmlDeviceGetMigMode"},
	} {
		address, err := purego.Dlsym(handle, f.name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s has no function %s: the driver is too old", file, f.name),
				purego.Dlclose(handle))
		}
		purego.RegisterFunc(f.function, address)
	}
	return l, nil
}

func openNVML(library *nvmlLibrary) ([]power.Meter, error) {
	if code := library.init(); code != nvmlOK {
		return nil, fmt.Errorf("NVML does not start: %w", code)
	}
	defer library.shutdown()
	var n uint32
	if code := library.count(&n); code != nvmlOK {
		return nil, fmt.Errorf("the GPUs cannot be counted: %w", code)
	}
	if n == 0 {
		return nil, errors.New("the driver shows no GPU: the machine has none, or this container may not use it")
	}
	var meters []power.Meter
	var reasons []error
	for i := range n {
		if g, err := library.open(i); err != nil {
			reasons = append(reasons, &power.PartError{Scope: power.GPU, Err: fmt.Errorf("GPU %d: %w", i, err)})
		} else {
			meters = append(meters, g)
		}
	}
	return meters, errors.Join(reasons...)
}

func (l *nvmlLibrary) open(index uint32) (*polled, error) {
	var device nvmlDevice
	if code := l.handle(index, &device); code != nvmlOK {
		return nil, code
	}
	uuid, code := nvmlText(l.uuid, device)
	if code != nvmlOK {
		return nil, code
	}
	g := &polled{
		info: power.Info{
			Name: "nvml:" + uuid, Source: "nvml", Scope: power.GPU, Method: power.Measured, Quantity: power.Energy,
			Device: uuid, Period: 100 * time.Millisecond, // as observed on an H200 with driver 580
			Step: 1e-3, Detail: "GPU",
		},
		show: func(context.Context) (float64, error) {
			var millijoules uint64
			code := l.energy(device, &millijoules)
			return float64(millijoules) / 1e3, code.failure()
		},
		close: func() { l.shutdown() },
	}
	if name, code := nvmlText(l.name, device); code == nvmlOK {
		g.info.Detail = name
	}
	var mig, pending uint32
	if l.mig(device, &mig, &pending) == nvmlOK && mig == 1 {
		g.info.Detail += ", split into MIG instances: this is the whole board, including what others run on it"
	}
	if _, err := g.Read(context.Background()); err != nil {
		return nil, fmt.Errorf("%s has no counter of energy, which GPUs have since Volta: %w", uuid, err)
	}
	l.init() // NVML counts its users; Close is the counterpart
	return g, nil
}

// nvmlText returns the text that a function of NVML writes about a GPU.
func nvmlText(get func(nvmlDevice, *nvmlBuffer, uint32) nvmlCode, device nvmlDevice) (string, nvmlCode) {
	var buffer nvmlBuffer
	code := get(device, &buffer, uint32(len(buffer)))
	text, _, _ := bytes.Cut(buffer[:], []byte{0})
	return string(text), code
}
