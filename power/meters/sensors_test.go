// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
)

func TestHwmonFindsPowerAndEnergy(t *testing.T) {
	m := unpack(t, "sensors")
	must.Do(os.Symlink("../../../devices/pci0000:00/0000:03:00.0", m.path("sys/class/hwmon/hwmon0/device")))
	meters, err := m.open(hwmonSource())
	want := map[string]power.Info{
		"hwmon:hwmon0/power1":  {Scope: power.GPU, Method: power.Measured, Quantity: power.Power, Device: "0000:03:00.0"},
		"hwmon:hwmon1/power1":  {Scope: power.Node, Method: power.Measured, Quantity: power.Power, Period: time.Second},
		"hwmon:hwmon2/power1":  {Scope: power.Package, Method: power.Estimated, Quantity: power.Power},
		"hwmon:hwmon3/energy1": {Scope: power.GPU, Method: power.Measured, Quantity: power.Energy},
		"hwmon:hwmon4/power1":  {Scope: power.Device, Method: power.Measured, Quantity: power.Power},
	}
	got := byName(meters)
	infos := map[string]power.Info{}
	for name, m := range got {
		infos[name] = m.Info()
	}
	if diff := cmp.Diff(want, infos, cmpopts.IgnoreFields(power.Info{}, "Name", "Source", "Step", "Detail")); diff != "" {
		t.Fatalf("sensors (-want +got):\n%s", diff)
	}
	for name, want := range map[string]float64{
		"hwmon:hwmon0/power1": 45, "hwmon:hwmon1/power1": 310, "hwmon:hwmon3/energy1": 0, "hwmon:hwmon4/power1": 5.5,
	} {
		if v := only(t, got[name]); v != want {
			t.Errorf("%s: got %v, want %v", name, v, want)
		}
	}
	m.write("sys/class/hwmon/hwmon3/energy1_input", "8000000\n")
	if j := only(t, got["hwmon:hwmon3/energy1"]); j != 7 {
		t.Errorf("got %v J, want 7", j)
	}
	must.Fail(t, err, `hwmon:hwmon4/power2: the file shows "nonsense", not a number`)
}

func TestHwmonSaysWhyItIsAbsent(t *testing.T) {
	must.Fail(t, must.Err(emptyMachine(t).open(hwmonSource())), "no chip was found under /sys/class/hwmon")
	m := emptyMachine(t)
	m.write("sys/class/hwmon/hwmon0/name", "nvme\n")
	m.write("sys/class/hwmon/hwmon0/temp1_input", "30\n")
	must.Fail(t, must.Err(m.open(hwmonSource())), "none of the 1 chips")
}

const package0 = "sys/class/powercap/intel-rapl:0/energy_uj"

func TestRAPLFindsEveryZoneOnce(t *testing.T) {
	meters, err := unpack(t, "two-packages").open(raplSource())
	type zone struct {
		Name  string
		Scope power.Scope
	}
	want := []zone{
		{"rapl:package-0", power.Package}, {"rapl:package-0/dram", power.DRAM}, {"rapl:package-1", power.Package},
		{"rapl:package-1/dram", power.DRAM}, {"rapl:psys", power.SoC},
	}
	var got []zone
	for _, m := range meters {
		i := m.Info()
		got = append(got, zone{i.Name, i.Scope})
		if i.Quantity != power.Energy || i.Method != power.Measured || i.Period != time.Millisecond || i.Scope.System() ||
			!strings.HasPrefix(i.Detail, "/sys/class/powercap/intel-rapl:") {
			t.Errorf("%+v", i)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; zones (-want +got):\n%s", err, diff)
	}
}

func TestRAPLCounts(t *testing.T) {
	m := unpack(t, "two-packages")
	meters, _ := m.open(raplSource())
	zones := byName(meters)
	if j := only(t, zones["rapl:package-0"]); j != 0 {
		t.Errorf("the first reading is %v J, want 0", j)
	}
	m.write(package0, "150000000\n")
	if j := only(t, zones["rapl:package-0"]); j != 50 {
		t.Errorf("got %v J, want 50", j)
	}
	// Package 1 is 0.32885 J below its range; then it shows 2 J.
	m.write("sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n")
	if j := only(t, zones["rapl:package-1"]); math.Abs(j-2.32885) > 1e-9 {
		t.Errorf("after a wrap: got %v J, want 2.32885", j)
	}
}

func TestTotal(t *testing.T) {
	type step struct {
		second     float64
		shown, sum float64
		broken     bool
	}
	for name, c := range map[string]struct {
		wrap     float64
		maxPower float64
		steps    []step
	}{
		"grows":                  {1000, 100, []step{{0, 900, 0, false}, {1, 950, 50, false}, {2, 950, 50, false}}},
		"wraps":                  {1000, 100, []step{{0, 950, 0, false}, {1, 20, 70, false}, {2, 60, 110, false}}},
		"wraps again":            {1000, 1000, []step{{0, 900, 0, false}, {.9, 700, 800, false}, {1.8, 500, 1600, false}}},
		"is reset":               {1000, 10, []step{{0, 500, 0, false}, {1, 3, 0, true}, {2, 8, 5, false}}},
		"may have wrapped twice": {1000, 100, []step{{0, 500, 0, false}, {10.5, 600, 0, true}, {11, 650, 50, false}}},
		"never wraps":            {0, 0, []step{{0, 500, 0, false}, {1e6, 9e9, 9e9 - 500, false}}},
		"never wraps, goes back": {0, 0, []step{{0, 500, 0, false}, {1, 499, 0, true}, {2, 501, 2, false}}},
	} {
		sum := total{wrap: c.wrap, maxPower: c.maxPower}
		for i, s := range c.steps {
			r := power.Reading{Time: time.Unix(0, int64(s.second*1e9))}
			err := sum.add(s.shown, &r)
			if math.Abs(r.Value-float64(s.sum)) > 1e-9 || r.Break != s.broken || (err != nil) != s.broken {
				t.Errorf("%s, step %d: got %+v, %v, want %+v", name, i, r, err, s)
			}
		}
	}
}

func TestRAPLSaysWhyItIsAbsent(t *testing.T) {
	unnamed := unpack(t, "two-packages")
	must.Do(os.Remove(unnamed.path("sys/class/powercap/intel-rapl:1/name")))
	must.Do(os.Remove(unnamed.path("sys/class/powercap/intel-rapl:2/max_energy_range_uj")))
	unnamed.write("sys/class/powercap/intel-rapl:1:0/energy_uj", "\n")
	noZones := emptyMachine(t)
	noZones.write("sys/class/powercap/intel-rapl/enabled", "1\n")

	for _, m := range []machine{emptyMachine(t), noZones} {
		_, err := m.open(raplSource())
		must.Fail(t, err, "there is no /sys/class/powercap", "modprobe intel_rapl_msr")
	}
	_, err := unnamed.open(raplSource())
	must.Fail(t, err, "intel-rapl:1 has no name", "intel-rapl:2): max_energy_range_uj does not say",
		`intel-rapl:1:0): the file shows "", not a number`)
}

// denied is a tree in which files whose path ends in name may not be read, even by root.
type denied struct {
	fs.FS
	name string
}

func (d denied) Open(path string) (fs.File, error) {
	if strings.HasSuffix(path, d.name) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return d.FS.Open(path)
}

func TestRAPLExplainsHowToGetPermission(t *testing.T) {
	files := Request{Root: unpack(t, "two-packages").root}.files()
	for name, want := range map[string]int{"energy_uj": 0, "intel-rapl:1/energy_uj": 4} {
		meters, err := openZones(denied{files, name})
		part := (*power.PartError)(nil)
		if len(meters) != want || !contains(err, "(since Linux 5.10): run as root, or run: sudo chmod a+r") ||
			strings.Contains(err.Error(), "\n") || !errors.As(err, &part) || part.Scope != power.Package {
			t.Errorf("%s denied: got %d meters, %v, want %d", name, len(meters), err, want)
		}
		_ = power.Here(meters).Close()
	}
}

// removed is an open file of a device that was removed.
type removed struct{ fs.File }

func (removed) ReadAt([]byte, int64) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: "energy_uj", Err: syscall.ENODEV}
}

