package power

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// NVML, NVIDIA's management library, comes with the driver and needs no CUDA. Since Volta it counts the energy of a board;
// before, it only knows its power.

// nvmlPeriod is how often the energy counter was seen to step, on an H200 with driver 580.
const nvmlPeriod = 100 * time.Millisecond

// nvmlCode is what a function of NVML returns: nvmlReturn_t.
type nvmlCode int32

const (
	nvmlOK           nvmlCode = 0
	nvmlNoSupport    nvmlCode = 3
	nvmlNoPermission nvmlCode = 4
	nvmlGPULost      nvmlCode = 15
)

// nvmlReasons are the codes that a person can do something about, or that say most.
var nvmlReasons = map[nvmlCode]string{
	nvmlNoSupport:    "this GPU, or this kind of virtual GPU, does not support it",
	nvmlNoPermission: "this user may not read it; a container needs the devices /dev/nvidia* and the driver's \"utility\" capability",
	9:                "the driver is not loaded: nvidia-smi must work first",
	12:               "libnvidia-ml.so.1 and the driver do not belong together, as after an update: reboot",
	nvmlGPULost:      "the GPU has fallen off the bus",
	16:               "the GPU needs a reset",
	17:               "the operating system blocks the GPU's device",
	18:               "the library and the driver are of different versions, as after an update: reboot",
}

func (c nvmlCode) Error() string {
	if reason, ok := nvmlReasons[c]; ok {
		return reason
	}
	return fmt.Sprintf("NVML returns code %d", int32(c))
}

// nvmlDevice is a handle of a GPU: nvmlDevice_t.
type nvmlDevice uintptr

// nvmlLibrary is the part of NVML that is used. Sums are in millijoules, powers in milliwatts.
type nvmlLibrary interface {
	Count() (int, nvmlCode)
	Driver() string
	Handle(index int) (nvmlDevice, nvmlCode)
	UUID(nvmlDevice) (string, nvmlCode)
	Name(nvmlDevice) string
	TotalEnergy(nvmlDevice) (uint64, nvmlCode)
	Power(nvmlDevice) (uint32, nvmlCode)
	PowerLimit(nvmlDevice) (uint32, nvmlCode)
	MIG(nvmlDevice) bool // whether the board is cut into instances
	Close() nvmlCode
}

// findNVML opens a meter for each GPU. The library is closed with the last of them.
func findNVML(open func() (nvmlLibrary, error)) ([]Meter, []Absence) {
	absent := func(format string, args ...any) Absence {
		return Absence{Source: "nvml", Reason: fmt.Sprintf(format, args...)}
	}
	library, err := open()
	if err != nil {
		return nil, []Absence{absent("%v", err)}
	}
	n, code := library.Count()
	if code != nvmlOK || n == 0 {
		library.Close()
		if code != nvmlOK {
			return nil, []Absence{absent("GPUs cannot be counted: %v", code)}
		}
		return nil, []Absence{absent("the driver shows no GPU: none is there, or none is let into this container")}
	}
	var meters []Meter
	var absences []Absence
	shared := &nvmlUse{loaded: library}
	driver := library.Driver()
	for i := range n {
		g := &gpu{use: shared}
		var uuid string
		if g.device, code = library.Handle(i); code == nvmlOK {
			uuid, code = library.UUID(g.device)
		}
		if code != nvmlOK {
			absences = append(absences, absent("GPU %d: %v", i, code))
			continue
		}
		g.info = Info{Name: "nvml:" + uuid, Source: "nvml", Scope: GPU, Method: Measured, Quantity: Energy, Device: uuid,
			Period: nvmlPeriod, Step: 1e-3, Detail: library.Name(g.device)}
		if limit, code := library.PowerLimit(g.device); code == nvmlOK {
			g.info.Detail += fmt.Sprintf(", limit %.0f W", float64(limit)/1e3)
		}
		if driver != "" {
			g.info.Detail += ", driver " + driver
		}
		if library.MIG(g.device) {
			g.info.Detail += ", cut into MIG instances: this is the whole board, with what others do on it"
		}
		if _, code = library.TotalEnergy(g.device); code == nvmlNoSupport { // before Volta
			g.info.Quantity, g.info.Period = Power, 0
			_, code = library.Power(g.device)
		}
		if code != nvmlOK {
			absences = append(absences, absent("%s shows neither energy nor power: %v", uuid, code))
			continue
		}
		shared.users++
		meters = append(meters, g)
	}
	if shared.users == 0 {
		library.Close()
	}
	return meters, absences
}

// nvmlUse counts who uses the library.
type nvmlUse struct {
	loaded nvmlLibrary
	mu     sync.Mutex
	users  int
}

// gpu is a board with a counter of energy or, before Volta, with a power sensor.
type gpu struct {
	info   Info
	use    *nvmlUse
	device nvmlDevice
	count  unwrapper
	closed bool
}

var errClosed = fmt.Errorf("%w: it was closed", ErrGone)

func (g *gpu) Info() Info { return g.info }

func (g *gpu) Read(context.Context) ([]Reading, error) {
	if g.closed {
		return nil, errClosed
	}
	var shown float64
	var code nvmlCode
	begin := time.Now()
	if g.info.Quantity == Energy {
		var sum uint64
		sum, code = g.use.loaded.TotalEnergy(g.device)
		shown = float64(sum) / 1e3
	} else {
		var watts uint32
		watts, code = g.use.loaded.Power(g.device)
		shown = float64(watts) / 1e3
	}
	r := Reading{Window: time.Since(begin), Value: shown}
	r.Time = begin.Add(r.Window / 2)
	switch code {
	case nvmlOK:
	case nvmlGPULost:
		return nil, fmt.Errorf("%w: %v", ErrGone, code)
	default:
		return nil, errors.New(code.Error())
	}
	var err error
	if g.info.Quantity == Energy {
		r.Value, err = g.count.add(shown, r.Time, 0, 0)
	}
	return []Reading{r}, err
}

func (g *gpu) Close() error {
	g.use.mu.Lock()
	defer g.use.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	if g.use.users--; g.use.users == 0 {
		if code := g.use.loaded.Close(); code != nvmlOK {
			return fmt.Errorf("closing NVML: %w", code)
		}
	}
	return nil
}
