package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v3/mem"
)

// AvailableMemory returns how many bytes a process can take without pushing others out, and the source of the number.
// It is the minimum of what the system reports as available (MemAvailable on Linux) and of what the control groups of
// this process still allow. Swap does not count.
func AvailableMemory(ctx context.Context) (bytes int64, source string, err error) {
	return availableUnder(ctx, "/proc", "/sys")
}

// availableUnder is AvailableMemory with /proc and /sys mounted at proc and sys.
func availableUnder(ctx context.Context, proc, sys string) (bytes int64, source string, err error) {
	bytes = math.MaxInt64
	if m, err := mem.VirtualMemoryWithContext(mounted(ctx, proc, sys, "/etc")); err == nil && m.Available > 0 {
		bytes, source = int64(m.Available), "the system's estimate"
	}
	for _, g := range controlGroups(tree(proc), tree(sys)) {
		if room := g.room(); room < bytes {
			bytes, source = room, fmt.Sprintf("cgroup v%d limit of %s", g.version, g.name)
		}
	}
	if source == "" {
		return 0, "", errors.New("machine: available memory: the system does not report it and no control group has a limit")
	}
	return bytes, source, nil
}

// controlGroup is a directory that may limit the memory of the processes in and below it. The files have different
// names in versions 1 and 2 (Linux admin guide, cgroup-v1/memory.rst and cgroup-v2.rst).
type controlGroup struct {
	version int
	name    string // relative to the mount, "/" for its root
	dir     tree
}

// controlGroups returns the groups of this process, from the innermost to the root of the mount. Inside a container the
// innermost directories may not be visible; those limit nothing that can be read.
func controlGroups(proc, sys tree) (groups []controlGroup) {
	for line := range strings.Lines(proc.line("self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy:controllers:path
		if len(parts) != 3 {
			continue
		}
		var version int
		var mounts []string
		switch {
		case parts[0] == "0" && parts[1] == "":
			version, mounts = 2, []string{"fs/cgroup", "fs/cgroup/unified"}
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			version, mounts = 1, []string{"fs/cgroup/memory"}
		default:
			continue
		}
		for name := path.Clean("/" + parts[2]); ; name = path.Dir(name) {
			for _, mount := range mounts {
				groups = append(groups, controlGroup{version, name, tree(filepath.Join(string(sys), mount, name))})
			}
			if name == "/" {
				break
			}
		}
	}
	return groups
}

// room returns the bytes that the group still allows, math.MaxInt64 without a limit. Page cache that has not been used
// lately counts as room, because the kernel reclaims it first.
func (g controlGroup) room() int64 {
	limits, usage, cache := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	if g.version == 1 {
		limits, usage, cache = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	}
	const unlimited = 1 << 62 // version 1 writes MaxInt64 rounded down to a page, version 2 "max"
	limit := int64(unlimited)
	for _, name := range limits {
		if n := number(g.dir.line(name)); n > 0 {
			limit = min(limit, n)
		}
	}
	if limit >= unlimited {
		return math.MaxInt64
	}
	used := number(g.dir.line(usage))
	for line := range strings.Lines(g.dir.line("memory.stat")) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == cache {
			used -= min(used, number(value))
		}
	}
	return max(0, limit-used)
}
