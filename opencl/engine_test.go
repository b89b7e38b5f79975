// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"errors"
	"strings"
	"testing"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
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
