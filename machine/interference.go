package machine

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Interference is what kept a process from computing for some time. What the system does not report is zero.
type Interference struct {
	Period float64 `json:"period,omitempty"` // that it was measured for, seconds
	// Waited is the longest run queue wait of a thread that ran at least a quarter as long as the busiest one, in seconds.
	Waited float64 `json:"waited,omitempty"`
	// Stolen is the time of the machine's processors that its hypervisor gave to others, seconds.
	Stolen   float64 `json:"stolen,omitempty"`
	Switches int64   `json:"switches,omitempty"` // how often its threads were given a processor
	Faults   int64   `json:"faults,omitempty"`   // page faults
}

// Moment is a moment in the life of a process and its children, from which Interference can be measured.
type Moment struct {
	at      time.Time
	threads map[string]thread // by the directory of the thread
	faults  int64
	stolen  int64 // in hundredths of a second
}

type thread struct{ ran, waited, switches int64 } // nanoseconds

// Now returns the present moment of a process and its children; nil where the system has no /proc/PID/schedstat.
func Now(pid int) *Moment { return now("/proc", pid) }

func now(proc string, pid int) *Moment {
	m := &Moment{at: time.Now(), threads: map[string]thread{}}
	for pids := []int{pid}; len(pids) > 0; pids = pids[1:] {
		dir := filepath.Join(proc, fmt.Sprint(pids[0]))
		tasks, _ := filepath.Glob(dir + "/task/*")
		for _, task := range tasks {
			var t thread
			if n, _ := fmt.Sscan(tree(task).line("schedstat"), &t.ran, &t.waited, &t.switches); n == 3 {
				m.threads[task] = t
			}
			for child := range strings.FieldsSeq(tree(task).line("children")) {
				pids = append(pids, int(number(child)))
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
	line, _, _ := strings.Cut(tree(proc).line("stat"), "\n")
	if fields := strings.Fields(line); len(fields) > 8 { // cpu user nice system idle iowait irq softirq steal
		m.stolen = number(fields[8])
	}
	return m
}

// Since returns the interference between two moments of a process; nil if one of them is not known.
func (m *Moment) Since(before *Moment) *Interference {
	if m == nil || before == nil {
		return nil
	}
	i := &Interference{Period: m.at.Sub(before.at).Seconds(),
		Stolen: float64(m.stolen-before.stolen) / 100, Faults: m.faults - before.faults}
	busiest := int64(0)
	for task, t := range m.threads {
		was := before.threads[task]
		busiest = max(busiest, t.ran-was.ran)
		i.Switches += t.switches - was.switches
	}
	for task, t := range m.threads {
		if was := before.threads[task]; t.ran-was.ran >= busiest/4 {
			i.Waited = max(i.Waited, float64(t.waited-was.waited)/1e9)
		}
	}
	return i
}
