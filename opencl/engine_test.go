// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestWithoutOpenCLTheEngineSaysWhatIsMissing(t *testing.T) {
	for file, want := range map[string]string{"/nowhere/libOpenCL.so": "cannot open", "libc.so.6": "not a library"} {
		t.Setenv(driver.LibraryVariable, file)
		e := New()
		d, err := e.Describe(t.Context())
		if err != nil || !strings.Contains(d.Unavailable, want) || strings.Contains(d.Unavailable, "\n") {
			t.Errorf("%s: got %q and %v, want one line with %q", file, d.Unavailable, err, want)
		}
		if _, err := e.Construct(t.Context(), plugins.Input{}); !errors.Is(err, plugins.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", file, err)
		}
	}
}

func TestChoiceOfADevice(t *testing.T) {
	devices := []driver.Device{
		{Kind: "cpu", Name: "EPYC", Platform: "Portable Computing Language"},
		{Kind: "gpu", Name: "old", Platform: "Clover", Problem: "no compiler"},
		{Kind: "gpu", Name: "Radeon RX", Platform: "AMD"},
		{Kind: "gpu", Name: "Arc(TM) A770", Platform: "Intel(R) OpenCL"},
	}
	for option, want := range map[string]int{automatic: 2, "0": 0, "3": 3, "radeon-rx": 2, "arc-tm-a770": 3} {
		if got, err := choose(devices, option); got != want || err != nil {
			t.Errorf("device=%s: got %d and %v, want %d", option, got, err, want)
		}
	}
	for _, option := range []string{"", "1", "old", "4", "-1", "nvidia"} {
		_, err := plugins.Resolve(options(devices), map[string]string{"device": option})
		if !errors.Is(err, plugins.ErrOption) || !strings.Contains(err.Error(), "0, epyc, 2, radeon-rx, 3, arc-tm-a770") {
			t.Errorf("device=%s: got %v, want an error with the devices", option, err)
		}
	}
	if got, err := choose(devices[:2], automatic); got != 0 || err != nil {
		t.Errorf("without a GPU: got %d and %v, want the first device", got, err)
	}
	if _, err := choose(devices[1:2], automatic); !errors.Is(err, plugins.ErrUnavailable) {
		t.Errorf("without a usable device: got %v, want ErrUnavailable", err)
	}
}

func TestLimitsOfADevice(t *testing.T) {
	quarter := driver.Device{Name: "small", Memory: 16 << 30, MaxArray: 4 << 30}
	broken := driver.Device{Name: "large", Memory: 1 << 40, MaxArray: 1 << 40, Problem: "no compiler"}
	gpu := driver.Device{Name: "gpu", Kind: "gpu", Memory: 8 << 30, MaxArray: 8 << 30}
	l := limits(quarter)
	all := []driver.Device{quarter, broken, gpu}
	for option, want := range map[string]plugins.Limits{
		"0": {Vertices: 256 << 20, Tuples: 512 << 20}, "small": l,
		"gpu": {Vertices: 512 << 20, Tuples: 448 << 20}, automatic: limits(gpu),
	} {
		set, err := plugins.Resolve(options(all), map[string]string{"device": option})
		if got := set.Limits(plugins.Description{Options: options(all)}); err != nil || got != want {
			t.Errorf("device=%s: got %v and %v, want %v", option, got, err, want)
		}
	}
	for _, c := range []struct {
		tuples  int64
		label   uint32
		tooLong bool
		want    error
	}{
		{l.Tuples, uint32(l.Vertices) - 1, false, nil}, {l.Tuples + 1, 0, false, plugins.ErrMemory},
		{1, uint32(l.Vertices), false, plugins.ErrMemory}, {1, 0, true, plugins.ErrTuples},
		{1, none, false, plugins.ErrTuples}, {maxTuples + 1, 0, false, plugins.ErrTuples},
	} {
		if err := checkTuples(quarter, c.tuples, c.label, c.tooLong); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(), nil })
}

// Every constant at a value that small graphs reach: several pieces a list, full queues, long lists, many batches. And
// those of GPUs, which no machine of the tests has.
func TestVariantsOfConstants(t *testing.T) {
	needsDriver(t)
	small := tuning{group: 8, alone: 8, perUnit: 3, queue: 8, piece: 1, oneGroup: 0, reads: 1, scan: 4, sortGroup: 8,
		sortUnit: 2, batch: 1}
	for _, c := range []struct {
		name      string
		constants tuning
		options   map[string]string
		prefix    string
	}{
		{"small", small, nil, "graph/kronecker"},
		{"small top-down", small, map[string]string{"direction": "topdown"}, "graph/kronecker"},
		{"gpu", tuned(driver.Device{Kind: "gpu"}), nil, "graph/"},
	} {
		t.Run(c.name, func(t *testing.T) { conform(t, c.constants, c.options, c.prefix) })
	}
}

