// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/power"
)

// fakeNVML is a library with GPUs that a test controls.
type fakeNVML struct {
	start, count nvmlCode
	gpus         []fakeGPU
	users        int // calls of init without one of shutdown
}

type fakeGPU struct {
	handle, uuid, energy nvmlCode
	millijoules          uint64
	mig                  bool
}

func (f *fakeNVML) nvml() *nvmlLibrary {
	text := func(b *nvmlBuffer, text string) { copy(b[:], text) }
	return &nvmlLibrary{
		init: func() nvmlCode {
			if f.start == nvmlOK {
				f.users++
			}
			return f.start
		},
		shutdown: func() nvmlCode { f.users--; return nvmlOK },
		count:    func(n *uint32) nvmlCode { *n = uint32(len(f.gpus)); return f.count },
		handle:   func(i uint32, d *nvmlDevice) nvmlCode { *d = nvmlDevice(i); return f.gpus[i].handle },
		name:     func(_ nvmlDevice, b *nvmlBuffer, _ uint32) nvmlCode { text(b, "NVIDIA H200"); return nvmlOK },
		uuid: func(d nvmlDevice, b *nvmlBuffer, _ uint32) nvmlCode {
			text(b, fmt.Sprintf("GPU-%d", d))
			return f.gpus[d].uuid
		},
		energy: func(d nvmlDevice, millijoules *uint64) nvmlCode {
			*millijoules = f.gpus[d].millijoules
			return f.gpus[d].energy
		},
		mig: func(d nvmlDevice, current, _ *uint32) nvmlCode {
			if f.gpus[d].mig {
				*current = 1
			}
			return nvmlOK
		},
	}
}

func TestNVMLCountsTheEnergyOfEachGPU(t *testing.T) {
	f := &fakeNVML{gpus: []fakeGPU{
		{millijoules: 5_000_000}, {energy: nvmlNoSupport}, {handle: nvmlNoPermission}, {energy: 16},
		{mig: true},
	}}
	meters, err := openNVML(f.nvml())
	if len(meters) != 2 {
		t.Fatalf("got %d meters, %v, want 2", len(meters), err)
	}
	report(t, err, "GPU 2: this user may not read it",
		"GPU 1: GPU-1 has no counter of energy, which GPUs have since Volta: this GPU",
		"GPU 3: GPU-3 has no counter of energy, which GPUs have since Volta: NVML returned code 16")
	want := power.Info{
		Name: "nvml:GPU-0", Source: "nvml", Scope: power.GPU, Method: power.Measured, Quantity: power.Energy, Device: "GPU-0",
		Period: 100 * time.Millisecond, Step: 1e-3, Detail: "NVIDIA H200",
	}
	if diff := cmp.Diff(want, meters[0].Info()); diff != "" {
		t.Errorf("a GPU since Volta (-want +got):\n%s", diff)
	}
	report(t, errors.New(meters[1].Info().Detail), "split into MIG instances: this is the whole board")
	if j := only(t, meters[0]); j != 0 {
		t.Errorf("the first reading is %v J, want 0", j)
	}
	f.gpus[0].millijoules += 70_125
	if j := only(t, meters[0]); j != 70.125 {
		t.Errorf("got %v J, want 70.125", j)
	}
	f.gpus[0].energy = 999
	if _, err := meters[0].Read(t.Context()); !contains(err, "NVML returned code 999") || errors.Is(err, power.ErrGone) {
		t.Errorf("an unknown code: %v", err)
	}
	f.gpus[0].energy = nvmlGPULost
	if _, err := meters[0].Read(t.Context()); !errors.Is(err, power.ErrGone) {
		t.Errorf("a lost GPU: %v", err)
	}
	for i, m := range meters {
		if f.users != len(meters)-i {
			t.Errorf("the library has %d users with %d meters open", f.users, len(meters)-i)
		}
		check(t, m.Close())
	}
	if f.users != 0 {
		t.Errorf("the library has %d users after all meters were closed", f.users)
	}
}

func TestNVMLSaysWhyItIsAbsent(t *testing.T) {
	for want, f := range map[string]*fakeNVML{
		"NVML does not start: the driver is not loaded": {start: 9},
		"the driver shows no GPU":                       {},
		"the GPUs cannot be counted: this user may not": {gpus: []fakeGPU{{}}, count: nvmlNoPermission},
		"GPU 0: the GPU has fallen off the bus":         {gpus: []fakeGPU{{handle: nvmlGPULost}}},
		"GPU 0: NVML returned code 17":                  {gpus: []fakeGPU{{uuid: 17}}},
		"or this kind of virtual GPU, does not support": {gpus: []fakeGPU{{energy: nvmlNoSupport}}},
	} {
		meters, err := openNVML(f.nvml())
		if len(meters) != 0 || !contains(err, want) || f.users != 0 {
			t.Errorf("got %d meters, %v, %d users, want %s", len(meters), err, f.users, want)
		}
	}
	if _, err := nvmlSource().Open(t.Context(), Request{Root: t.TempDir()}); !contains(err, "not through files below") {
		t.Errorf("below another root: %v", err)
	}
}

// compile makes a library from a C file, so that calls through the C interface are tested without a driver.
func compile(t testing.TB, file string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) in PATH")
	}
	library := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", library, "-x", "c", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return library
}

const fakeLibrary = "testdata/nvml.c"

// openLibrary loads a library and opens its GPUs.
func openLibrary(t testing.TB, file string) ([]power.Meter, error) {
	t.Helper()
	library, err := loadNVML(file)
	if err != nil {
		return nil, err
	}
	meters, err := openNVML(library)
	t.Cleanup(func() { _ = power.Close(meters) })
	return meters, err
}

func TestNVMLThroughItsCInterface(t *testing.T) {
	meters, err := openLibrary(t, compile(t, fakeLibrary))
	report(t, err, "GPU 1: GPU-11111111-1111-1111-1111-111111111111 has no counter of energy",
		"GPU 2: the GPU has fallen off the bus")
	i := meters[0].Info()
	detail := "NVIDIA H200, split into MIG instances: this is the whole board, including what others run on it"
	if i.Device != "GPU-00000000-0000-0000-0000-000000000000" || i.Detail != detail {
		t.Errorf("got %+v, want the detail %s", i, detail)
	}
	first := only(t, meters[0])
	for n := range 3 {
		if j, want := only(t, meters[0]), first+2.5*float64(n+1); j != want {
			t.Errorf("read %d: got %v J, want %v", n, j, want)
		}
	}
}

func TestNVMLThatDoesNotLoad(t *testing.T) {
	fails := func(file, how, want string) {
		t.Helper()
		t.Setenv("TEPS_FAKE_NVML", how)
		_, err := openLibrary(t, file)
		report(t, err, want)
	}
	fails("libteps-not-there.so.1", "", "comes with NVIDIA's driver, is not installed")
	fails(compile(t, os.DevNull), "", "has no function nvmlInit_v2: the driver is too old")
	library := compile(t, fakeLibrary)
	fails(library, "no driver", "the driver is not loaded")
	fails(library, "mismatch", "have different versions")
}
