// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A busy thread waits 2 ms, an idle one 5 ms, a child of the process 1 ms.
func TestInterferenceIsThatOfBusyThreads(t *testing.T) {
	const main, idle, child = "proc/7/task/7/", "proc/7/task/8/", "proc/9/task/9/"
	files := map[string]string{
		main + "schedstat": "1000000 100 5\n", main + "children": "9 ", idle + "schedstat": "1000 0 2\n",
		child + "schedstat": "0 0 0\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 100 3 1 0 20\n",
		"proc/9/stat": "9 (rank) S 7 7 7 0 -1 4194560 10 0 0 0 2\n", "proc/stat": "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1\n",
	}
	proc, _, _ := mount(t, files)
	before := now(proc, 7)
	fill(t, filepath.Dir(proc), map[string]string{
		main + "schedstat": "11000000 2000100 9\n", idle + "schedstat": "2000 5000000 3\n",
		child + "schedstat": "9000000 1000000 4\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 130 3 4 0 20\n",
		"proc/stat": "cpu  1 2 3 4 5 6 7 253 0 0\n",
	})
	got := now(proc, 7).Since(before)
	if got.Period <= 0 {
		t.Errorf("measured for %v s", got.Period)
	}
	want := &Interference{Period: got.Period, Waited: 0.002, Stolen: 0.03, Switches: 9, Faults: 33}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if got := now(proc, 8).Since(before); got != nil {
		t.Errorf("a process that is not there: %+v", got)
	}
}

func TestInterferenceOfThisProcess(t *testing.T) {
	before := Now(os.Getpid())
	if before == nil {
		t.Skip("this system has no /proc/PID/schedstat")
	}
	l := MeasureLoad(t.Context())
	i := Now(os.Getpid()).Since(before)
	if i.Waited < 0 || i.Switches < 0 || i.Faults < 0 || i.Period < sampleTime.Seconds() {
		t.Errorf("got %+v", i)
	}
	if l == nil || l.Processors < 1 || l.Busy > float64(l.Processors) {
		t.Errorf("got %+v", l)
	}
}

// The load counts busy processors between two samples, including time taken by a hypervisor and excluding waits for
// disks, and counts thermal throttling.
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
