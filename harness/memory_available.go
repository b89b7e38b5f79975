package harness

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v3/mem"
)

// AvailableMemory returns how many bytes a process may take here without pushing others out, and where the number comes
// from. On Linux that is the smallest of the kernel's estimate (MemAvailable) and of what the control groups above this
// process still allow; elsewhere what the system reports as available. Swap does not count.
func AvailableMemory(ctx context.Context) (bytes int64, source string, err error) {
	if runtime.GOOS == "linux" {
		return availableUnder("/proc", "/sys")
	}
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0, "", fmt.Errorf("harness: asking for the available memory: %w", err)
	}
	return int64(m.Available), "system", nil
}

// availableUnder is AvailableMemory with /proc and /sys mounted elsewhere.
func availableUnder(proc, sys string) (bytes int64, source string, err error) {
	bytes, err = memAvailable(filepath.Join(proc, "meminfo"))
	source = "MemAvailable"
	if err != nil {
		bytes, source = -1, ""
	}
	for _, g := range controlGroups(proc, sys) {
		if room, limited := g.room(); limited && (bytes < 0 || room < bytes) {
			bytes, source = room, g.String()
		}
	}
	if bytes < 0 {
		return 0, "", fmt.Errorf("harness: neither the kernel nor a control group tells the available memory: %w", err)
	}
	return bytes, source, nil
}

func memAvailable(file string) (int64, error) {
	fields, err := numbers(file)
	if err != nil {
		return 0, err
	}
	kibibytes, known := fields["MemAvailable:"]
	if !known {
		return 0, fmt.Errorf("%s has no MemAvailable", file)
	}
	return kibibytes << 10, nil
}

// controlGroup is a directory that may limit the memory of the processes in and below it. Limit, usage and reclaimable
// page cache have other names in version 1 and 2 of control groups (Linux admin guide, cgroup-v1/memory.rst and
// cgroup-v2.rst).
type controlGroup struct {
	version int
	name    string // below the mount, "/" for its root
	dir     string
}

func (g controlGroup) String() string {
	return fmt.Sprintf("cgroup v%d limit of %s", g.version, g.name)
}

// controlGroups returns the groups that hold this process, from the innermost up to the root of the mount. Inside a
// container the innermost names may not be visible; those that are not limit nothing that could be read.
func controlGroups(proc, sys string) []controlGroup {
	text, err := os.ReadFile(filepath.Join(proc, "self", "cgroup"))
	if err != nil {
		return nil
	}
	var groups []controlGroup
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(parts) != 3 {
			continue
		}
		version, mounts := 0, []string(nil)
		if parts[0] == "0" && parts[1] == "" {
			version, mounts = 2, []string{"fs/cgroup", "fs/cgroup/unified"}
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" {
				version, mounts = 1, []string{"fs/cgroup/memory"}
			}
		}
		for name := path.Clean("/" + parts[2]); version != 0; name = path.Dir(name) {
			for _, mount := range mounts {
				groups = append(groups, controlGroup{version, name, filepath.Join(sys, mount, name)})
			}
			if name == "/" {
				break
			}
		}
	}
	return groups
}

// unlimited is where version 1 begins to mean "no limit": MaxInt64 rounded down to a page.
const unlimited = 1 << 62

// room returns the bytes that the group still allows, and whether it limits anything. Page cache that has not been used
// lately counts as room: the kernel gives it up first.
func (g controlGroup) room() (bytes int64, limited bool) {
	limits, usage, cache := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	if g.version == 1 {
		limits, usage, cache = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	}
	limit := int64(unlimited)
	for _, name := range limits {
		if n, err := g.number(name); err == nil {
			limit = min(limit, n)
		}
	}
	if limit >= unlimited {
		return 0, false
	}
	used, err := g.number(usage)
	if err != nil {
		return limit, true
	}
	statistics, err := numbers(filepath.Join(g.dir, "memory.stat"))
	if err == nil {
		used -= min(used, statistics[cache])
	}
	return max(0, limit-used), true
}

// number reads a file with a single number; "max" is none.
func (g controlGroup) number(name string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return max(n, 0), err
}

// numbers reads lines of a name and a number; what follows the number, and lines of another form, are left out.
func numbers(file string) (map[string]int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	values := map[string]int64{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				values[fields[0]] = n
			}
		}
	}
	return values, lines.Err()
}