func TestADeviceThatIsRemovedIsGone(t *testing.T) {
	must.Is(t, must.Err(readNumber(removed{})), power.ErrGone)
}

func TestRAPLOfProcessorsThatDoNotMeasureIsEstimated(t *testing.T) {
	for cpuinfo, want := range map[string]power.Method{
		"vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n":                                     power.Estimated,
		"vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 45\nmodel name\t: Xeon E5-2680\n":          power.Estimated,
		"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\nmodel name\t: E5 v3\n": power.Measured,
		"": power.Measured,
	} {
		m := unpack(t, "two-packages")
		m.write("proc/cpuinfo", cpuinfo)
		meters, _ := m.open(raplSource())
		if got := meters[0].Info().Method; got != want {
			t.Errorf("%q: got %s, want %s", cpuinfo, got, want)
		}
	}
}

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
	must.Fail(t, err, "GPU 2: this user may not read it",
		"GPU 1: GPU-1 has no counter of energy, which GPUs have since Volta: this GPU",
		"GPU 3: GPU-3 has no counter of energy, which GPUs have since Volta: NVML returned code 16")
	want := power.Info{
		Name: "nvml:GPU-0", Source: "nvml", Scope: power.GPU, Method: power.Measured, Quantity: power.Energy, Device: "GPU-0",
		Period: 100 * time.Millisecond, Step: 1e-3, Detail: "NVIDIA H200",
	}
	if diff := cmp.Diff(want, meters[0].Info()); diff != "" {
		t.Errorf("a GPU since Volta (-want +got):\n%s", diff)
	}
	must.Fail(t, errors.New(meters[1].Info().Detail), "split into MIG instances: this is the whole board")
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
	must.Is(t, must.Err(meters[0].Read(t.Context())), power.ErrGone)
	for i, m := range meters {
		if f.users != len(meters)-i {
			t.Errorf("the library has %d users with %d meters open", f.users, len(meters)-i)
		}
		must.Do(m.Close())
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
	must.Fail(t, must.Err(nvmlSource().Open(t.Context(), Request{Root: t.TempDir()})), "not through files below")
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
	t.Cleanup(func() { _ = power.Here(meters).Close() })
	return meters, err
}

func TestNVMLThroughItsCInterface(t *testing.T) {
	meters, err := openLibrary(t, compile(t, fakeLibrary))
	must.Fail(t, err, "GPU 1: GPU-11111111-1111-1111-1111-111111111111 has no counter of energy",
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
		must.Fail(t, err, want)
	}
	fails("libteps-not-there.so.1", "", "comes with NVIDIA's driver, is not installed")
	fails(compile(t, os.DevNull), "", "has no function nvmlInit_v2: the driver is too old")
	library := compile(t, fakeLibrary)
	fails(library, "no driver", "the driver is not loaded")
	fails(library, "mismatch", "have different versions")
}
