// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/load"

	"github.com/tepsbench/teps/internal/units"
)

// Interference is the processor time that a process lost to other work. A field that the system does not report is 0.
type Interference struct {
	Period float64 `json:"period,omitempty"` // measured interval, seconds
	// Waited is the longest run queue wait of a thread that ran at least a quarter as long as the busiest one, in seconds.
	Waited float64 `json:"waited,omitempty"`
	// Stolen is the time that the hypervisor took from the processor that lost most, in seconds. A thread does not wait
	// for several of them at the same time.
	Stolen   float64       `json:"stolen,omitempty"`
	Switches int64         `json:"switches,omitempty"` // context switches of its threads
	Faults   int64         `json:"faults,omitempty"`   // page faults
	Ran      time.Duration `json:"-"`                  // processor time that its threads used
}

// Moment is a snapshot of processes and their children. The difference of two is an Interference.
type Moment struct {
	at      time.Time
	threads map[string]thread // by the directory of the thread
	faults  int64
	stolen  map[string]int64 // by processor, in hundredths of a second
}

type thread struct{ ran, waited, switches int64 } // nanoseconds

// Now returns a snapshot of processes and their children, or nil where the system has no /proc/PID/schedstat.
func Now(pids ...int) *Moment { return now("/proc", pids...) }

// family returns the directories of processes and their children, each with those of its threads.
func family(proc string, pids ...int) map[string][]string {
	all := map[string][]string{}
	for ; len(pids) > 0; pids = pids[1:] {
		dir := filepath.Join(proc, fmt.Sprint(pids[0]))
		all[dir], _ = filepath.Glob(dir + "/task/*")
		for _, task := range all[dir] {
			for child := range strings.FieldsSeq(tree(task).line("children")) {
				pids = append(pids, int(number(child)))
			}
		}
	}
	return all
}

// PeakMemory returns the peak memory of a process and its children, in bytes: the sum of their peaks (VmHWM of Linux),
// or 0 if the system does not report them. Shared pages count if the process has touched them.
func PeakMemory(pid int, children bool) (bytes int64) {
	dirs := map[string][]string{filepath.Join("/proc", fmt.Sprint(pid)): nil}
	if children {
		dirs = family("/proc", pid)
	}
	for dir := range dirs {
		_, rest, _ := strings.Cut(tree(dir).line("status"), "VmHWM:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		bytes += number(kilobytes) * units.KiB
	}
	return bytes
}

func now(proc string, pids ...int) *Moment {
	m := &Moment{at: time.Now(), threads: map[string]thread{}, stolen: map[string]int64{}}
	for dir, tasks := range family(proc, pids...) {
		for _, task := range tasks {
			var t thread
			if n, _ := fmt.Sscan(tree(task).line("schedstat"), &t.ran, &t.waited, &t.switches); n == 3 {
				m.threads[task] = t
			}
		}
		// pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt; a name may have spaces.
		stat := tree(dir).line("stat")
		if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); len(fields) > 9 {
			m.faults += number(fields[7]) + number(fields[9])
		}
	}
	if len(m.threads) == 0 {
		return nil
	}
	text, _ := os.ReadFile(filepath.Join(proc, "stat"))
	for line := range strings.Lines(string(text)) { // cpu0 user nice system idle iowait irq softirq steal
		if f := strings.Fields(line); len(f) > 8 && f[0] != "cpu" && strings.HasPrefix(f[0], "cpu") {
			m.stolen[f[0]] = number(f[8])
		}
	}
	return m
}

// Since returns the interference between two moments of a process, or nil if one of them is not known.
func (m *Moment) Since(before *Moment) *Interference {
	if m == nil || before == nil {
		return nil
	}
	i := &Interference{Period: m.at.Sub(before.at).Seconds(),
		Faults: m.faults - before.faults}
	for processor, stolen := range m.stolen {
		i.Stolen = max(i.Stolen, float64(stolen-before.stolen[processor])/100)
	}
	busiest := int64(0)
	for task, t := range m.threads {
		was := before.threads[task]
		busiest = max(busiest, t.ran-was.ran)
		i.Switches += t.switches - was.switches
		i.Ran += time.Duration(t.ran - was.ran)
	}
	for task, t := range m.threads {
		if was := before.threads[task]; t.ran-was.ran >= busiest/4 {
			i.Waited = max(i.Waited, float64(t.waited-was.waited)/1e9)
		}
	}
	return i
}

// Load is the work of the machine just before a run.
type Load struct {
	Busy       float64 `json:"busy"` // processors used by other work during a short sample
	Processors int     `json:"processors"`
	Average    float64 `json:"average,omitempty"`   // load average of the last minute, earlier runs included
	Throttled  int64   `json:"throttled,omitempty"` // thermal throttling events during the sample
}

const sampleTime = 100 * time.Millisecond

// MeasureLoad samples the machine for a tenth of a second, in which the caller should be idle. It returns nil where the
// system does not report the use of its processors.
func MeasureLoad(ctx context.Context) *Load {
	return measureLoad(ctx, "/proc", "/sys", func() { time.Sleep(sampleTime) })
}

func measureLoad(ctx context.Context, proc, sys string, wait func()) *Load {
	ctx = mounted(ctx, proc, sys, "/etc")
	look := func() (busy, all float64, n int, throttled int64) {
		times, _ := cpu.TimesWithContext(ctx, true)
		for _, t := range times {
			work := t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal
			busy, all = busy+work, all+work+t.Idle+t.Iowait
		}
		for _, name := range tree(sys).files("devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count") {
			throttled += number(tree(sys).line(name))
		}
		return busy, all, len(times), throttled
	}
	busy, all, n, throttled := look()
	wait()
	busyLater, allLater, _, throttledLater := look()
	if n == 0 || allLater <= all {
		return nil
	}
	l := &Load{Processors: n, Throttled: throttledLater - throttled,
		Busy: min(max(0, busyLater-busy)/(allLater-all), 1) * float64(n)}
	if average, err := load.AvgWithContext(ctx); err == nil {
		l.Average = average.Load1
	}
	return l
}

// Warnings returns the reasons why results will be slow or uncertain, one line each with a remedy.
func (m Machine) Warnings() (all []string) {
	if l := m.Load; l != nil {
		// Work on processors that a run does not use does not disturb it.
		if float64(l.Processors)-l.Busy < float64(m.Threads)-0.5 {
			all = append(all, fmt.Sprintf("other work uses %.1f of %d processors: stop it, or use fewer threads", l.Busy,
				l.Processors))
		}
		if l.Throttled > 0 {
			all = append(all, "heat slows processors down: let them cool")
		}
	}
	if slices.ContainsFunc(strings.Split(m.Governor, ", "), savesPower) {
		all = append(all, "the governor saves power: cpupower frequency-set --governor performance")
	}
	return all
}

// savesPower reports whether a governor may keep clocks low under load. A driver that sets clocks itself does so only
// with the preference power or balance_power.
func savesPower(governor string) bool {
	preference, active := strings.CutPrefix(governor, "powersave (")
	if active {
		return strings.HasSuffix(preference, "power)")
	}
	return governor != "" && governor != "performance"
}
