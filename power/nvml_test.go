package power

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// fakeNVML is a library with GPUs that answer as they are told.
type fakeNVML struct {
	count  nvmlCode
	gpus   []*fakeGPU
	closed int
}

type fakeGPU struct {
	handle, uuid, energy, power nvmlCode
	millijoules                 uint64
	milliwatts                  uint32
	mig                         bool
}

func (f *fakeNVML) Count() (int, nvmlCode) { return len(f.gpus), f.count }
func (f *fakeNVML) Driver() string         { return "580.1" }
func (f *fakeNVML) Handle(i int) (nvmlDevice, nvmlCode) {
	return nvmlDevice(i), f.gpus[i].handle
}
func (f *fakeNVML) UUID(d nvmlDevice) (string, nvmlCode) {
	return fmt.Sprintf("GPU-%d", d), f.gpus[d].uuid
}
func (f *fakeNVML) Name(nvmlDevice) string { return "NVIDIA H200" }
func (f *fakeNVML) TotalEnergy(d nvmlDevice) (uint64, nvmlCode) {
	return f.gpus[d].millijoules, f.gpus[d].energy
}
func (f *fakeNVML) Power(d nvmlDevice) (uint32, nvmlCode) {
	return f.gpus[d].milliwatts, f.gpus[d].power
}
func (f *fakeNVML) PowerLimit(nvmlDevice) (uint32, nvmlCode) { return 700_000, nvmlOK }
func (f *fakeNVML) MIG(d nvmlDevice) bool                    { return f.gpus[d].mig }
func (f *fakeNVML) Close() nvmlCode                          { f.closed++; return nvmlOK }

func (f *fakeNVML) open() (nvmlLibrary, error) { return f, nil }

func TestNVMLCountsTheEnergyOfEachGPU(t *testing.T) {
	f := &fakeNVML{gpus: []*fakeGPU{{millijoules: 5_000_000}, {energy: nvmlNoSupport, milliwatts: 31_500}, {handle: nvmlNoPermission}, {energy: 16}, {mig: true}}}
	meters, absences := findNVML(f.open)
	if len(meters) != 3 || len(absences) != 2 {
		t.Fatalf("%d meters, absences %s", len(meters), reasons(absences))
	}
	volta, old, cut := meters[0].Info(), meters[1].Info(), meters[2].Info()
	if volta.Name != "nvml:GPU-0" || volta.Device != "GPU-0" || volta.Scope != GPU || volta.Quantity != Energy || volta.Period != 100*time.Millisecond ||
		volta.Detail != "NVIDIA H200, limit 700 W, driver 580.1" {
		t.Errorf("%+v", volta)
	}
	if old.Quantity != Power || old.Period != 0 {
		t.Errorf("%+v", old)
	}
	if !contains(errors.New(cut.Detail), "cut into MIG instances: this is the whole board") {
		t.Errorf("%+v", cut)
	}
	if !contains(errors.New(reasons(absences)), "GPU 2: this user may not read it") || !contains(errors.New(reasons(absences)), "GPU-3 shows neither energy nor power: the GPU needs a reset") {
		t.Errorf("%s", reasons(absences))
	}
	if j := only(t, meters[0]); j != 0 {
		t.Errorf("it begins at %v J", j)
	}
	f.gpus[0].millijoules += 70_123
	if j := only(t, meters[0]); !near(j, 70.123) {
		t.Errorf("%v J, want 70.123", j)
	}
	if w := only(t, meters[1]); w != 31.5 {
		t.Errorf("%v W, want 31.5", w)
	}
	f.gpus[0].millijoules = 7 // the driver was loaded anew
	if _, err := meters[0].Read(t.Context()); !errors.Is(err, ErrBreak) {
		t.Errorf("%v", err)
	}
	f.gpus[0].energy = 999
	if _, err := meters[0].Read(t.Context()); !contains(err, "NVML returns code 999") || errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	f.gpus[0].energy = nvmlGPULost
	if _, err := meters[0].Read(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	for i, m := range meters {
		if f.closed != 0 {
			t.Errorf("the library is closed with %d meters open", len(meters)-i)
		}
		if err := errors.Join(m.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
	if _, err := meters[0].Read(t.Context()); f.closed != 1 || !errors.Is(err, ErrGone) {
		t.Errorf("closed %d times; %v", f.closed, err)
	}
}

func TestNVMLSaysWhyItIsNotThere(t *testing.T) {
	for want, open := range map[string]func() (nvmlLibrary, error){
		"the driver is missing":         func() (nvmlLibrary, error) { return nil, errors.New("the driver is missing") },
		"the driver shows no GPU":       (&fakeNVML{}).open,
		"GPUs cannot be counted":        (&fakeNVML{gpus: []*fakeGPU{{}}, count: nvmlNoPermission}).open,
		"the GPU has fallen off":        (&fakeNVML{gpus: []*fakeGPU{{handle: nvmlGPULost}}}).open,
		"GPU 0: the operating system":   (&fakeNVML{gpus: []*fakeGPU{{uuid: 17}}}).open,
		"this kind of virtual GPU, doe": (&fakeNVML{gpus: []*fakeGPU{{energy: nvmlNoSupport, power: nvmlNoSupport}}}).open,
	} {
		meters, absences := findNVML(open)
		if len(meters) != 0 || len(absences) != 1 || !contains(errors.New(reasons(absences)), want) {
			t.Errorf("%q: %d meters, %s", want, len(meters), reasons(absences))
		}
	}
}
