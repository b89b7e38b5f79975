// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

const maxFaults = 5

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
		run.AtGraph())
	h.Verdict.Why = strings.TrimSpace(h.Verdict.Why + " " + Disturbance(run))
	if len(r.Runs) > 1 {
		h.Verdict.Why = run.named() + h.Verdict.Why
	}
	if cpu := r.Machine.CPU; cpu != "" {
		h.Of += ", host " + Name(cpu)
	}
	return h
}

// RunTable has a line for each run. A wide table has two columns more than fit a terminal.
func (r Result) RunTable(wide bool) Table {
	t := summaryTable(r.Runs, false)
	t.Remove("runs", "memory", "what differs")
	if !wide {
		t.Remove("rules", "graph held")
	}
	t.DropEmpty()
	return t
}

// VariantTable has a line for each variant, with the range of the rates of its runs.
func VariantTable(all []Summary) Table {
	t := summaryTable(all, true)
	t.Remove("valid", "rules", "graph held")
	t.Note = "Numbers are medians over the runs, here and in the figures; the rate of a run is the harmonic mean over " +
		"its roots."
	t.DropEmpty()
	return t
}

// summaryTable is the first table of a report. Its range is that of the roots, or of the runs of variants.
func summaryTable(all []Summary, variants bool) Table {
	t := NewRunTable(all, "engine|graph|#runs|#valid|#GTEPS|#"+Range+"|#median ms|#kernel 1 s|state|#memory|#MTEPS/W|"+
		"rules|#graph held|what differs", "")
	for _, s := range all {
		kernel1, held, middle, rate, low, high := Missing, Missing, Missing, Missing, 0.0, 0.0
		if c := s.Construction; c != nil {
			kernel1, held = units.Significant(c.Elapsed.Seconds(), 4), units.Bytes(c.Bytes)
		}
		if x := s.Rates(); x != nil {
			middle, rate = units.Significant(x.Time.Median*1e3, 4), GTEPS(x.TEPS.Mean)
			low, high = x.TEPS.Min, x.TEPS.Max
		}
		if n := len(s.Rated); variants && n > 1 {
			low, high = s.Rated[0].Statistics.TEPS.Mean, s.Rated[n-1].Statistics.TEPS.Mean
		} else if variants {
			low, high = 0, 0
		}
		spread := Missing
		if high > 0 {
			spread = units.Significant(low/1e9, 3) + " … " + units.Significant(high/1e9, 3)
		}
		engine, graph := Sentence(s.Engine.Name), Sentence(s.Cell())
		if variants {
			engine, graph = s.Label, s.GraphCell()
		}
		t.Add(engine, graph, fmt.Sprintf("%d/%d", len(s.Rated), s.Planned),
			fmt.Sprintf("%d/%d", s.ValidRoots(), len(s.Roots)), rate, spread, middle, kernel1, s.Worst.Word,
			units.Bytes(s.Memory), s.PerWatt(), s.RuleCount(), held, s.Differs)
		t.Style(8, s.Worst.Class())
		t.Style(11, map[bool]string{true: "good", false: "fair"}[s.Compliant()])
		t.Style(13, "why")
		t.Compare(s.Key, 4, 6, 7, 10)
	}
	t.Head[8].Class = "whole"
	return t
}
