package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Headline says first what is wrong with a record, then names its best run that is a result. Without one it says why.
type Headline struct {
	Faults  []Verdict // of runs without a result, wrong ones first; each names its engine
	Rate    string    // GTEPS; empty without a result
	Of      string    // what the rate is of
	Verdict Verdict   // of the best run
	Rules   string    // "compliant", or how many rules the best run breaks; empty without a result
	Met     bool      // the best run is compliant
	Broken  []record.Check
}

// maxFaults is the number of faults in a headline; the table of runs has all.
const maxFaults = 5

// Name is the id of the record.
func (r Result) Name() string { return Name(r.ID) }

// Best is the place of the fastest run whose numbers are a result; -1 without one.
func (r Result) Best() int {
	best := -1
	for i, run := range r.Runs {
		if run.Unofficial() == "" && (best < 0 || run.Statistics.TEPS.Mean > r.Runs[best].Statistics.TEPS.Mean) {
			best = i
		}
	}
	return best
}

// Headline makes the headline of a record.
func (r Result) Headline() Headline {
	var h Headline
	for _, run := range r.Runs {
		if why := run.Unofficial(); why != "" {
			v := run.Verdict()
			h.Faults = append(h.Faults, Verdict{v.Word, run.named() + why, max(v.Grade, Bad)})
		}
	}
	slices.SortStableFunc(h.Faults, func(a, b Verdict) int { return cmp.Compare(b.Grade, a.Grade) })
	if n := len(h.Faults) - maxFaults; n > 0 {
		h.Faults = h.Faults[:maxFaults]
		h.Faults[maxFaults-1].Why += fmt.Sprintf(" Nor is there a result of %s.", Plural(n, "other run", "other runs"))
	}
	best := r.Best()
	switch {
	case best < 0 && len(h.Faults) == 0:
		h.Verdict = Verdict{"NO RESULT", "The record has no run.", Bad}
		return h
	case best < 0:
		h.Verdict, h.Faults = h.Faults[0], h.Faults[1:]
		return h
	}
	run := r.Runs[best]
	h.Rate, h.Verdict, h.Rules = GTEPS(run.Statistics.TEPS.Mean), run.Verdict(), run.RuleCount()
	h.Met, h.Broken = run.Compliant(), run.BrokenRules()
	h.Of = fmt.Sprintf("harmonic mean over %s, %s %s", Plural(run.Statistics.NBFS, "root", "roots"), run.Label,
		run.atGraph())
	h.Verdict.Why = strings.TrimSpace(h.Verdict.Why + " " + Disturbance(run))
	if len(r.Runs) > 1 {
		h.Verdict.Why = run.named() + h.Verdict.Why
	}
	if cpu := r.Machine.CPU; cpu != "" {
		h.Of += ", host " + Name(cpu)
	}
	return h
}

// named begins a sentence about a run.
func (r Run) named() string { return fmt.Sprintf("%s %s: ", r.Label, r.atGraph()) }

// Device names what a run searched on: the host's processor, or the engine's first device if it is something else or
// the only one with a name.
func (r Result) Device(run Run) string {
	d := run.Description
	if d == nil || len(d.Devices) == 0 || d.Devices[0].Kind == "cpu" && r.Machine.CPU != "" {
		return Name(r.Machine.CPU)
	}
	if n := len(d.Devices); n > 1 {
		return fmt.Sprintf("%d × %s", n, Name(d.Devices[0].Name))
	}
	return Name(d.Devices[0].Name)
}

// RunTable sums up every run in a line. Rates are GTEPS: the harmonic mean over the roots, and the slowest and fastest
// root. A wide table has two columns more than fit a terminal.
func (r Result) RunTable(wide bool) Table {
	t := NewRunTable(r.Runs, Run.On,
		"#valid|#GTEPS|#"+Range+"|#median ms|#kernel 1 s|state|#MTEPS/W|rules|#graph held", "")
	for _, run := range r.Runs {
		v, kernel1, held, median, rate, spread := run.Verdict(), Missing, Missing, Missing, Missing, Missing
		if c := run.Construction; c != nil {
			kernel1, held = units.Significant(c.Elapsed.Seconds(), 4), units.Bytes(c.Bytes)
		}
		if s := run.Rates(); s != nil {
			median, rate = units.Significant(s.Time.Median*1e3, 4), GTEPS(s.TEPS.Mean)
			spread = units.Significant(s.TEPS.Min/1e9, 3) + " … " + units.Significant(s.TEPS.Max/1e9, 3)
		}
		t.Add(Sentence(run.Engine.Name), Sentence(run.Cell()), fmt.Sprintf("%d/%d", run.ValidRoots(), len(run.Roots)),
			rate, spread, median, kernel1, v.Word, run.PerWatt(), run.RuleCount(), held)
		t.Style(7, v.Class())
		t.Style(9, map[bool]string{true: "good", false: "fair"}[run.Compliant()])
		t.Compare(run.key, 3, 5, 6, 8)
	}
	if !wide {
		t.Drop(10)
		t.Drop(9)
	}
	t.DropEmpty()
	return t
}

// RecordTable lists the records with their marks.
func (r Report) RecordTable() Table {
	t := NewTable("|record|started|host|processor|teps", "")
	for _, result := range r.Results {
		t.Add(result.Mark, Name(result.ID), dated(result.Started, time.RFC3339), Name(result.Machine.Hostname),
			Name(result.Machine.CPU), Joined(", ", Name(result.Software.Version), Clean(result.Software.Commit, 16)))
	}
	return t
}

// ReferenceTable lists the rows of publications. It never has a measured row.
func (r Report) ReferenceTable() Table {
	t := NewTable("published in|system|graph|#GTEPS|#MTEPS/W|of|read from", "")
	t.Name = "Published elsewhere, not measured here"
	for _, r := range r.References {
		for _, line := range r.Rows {
			watts := Missing
			if line.MTEPSPerWatt > 0 {
				if watts = exactly(line.MTEPSPerWatt); line.Estimate != "" {
					watts += " (estimate)"
				}
			}
			t.Add(r.Short, line.System, line.input(), line.rates(), watts, Joined("; ", line.Of, line.Estimate), line.Where)
			t.Style(5, "why")
			t.Style(6, "why")
		}
	}
	return t
}
