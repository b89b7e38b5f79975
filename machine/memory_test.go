// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mount writes files into a new directory that represents a machine, and returns its proc, sys and etc.
func mount(t *testing.T, files map[string]string) (proc, sys, etc string) {
	t.Helper()
	root := t.TempDir()
	fill(t, root, files)
	return filepath.Join(root, "proc"), filepath.Join(root, "sys"), filepath.Join(root, "etc")
}

// fill writes files into the directory of a machine, or replaces their content.
func fill(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const meminfo20GiB = "MemTotal:       25165824 kB\nMemFree:        10485760 kB\n" +
	"MemAvailable:   20971520 kB\nHugePages_Total:       0\n"

const systemEstimate = "the system's estimate"

func TestAvailableMemory(t *testing.T) {
	const v2 = "sys/fs/cgroup/"
	const v1 = "sys/fs/cgroup/memory/"
	cases := map[string]struct {
		files  map[string]string
		bytes  int64
		source string
	}{
		"kernel's estimate without control groups": {map[string]string{}, 20 * (1 << 30), systemEstimate},
		"version 2 without a limit": {map[string]string{
			"proc/self/cgroup": "0::/user.slice/session\n", v2 + "user.slice/session/memory.max": "max\n",
			v2 + "user.slice/session/memory.current": "123\n",
		}, 20 * (1 << 30), systemEstimate},
		"version 2 with a limit of its own": {map[string]string{
			"proc/self/cgroup": "0::/job\n", v2 + "job/memory.max": "8589934592\n", v2 + "job/memory.current": "1073741824\n",
		}, 7 * (1 << 30), "cgroup v2 limit of /job"},
		"version 2 with idle page cache, which can be taken": {map[string]string{
			"proc/self/cgroup": "0::/job\n", v2 + "job/memory.max": "8589934592\n", v2 + "job/memory.current": "5368709120\n",
			v2 + "job/memory.stat": "anon 1073741824\nfile 4294967296\ninactive_file 3221225472\n",
		}, 6 * (1 << 30), "cgroup v2 limit of /job"},
		"version 2 with a tighter limit further up": {map[string]string{
			"proc/self/cgroup": "0::/pod/job\n", v2 + "pod/job/memory.max": "8589934592\n", v2 + "pod/job/memory.current": "0\n",
			v2 + "pod/memory.max": "4294967296\n", v2 + "pod/memory.current": "1073741824\n",
		}, 3 * (1 << 30), "cgroup v2 limit of /pod"},
		"version 2 that is throttled before its limit": {map[string]string{
			"proc/self/cgroup": "0::/job\n", v2 + "job/memory.max": "8589934592\n", v2 + "job/memory.high": "2147483648\n",
			v2 + "job/memory.current": "0\n",
		}, 2 * (1 << 30), "cgroup v2 limit of /job"},
		"version 2 seen from inside a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", v2 + "memory.max": "1073741824\n", v2 + "memory.current": "0\n",
		}, (1 << 30), "cgroup v2 limit of /"},
		"version 2 whose group lies outside of the container": {map[string]string{
			"proc/self/cgroup": "0::/../../elsewhere\n", v2 + "memory.max": "1073741824\n", v2 + "memory.current": "0\n",
		}, (1 << 30), "cgroup v2 limit of /"},
		"version 2 next to version 1": {map[string]string{
			"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/unified/job/memory.max": "1073741824\n",
		}, (1 << 30), "cgroup v2 limit of /job"},
		"a group that is already over its limit": {map[string]string{
			"proc/self/cgroup": "0::/job\n", v2 + "job/memory.max": "1073741824\n", v2 + "job/memory.current": "2147483648\n",
		}, 0, "cgroup v2 limit of /job"},
		"version 1 with a limit": {map[string]string{
			"proc/self/cgroup":                       "9:name=systemd:/\n4:memory:/docker/4711\n1:cpu,cpuacct:/\n",
			v1 + "docker/4711/memory.limit_in_bytes": "4294967296\n", v1 + "docker/4711/memory.usage_in_bytes": "2147483648\n",
			v1 + "docker/4711/memory.stat": "inactive_file 1\ntotal_inactive_file 1073741824\n",
		}, 3 * (1 << 30), "cgroup v1 limit of /docker/4711"},
		"version 1 seen from inside a container": {map[string]string{
			"proc/self/cgroup":           "4:memory:/docker/4711\n",
			v1 + "memory.limit_in_bytes": "4294967296\n", v1 + "memory.usage_in_bytes": "0\n",
		}, 4 * (1 << 30), "cgroup v1 limit of /"},
		"version 1 without a limit": {map[string]string{
			"proc/self/cgroup":           "4:memory:/\n",
			v1 + "memory.limit_in_bytes": "9223372036854771712\n", v1 + "memory.usage_in_bytes": "0\n",
		}, 20 * (1 << 30), systemEstimate},
		"a limit above what the machine has": {map[string]string{
			"proc/self/cgroup": "0::/job\n", v2 + "job/memory.max": "1099511627776\n", v2 + "job/memory.current": "0\n",
		}, 20 * (1 << 30), systemEstimate},
		"files that make no sense": {map[string]string{
			"proc/self/cgroup": "rubbish\n::\n0::/job\n", v2 + "job/memory.max": "plenty\n", v2 + "job/memory.current": "\n",
		}, 20 * (1 << 30), systemEstimate},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.files["proc/meminfo"] = meminfo20GiB
			proc, sys, _ := mount(t, c.files)
			bytes, source, err := availableUnder(t.Context(), proc, sys)
			if err != nil || bytes != c.bytes || source != c.source {
				t.Errorf("want %d from %q, got %d from %q, error %v", c.bytes, c.source, bytes, source, err)
			}
		})
	}
}

