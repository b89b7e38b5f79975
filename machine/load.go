package machine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/load"
)

// Load is what the machine was doing just before a run.
type Load struct {
	Busy       float64 `json:"busy"` // processors that other work used during a short sample
	Processors int     `json:"processors"`
	Average    float64 `json:"average,omitempty"`   // load average of the last minute, earlier runs included
	Throttled  int64   `json:"throttled,omitempty"` // how often heat slowed down a processor during the sample
}

const sampleTime = 100 * time.Millisecond

// MeasureLoad watches the machine for a tenth of a second, in which the caller should do nothing. It is nil where the
// system does not say how busy its processors are.
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

// Warnings say what will make results slow or uncertain, and what to do about it, a line each.
func (m Machine) Warnings() (all []string) {
	if l := m.Load; l != nil {
		// Work on processors that a run does not use costs nothing.
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

// savesPower reports whether a governor may keep clocks low under load. A driver that chooses them itself does so only
// if it prefers power or balance_power.
func savesPower(governor string) bool {
	preference, active := strings.CutPrefix(governor, "powersave (")
	if active {
		return strings.HasSuffix(preference, "power)")
	}
	return governor != "" && governor != "performance"
}
