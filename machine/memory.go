// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/mem"

	"github.com/tepsbench/teps/internal/memory"
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

// MemorySpeed is the speed at which all processors read memory outside their caches: a lower bound on the time of a
// search.
type MemorySpeed struct {
	Bandwidth   float64 `json:"bandwidth"`    // bytes per second; each thread reads a separate part in order
	RandomReads float64 `json:"random_reads"` // 8-byte words per second, from independent random places
	Bytes       int64   `json:"bytes"`        // bytes read
	Threads     int     `json:"threads"`
}

// MeasureMemory measures the speed of memory, on huge pages if the system has them, over four times the size of the
// caches. It takes some seconds. The results are the best of several passes (as in McCalpin's STREAM).
func MeasureMemory(ctx context.Context) (MemorySpeed, error) {
	size := max(4*This(ctx).CacheBytes, units.GiB)
	if available, _, err := AvailableMemory(ctx); err == nil {
		size = min(size, available/4)
	}
	return measureMemory(ctx, size)
}

func measureMemory(ctx context.Context, size int64) (MemorySpeed, error) {
	arena := memory.New()
	defer arena.ReleaseAll()
	speed := MemorySpeed{Bytes: size / 8 * 8, Threads: runtime.GOMAXPROCS(0)}
	if ctx.Err() != nil {
		return speed, ctx.Err()
	}
	words := memory.Allocate[uint64](arena, "measuring memory", int(size/8))
	if arena.Err() != nil {
		return speed, arena.Err()
	}
	part := func(t int) []uint64 { return words[len(words)*t/speed.Threads : len(words)*(t+1)/speed.Threads] }
	inParallel(speed.Threads, func(t int) uint64 { // first touch places each part near its thread
		for i := range part(t) {
			part(t)[i] = uint64(i)
		}
		return 0
	})
	const passes, reads = 5, 1 << 22
	for i := 0; i < passes && ctx.Err() == nil; i++ {
		elapsed := inParallel(speed.Threads, func(t int) uint64 { return sum(part(t)) })
		speed.Bandwidth = max(speed.Bandwidth, float64(speed.Bytes)/elapsed.Seconds())
		elapsed = inParallel(speed.Threads, func(t int) uint64 { return gather(words, uint64(t)*reads, reads) })
		speed.RandomReads = max(speed.RandomReads, float64(speed.Threads*reads)/elapsed.Seconds())
	}
	return speed, ctx.Err()
}

// inParallel returns the time that n threads take for work.
func inParallel(n int, work func(thread int) uint64) time.Duration {
	results := make([]uint64, n)
	defer runtime.KeepAlive(results)
	var all sync.WaitGroup
	start := time.Now()
	for t := range n {
		all.Go(func() { results[t] = work(t) })
	}
	all.Wait()
	return time.Since(start)
}

// sum reads words in order, in four independent chains of additions, so that the time is that of reading.
func sum(words []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(words) >= 8; words = words[8:] {
		a += words[0] + words[4]
		b += words[1] + words[5]
		c += words[2] + words[6]
		d += words[3] + words[7]
	}
	for _, word := range words {
		a += word
	}
	return a + b + c + d
}

// gather reads n words from independent random places (splitmix64, Steele et al. 2014).
func gather(words []uint64, seed uint64, n int) (total uint64) {
	for i := range uint64(n) {
		x := (seed + i + 1) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		place, _ := bits.Mul64(x^x>>27, uint64(len(words)))
		total += words[place]
	}
	return total
}