func TestAvailableMemoryFromControlGroupOnly(t *testing.T) {
	proc, sys, _ := mount(t,
		map[string]string{"proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.max": "1073741824\n"})
	bytes, source, err := availableUnder(t.Context(), proc, sys)
	if err != nil || bytes != (1<<30) || source != "cgroup v2 limit of /job" {
		t.Errorf("want the group's GiB, got %d from %q, error %v", bytes, source, err)
	}
}

func TestAvailableMemoryUnknown(t *testing.T) {
	proc, sys, _ := mount(t, map[string]string{"proc/meminfo": "MemTotal: 1 kB\n"})
	_, _, err := availableUnder(t.Context(), proc, sys)
	if err == nil || !strings.Contains(err.Error(), "the system does not report it") {
		t.Errorf("want an error that says so, got %v", err)
	}
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

func TestMemoryIsReadWhole(t *testing.T) {
	words := make([]uint64, 1003)
	want := uint64(0)
	for i := range words {
		words[i] = uint64(i * i)
		want += words[i]
	}
	if got := sum(words); got != want {
		t.Errorf("sum %d, want %d", got, want)
	}
	for i := range words {
		words[i] = 1
	}
	if got := gather(words, 7, 500); got != 500 {
		t.Errorf("%d words were gathered, want 500", got)
	}
	counts := make([]int, 16)
	places := make([]uint64, 16)
	for i := range places {
		places[i] = uint64(i)
	}
	for seed := range uint64(16000) {
		counts[gather(places, seed, 1)]++
	}
	for place, n := range counts {
		if n < 800 || n > 1200 {
			t.Errorf("place %d was read %d times of 16,000, want about 1,000", place, n)
		}
	}
}

func TestMemorySpeed(t *testing.T) {
	speed, err := measureMemory(t.Context(), 1<<22+5)
	if err != nil || speed.Bytes != 1<<22 || speed.Threads < 1 || speed.Bandwidth < 1e6 || speed.RandomReads < 1e4 {
		t.Errorf("got %+v, error %v", speed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measureMemory(ctx, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}
