package machine

import (
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The processors that were busy between two looks are counted, with time taken by a hypervisor and without waiting for
// disks, and so are the times that heat slowed one down.
func TestLoadBetweenTwoLooks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	const heat = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count"
	const first = "cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 1000 0 0 0 0 0 0\ncpu1 100 0 0 1000 0 0 0 0 0 0\n"
	const second = "cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 105 0 0 1000 0 0 0 5 0 0\ncpu1 100 0 0 1007 3 0 0 0 0 0\n"
	proc, sys, _ := mount(t,
		map[string]string{"proc/loadavg": "3.25 1.00 0.50 2/300 4711\n", heat: "7\n", "proc/stat": first})
	l := measureLoad(t.Context(), proc, sys, func() {
		fill(t, filepath.Dir(proc), map[string]string{"proc/stat": second, heat: "9\n"})
	})
	if l != nil {
		l.Busy = math.Round(l.Busy*1e6) / 1e6
	}
	if l == nil || *l != (Load{Busy: 1, Processors: 2, Average: 3.25, Throttled: 2}) {
		t.Errorf("got %+v, want one of two processors busy, a load of 3.25, throttled twice", l)
	}
	if l := measureLoad(t.Context(), proc, sys, func() {}); l != nil {
		t.Errorf("without time passing the load is %+v, want none", l)
	}
}

func TestWarningsNameTheFix(t *testing.T) {
	for _, c := range []struct {
		m     Machine
		parts []string // none: no warning
	}{
		{Machine{Threads: 2, Load: &Load{Busy: 0.4, Processors: 2, Average: 9}}, nil},
		{Machine{Threads: 2, Load: &Load{Busy: 30, Processors: 64}}, nil}, // the others are free
		{Machine{Threads: 2, Governor: "performance"}, nil},
		{Machine{Threads: 2, Load: &Load{Busy: 1.26, Processors: 2}}, []string{"uses 1.3 of 2 processors: stop it"}},
		{Machine{Governor: "powersave", Load: &Load{Processors: 2, Throttled: 1}},
			[]string{"let them cool", "the governor saves power: cpupower frequency-set"}},
		{Machine{Governor: "powersave (balance_performance)"}, nil},
		{Machine{Governor: "performance, powersave (intel_pstate)"}, nil},
		{Machine{Governor: "performance, schedutil"}, []string{"the governor saves power: cpupower"}},
		{Machine{Governor: "powersave (balance_power)"}, []string{"the governor saves power: cpupower"}},
	} {
		got := c.m.Warnings()
		for i, part := range c.parts {
			if len(got) != len(c.parts) || !strings.Contains(got[i], part) || len(got[i]) > 74 {
				t.Fatalf("%+v: %q, want lines of up to 74 columns with %q", c.m, got, c.parts)
			}
		}
		if len(got) != len(c.parts) {
			t.Errorf("%+v: %q, want nothing", c.m, got)
		}
	}
}
