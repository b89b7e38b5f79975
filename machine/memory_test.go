// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
)

// mount writes files into a new directory that represents a machine, and returns its proc, sys and etc.
func mount(t *testing.T, files map[string]string) (proc, sys, etc string) {
	t.Helper()
	root := t.TempDir()
	fill(root, files)
	return filepath.Join(root, "proc"), filepath.Join(root, "sys"), filepath.Join(root, "etc")
}

// fill writes files into the directory of a machine, or replaces their content.
func fill(root string, files map[string]string) {
	for name, text := range files {
		file := filepath.Join(root, name)
		must.Do(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
	}
}

const meminfo20GiB = "MemTotal:       25165824 kB\nMemFree:        10485760 kB\n" +
	"MemAvailable:   20971520 kB\nHugePages_Total:       0\n"

const estimate, meminfo = "the system's estimate", "proc/meminfo"

func TestAvailableMemory(t *testing.T) {
	const v2, v1 = "sys/fs/cgroup/", "sys/fs/cgroup/memory/"
	const group, pod = "proc/self/cgroup", v2 + "pod/job/"
	const maximum, current = v2 + "job/memory.max", v2 + "job/memory.current"
	type files = map[string]string
	for name, c := range map[string]struct {
		files  files
		bytes  int64
		source string
	}{
		"kernel's estimate without control groups": {files{}, 20 << 30, estimate},
		"version 2 without a limit": {
			files{group: "0::/job\n", maximum: "max\n", current: "123\n"}, 20 << 30, estimate},
		"version 2 with its limit": {
			files{group: "0::/job\n", maximum: "8589934592\n", current: "1073741824\n"}, 7 << 30, "cgroup v2 limit of /job"},
		"version 2 with idle page cache, which can be taken": {files{
			group: "0::/job\n", maximum: "8589934592\n", current: "5368709120\n",
			v2 + "job/memory.stat": "anon 1073741824\nfile 4294967296\ninactive_file 3221225472\n",
		}, 6 << 30, "cgroup v2 limit of /job"},
		"version 2 with a tighter limit further up": {files{
			group: "0::/pod/job\n", pod + "memory.max": "8589934592\n", pod + "memory.current": "0\n",
			v2 + "pod/memory.max": "4294967296\n", v2 + "pod/memory.current": "1073741824\n",
		}, 3 << 30, "cgroup v2 limit of /pod"},
		"version 2 that is throttled before its limit": {files{
			group: "0::/job\n", maximum: "8589934592\n", v2 + "job/memory.high": "2147483648\n", current: "0\n",
		}, 2 << 30, "cgroup v2 limit of /job"},
		"version 2 seen from inside a container": {
			files{group: "0::/\n", v2 + "memory.max": "1073741824\n"}, 1 << 30, "cgroup v2 limit of /"},
		"version 2 whose group lies outside of the container": {
			files{group: "0::/../../elsewhere\n", v2 + "memory.max": "1073741824\n"}, 1 << 30, "cgroup v2 limit of /"},
		"version 2 next to version 1": {
			files{group: "0::/job\n", v2 + "unified/job/memory.max": "1073741824\n"}, 1 << 30, "cgroup v2 limit of /job"},
		"a group that is already over its limit": {
			files{group: "0::/job\n", maximum: "1073741824\n", current: "2147483648\n"}, 0, "cgroup v2 limit of /job"},
		"version 1 with a limit": {files{
			group:                                    "9:name=systemd:/\n4:memory:/docker/4711\n1:cpu,cpuacct:/\n",
			v1 + "docker/4711/memory.limit_in_bytes": "4294967296\n", v1 + "docker/4711/memory.usage_in_bytes": "2147483648\n",
			v1 + "docker/4711/memory.stat": "inactive_file 1\ntotal_inactive_file 1073741824\n",
		}, 3 << 30, "cgroup v1 limit of /docker/4711"},
		"version 1 seen from inside a container": {
			files{group: "4:memory:/a\n", v1 + "memory.limit_in_bytes": "4294967296\n"}, 4 << 30, "cgroup v1 limit of /"},
		"version 1 without a limit": {
			files{group: "4:memory:/\n", v1 + "memory.limit_in_bytes": "9223372036854771712\n"}, 20 << 30, estimate},
		"a limit above what the machine has": {files{group: "0::/job\n", maximum: "1099511627776\n"}, 20 << 30, estimate},
		"an address space": {map[string]string{
			"proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\n" +
				"Max data size             unlimited            unlimited            bytes     \n" +
				"Max address space         8589934592           unlimited            bytes     \n",
			"proc/self/status": "Name:\tteps\nVmSize:\t 1048576 kB\nVmData:\t  524288 kB\n",
		}, 7*(1<<30) - arenas, "ulimit -v of 8.00 GiB"},
		"a data segment": {map[string]string{
			"proc/self/limits": "Max data size 4294967296 unlimited bytes\nMax address space 8589934592 unlimited bytes\n",
			"proc/self/status": "VmSize:\t 1048576 kB\nVmData:\t  524288 kB\n",
		}, 3584*(1<<20) - arenas, "ulimit -d of 4.00 GiB"},
		"a data segment that is full": {map[string]string{
			"proc/self/limits": "Max data size 4294967296 unlimited bytes\n", "proc/self/status": "VmData:\t 4194304 kB\n",
		}, 0, "ulimit -d of 4.00 GiB"},
		"files that make no sense": {
			files{group: "rubbish\n::\n0::/job\n", maximum: "plenty\n", current: "\n"}, 20 << 30, estimate},
		"a control group only": {
			files{group: "0::/job\n", maximum: "1073741824\n", meminfo: ""}, 1 << 30, "cgroup v2 limit of /job"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, without := c.files[meminfo]; !without {
				c.files[meminfo] = meminfo20GiB
			}
			proc, sys, _ := mount(t, c.files)
			bytes, source, err := availableUnder(t.Context(), proc, sys)
			if err != nil || bytes != c.bytes || source != c.source {
				t.Errorf("want %d from %q, got %d from %q, error %v", c.bytes, c.source, bytes, source, err)
			}
		})
	}
}