// conform runs the cases with small graphs whose names begin with a prefix.
func conform(t *testing.T, v tuning, options map[string]string, prefix string) {
	t.Helper()
	open := func(context.Context) (plugins.Engine, error) { return plugins.New(describe, variant(v)), nil }
	for _, c := range enginetest.Cases() {
		large := c.Name == "graph/kronecker-15"
		if large || !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		if o := c.Run(t.Context(), open, options, enginetest.Limit); o.Err != nil {
			t.Errorf("%v\nThe case: %s", o.Err, c.About)
		} else if o.Skipped != "" {
			t.Skip(o.Skipped)
		}
	}
}

// variant is kernel 1 with other constants than those of the device.
func variant(v tuning) plugins.Build {
	return func(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
		devices, err := driver.Devices()
		if err != nil {
			return plugins.Built{}, err
		}
		i, err := choose(devices, set.Text("device"))
		if err != nil {
			return plugins.Built{}, err
		}
		v.compiler += " " + tuned(devices[i]).compiler
		_, built, err := construct(ctx, in.Tuples, devices[i], set, v)
		return built, err
	}
}

// A driver that fails leads to one line that says what to do, and is not called again once its device is lost.
func TestFailures(t *testing.T) {
	if _, err := driver.Devices(); err != nil {
		t.Skip(err)
	}
	library := filepath.Join(t.TempDir(), "libfailing.so")
	out, err := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-o", library, "testdata/failing.c",
		"-Wl,--no-as-needed", "-l:libOpenCL.so.1", "-ldl").CombinedOutput()
	if err != nil {
		t.Skipf("needs gcc and an OpenCL library: %v: %s", err, out)
	}
	for _, c := range []struct {
		call              string
		code, after, late int
		want              string // after the wrapped error
	}{
		{"clBuildProgram", -11, 0, 0, "unavailable: engine is not available here: "},
		{"clCreateBuffer", -4, 6, 0, "memory: kernel 1: order: label of each vertex: "},
		{"clCreateBuffer", -5, 6, 0, "memory: kernel 1: order: label of each vertex: "},
		{"clEnqueueNDRangeKernel", -4, 6, 0, "memory: kernel 1: order: the OpenCL device "},
		{"clEnqueueReadBuffer", -5, 9, 2, "s, and a watchdog has probably stopped them"},
		{"clEnqueueReadBuffer", -5, 6, 0, "lost: kernel 1: "},
		{"clFinish", -36, 0, 0, "lost: kernel 1: tuples to the device: the OpenCL device "},
		{"clFinish", -14, 8, 0, "lost: the OpenCL device "},
		{"clReleaseMemObject", -36, 4, 0, "lost: kernel 1: "},
	} {
		t.Run(fmt.Sprint(c.call, c.code), func(t *testing.T) {
			number := func(name string, n int) string { return fmt.Sprintf("FAIL_%s=%d", name, n) }
			out, err := withDriver(t, "^TestFailure$", library, "FAIL_CALL="+c.call, number("CODE", c.code),
				number("AFTER", c.after), number("LATE", c.late))
			_, line, found := strings.Cut(out, "FAILURE ")
			line, _, _ = strings.Cut(line, "\nEND")
			if err != nil || !found || !strings.Contains(line, c.want) || strings.Contains(line, "\n") {
				t.Errorf("%v: got %q, want one line with %q; output:\n%s", err, line, c.want, out)
			}
		})
	}
}

// TestFailure builds and searches with the failing driver.
func TestFailure(t *testing.T) {
	needsDriver(t)
	devices, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	err = searchSome(t, tuned(devices[0]), "kron:7", "auto")
	kind := "other"
	for name, is := range map[string]error{
		"unavailable": plugins.ErrUnavailable, "memory": plugins.ErrMemory, "lost": plugins.ErrNotConstructed,
	} {
		if errors.Is(err, is) {
			kind = name
		}
	}
	fmt.Printf("FAILURE %s: %v\nEND\n", kind, err)
}
