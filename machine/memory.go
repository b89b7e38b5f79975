// SPDX-License-Identifier: Apache-2.0

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

	"github.com/tepsbench/teps/internal/units"
)

// AvailableMemory returns the bytes that a process can allocate without swapping, and the source of the number: the
// minimum of the system's available memory (MemAvailable on Linux) and what the resource limits of the process and its
// control groups leave.
func AvailableMemory(ctx context.Context) (bytes int64, source string, err error) {
	return availableUnder(ctx, "/proc", "/sys")
}

func availableUnder(ctx context.Context, proc, sys string) (bytes int64, source string, err error) {
	bytes = math.MaxInt64
	if m, err := mem.VirtualMemoryWithContext(mounted(ctx, proc, sys, "/etc")); err == nil && m.Available > 0 {
		bytes, source = int64(m.Available), "the system's estimate"
	}
	for _, l := range []struct{ name, used, option string }{
		{"Max address space", "VmSize:", "ulimit -v"}, {"Max data size", "VmData:", "ulimit -d"},
	} {
		limit := number(field(tree(proc).line("self/limits"), l.name))
		used := number(field(tree(proc).line("self/status"), l.used)) * units.KiB
		if room := max(0, limit-used-arenas); limit > 0 && room < bytes {
			bytes, source = room, fmt.Sprintf("%s of %s", l.option, units.Bytes(limit))
		}
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

// arenas is the address space that the Go heap may take for small objects: it grows by 64 MiB at a time.
const arenas = 128 * units.MiB

// field returns the word that follows name at the beginning of a line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.Fields(rest + " -")[0]
		}
	}
	return ""
}

// controlGroup is a directory that may limit the memory of the processes in and below it. The files have different
// names in versions 1 and 2 (Linux admin guide, cgroup-v1/memory.rst and cgroup-v2.rst).
type controlGroup struct {
	version int
	name    string // relative to the mount, "/" for its root
	dir     tree
}

// controlGroups returns the groups of this process, from the innermost to the root of the mount. Inside a container the
// innermost directories may not be visible.
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

// room returns the bytes left in the group, or math.MaxInt64 without a limit. Inactive page cache counts as room,
// because the kernel reclaims it first.
func (g controlGroup) room() int64 {
	limits, usage, cache := []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	if g.version == 1 {
		limits, usage, cache = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	}
	limit := int64(1 << 62) // version 1 writes MaxInt64 rounded down to a page, version 2 "max"
	for _, name := range limits {
		if n := number(g.dir.line(name)); n > 0 {
			limit = min(limit, n)
		}
	}
	if limit == 1<<62 {
		return math.MaxInt64
	}
	used := number(g.dir.line(usage))
	return max(0, limit-max(0, used-number(field(g.dir.line("memory.stat"), cache+" "))))
}