func TestAvailableMemoryUnknown(t *testing.T) {
	proc, sys, _ := mount(t, map[string]string{"proc/meminfo": "MemTotal: 1 kB\n"})
	_, _, err := availableUnder(t.Context(), proc, sys)
	must.Fail(t, err, "the system does not report it")
}

func TestAvailableMemoryOfThisMachine(t *testing.T) {
	bytes, source, err := AvailableMemory(t.Context())
	if err != nil || bytes <= 0 || source == "" {
		t.Fatalf("got %d from %q, error %v", bytes, source, err)
	}
	if total := This(t.Context()).MemoryBytes; total > 0 && bytes > total {
		t.Errorf("%d bytes are available of %d", bytes, total)
	}
}

// A busy thread waits 2 ms, an idle one 5 ms, a child of the process 1 ms.
func TestInterferenceIsThatOfBusyThreads(t *testing.T) {
	const main, idle, child = "proc/7/task/7/", "proc/7/task/8/", "proc/9/task/9/"
	files := map[string]string{
		main + "schedstat": "1000000 100 5\n", main + "children": "9 ", idle + "schedstat": "1000 0 2\n",
		child + "schedstat": "0 0 0\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 100 3 1 0 20\n",
		"proc/9/stat": "9 (rank) S 7 7 7 0 -1 4194560 10 0 0 0 2\n",
		"proc/stat":   "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1\ncpu1 1 2 3 4 5 6 7 8 0 0\ncpu2 1 2 3 4 5 6 7 8 0 0\n",
	}
	proc, _, _ := mount(t, files)
	before := now(proc, 7)
	fill(filepath.Dir(proc), map[string]string{
		main + "schedstat": "11000000 2000100 9\n", idle + "schedstat": "2000 5000000 3\n",
		child + "schedstat": "9000000 1000000 4\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 130 3 4 0 20\n",
		"proc/stat": "cpu  1 2 3 4 5 6 7 257 0 0\ncpu1 1 2 3 4 5 6 7 11 0 0\ncpu2 1 2 3 4 5 6 7 10 0 0\n" +
			"intr 1 2 3 4 5 6 7 99\n",
	})
	got := now(proc, 7).Since(before)
	if got.Period <= 0 {
		t.Errorf("measured for %v s", got.Period)
	}
	want := &Interference{
		Period: got.Period, Waited: 0.002, Stolen: 0.03, Switches: 9, Faults: 33, Ran: 19001 * time.Microsecond,
	}
	must.Equal(t, got, want, "interference")
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
		fill(filepath.Dir(proc), map[string]string{"proc/stat": second, heat: "9\n"})
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
		must.Equal(t, len(got), len(c.parts), c.m, got)
	}
}
