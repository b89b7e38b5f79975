//go:build linux && (amd64 || arm64) && (cgo || nvml)

package power

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// compile makes a library of a C file, so that the calls through the C interface are tested without a driver.
func compile(t testing.TB, file string, flags ...string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) in PATH")
	}
	library := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if out, err := exec.Command(compiler, append(flags, "-shared", "-fPIC", "-o", library, "-x", "c", file)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return library
}

const fakeLibrary = "testdata/nvml.c"

func TestNVMLThroughItsCInterface(t *testing.T) {
	for _, flags := range [][]string{nil, {"-DOLD"}} {
		library := compile(t, fakeLibrary, flags...)
		meters, absences := findNVML(func() (nvmlLibrary, error) { return loadNVML(library) })
		if len(meters) != 2 || len(absences) != 1 || absences[0].Reason != "GPU 2: the GPU has fallen off the bus" {
			t.Fatalf("%d meters, %s", len(meters), reasons(absences))
		}
		closeAll(t, meters)
		i := meters[0].Info()
		detail := "NVIDIA H200, limit 700 W, driver 580.95.05"
		if flags == nil {
			detail += ", cut into MIG instances: this is the whole board, with what others do on it"
		}
		if i.Device != "GPU-00000000-0000-0000-0000-000000000000" || i.Detail != detail {
			t.Errorf("%+v", i)
		}
		if i := meters[1].Info(); i.Quantity != Power || i.Detail != "Tesla P100, driver 580.95.05" {
			t.Errorf("%+v", i)
		}
		for n := range 3 {
			if j := only(t, meters[0]); j != 2.5*float64(n) {
				t.Errorf("%v J in read %d", j, n)
			}
		}
		if w := only(t, meters[1]); w != 31.5 {
			t.Errorf("%v W", w)
		}
	}
}

func TestNVMLThatDoesNotLoad(t *testing.T) {
	if _, err := loadNVML("libteps-not-there.so.1"); !contains(err, "comes with NVIDIA's driver, is not there") {
		t.Errorf("%v", err)
	}
	if _, err := loadNVML(compile(t, os.DevNull)); !contains(err, "has no function nvmlInit_v2") {
		t.Errorf("%v", err)
	}
	library := compile(t, fakeLibrary)
	for how, want := range map[string]string{"no driver": "the driver is not loaded", "mismatch": "of different versions, as after an update: reboot"} {
		t.Setenv("TEPS_FAKE_NVML", how)
		if _, err := loadNVML(library); !contains(err, want) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func BenchmarkNVMLCall(b *testing.B) {
	library := compile(b, fakeLibrary)
	meters, _ := findNVML(func() (nvmlLibrary, error) { return loadNVML(library) })
	defer func() { _ = Close(meters) }()
	for b.Loop() {
		if _, err := meters[0].Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
