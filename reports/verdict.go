// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// Grade sorts verdicts by how far the numbers of a run can be trusted.
type Grade int

const (
	Good  Grade = iota // every search of the plan was done and is valid
	Fair               // done, and nothing was found wrong, but not every search was validated
	Bad                // the numbers are not a result
	Wrong              // a search is wrong
)

// Verdict says whether the numbers of a run are a result, in a word or two, and in a sentence.
type Verdict struct {
	Word  string
	Why   string
	Grade Grade
}

// Class names the grade for style sheets.
func (v Verdict) Class() string { return [...]string{"good", "fair", "bad", "bad"}[v.Grade] }

// Verdict judges a run by its state and its searches.
func (s Summary) Verdict() Verdict {
	n, validated, searches := len(s.Roots), s.ValidRoots(), Plural(len(s.Roots), "search", "searches")
	switch first := slices.IndexFunc(s.Roots, record.RootRecord.Broken); {
	case first >= 0:
		root := s.Roots[first]
		return Verdict{"INVALID", fmt.Sprintf("%d of %s failed validation; the first is search %d from vertex %s, rule "+
			"%d: %s", s.BrokenRoots(), searches, root.Index, RootLabel(root), root.Rule, Sentence(root.Violation)), Wrong}
	case s.State == record.Failed:
		return Verdict{"FAILED", "the engine failed: " + Sentence(s.Failure), Bad}
	case s.State != record.Complete:
		return Verdict{"INTERRUPTED", fmt.Sprintf("the run was interrupted after %s; it can be resumed.", searches), Bad}
	case n == 0:
		return Verdict{"NO ROOTS", "no root was searched: every tuple of the graph is a self-loop, or it has none.", Bad}
	case validated == 0:
		return Verdict{"UNCHECKED", fmt.Sprintf("None of %s was validated.", searches), Fair}
	case validated < n:
		return Verdict{"PARTLY CHECKED", fmt.Sprintf("%d of %s validated, all of them valid.", validated,
			Plural(n, "search was", "searches were")), Fair}
	}
	return Verdict{"VALID", "Every search was validated against the input tuples and is valid.", Good}
}

// Delayed counts the searches that waited for a processor for more than a tenth of their time. many reports whether
// they are more than a twentieth.
func (s Summary) Delayed() (n int, many bool) {
	n = s.Count(func(root record.RootRecord) bool { return root.Delay() > root.Time/10 })
	return n, 20*n > len(s.Roots)
}

// LevelFaults counts the searches whose levels reports leave out, with the reason for the first one. It is empty if
// there are none.
func LevelFaults(s Summary) string {
	n, first := 0, ""
	for _, root := range s.Roots {
		if fault := s.LevelFault(root); fault != "" {
			if n++; n == 1 {
				first = fmt.Sprintf("search %d: %s", root.Index, fault)
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("those of %d of %s; %s", n, Plural(len(s.Roots), "search", "searches"), first)
}

// Disturbance names the runs in which more than a twentieth of the searches were delayed by more than a tenth of their
// time. It is empty if there are none.
func Disturbance(runs ...Summary) string {
	var worst string
	var disturbed, delayed, searches, largest int
	for _, run := range runs {
		n, many := run.Delayed()
		delayed, searches = delayed+n, searches+len(run.Roots)
		if !many {
			continue
		}
		disturbed++
		if n > largest {
			largest = n
			worst = fmt.Sprintf("%d of %s of %s %s", n, Plural(len(run.Roots), "search", "searches"), run.Label,
				run.AtGraph())
		}
	}
	switch {
	case disturbed == 0:
		return ""
	case disturbed > 1:
		worst = fmt.Sprintf("%d of %d searches, among them %s,", delayed, searches, worst)
	}
	verb, its := "were", "their"
	if disturbed == 1 && largest == 1 {
		verb, its = "was", "its"
	}
	return fmt.Sprintf("%s %s delayed by more than a tenth of %s time, because a thread of the engine had no processor. "+
		"Measure on a quiet machine, or with fewer threads.", worst, verb, its)
}

// Compliant reports whether the record calls the run compliant and nothing else in it says otherwise.
func (s Summary) Compliant() bool {
	return s.Compliance.Compliant && len(s.BrokenRules()) == 0 && s.Verdict().Grade == Good
}

// BrokenRules are the compliance rules that the run breaks.
func (s Summary) BrokenRules() []record.Check {
	return slices.DeleteFunc(s.Rules(), func(rule record.Check) bool { return rule.Holds })
}

// Rules are the compliance rules with their texts cleaned.
func (s Summary) Rules() []record.Check {
	out := slices.Clone(s.Compliance.Rules)
	for i, rule := range out {
		out[i].Rule, out[i].Detail = Sentence(rule.Rule), Sentence(rule.Detail)
	}
	return out
}

// RuleCount is "compliant", or says how many rules the run breaks.
func (s Summary) RuleCount() string {
	n := len(s.BrokenRules())
	switch {
	case s.Compliant():
		return "compliant"
	case len(s.Compliance.Rules) == 0:
		return "rules not checked"
	case n == 0:
		return "not established"
	}
	return fmt.Sprintf("breaks %d of %s", n, Plural(len(s.Compliance.Rules), "rule", "rules"))
}

// ValidRoots counts the searches that were validated and are valid.
func (s Summary) ValidRoots() int {
	return s.Count(func(root record.RootRecord) bool { return root.Validated && !root.Broken() })
}

// Unofficial says why a run has no official numbers, or is empty if it has them.
func (s Summary) Unofficial() string {
	switch v := s.Verdict(); {
	case v.Grade >= Bad:
		return v.Why
	case s.Statistics == nil:
		return "no search has a count of tuples, so there are no TEPS (validate at least one root)."
	}
	return ""
}

// RootLabel is the label of a root in the file of its graph.
func RootLabel(root record.RootRecord) string {
	if root.Label != nil {
		return strconv.FormatUint(*root.Label, 10)
	}
	return strconv.FormatInt(int64(root.Root), 10)
}

// Headline says what is wrong with a record, and then names its best run that is a result, or says why there is none.
type Headline struct {
	Faults  []Verdict // of runs without a result, wrong ones first; each names its engine
	Rate    string    // GTEPS; empty without a result
	Of      string    // what the rate is of
	Verdict Verdict   // of the best run
	Rules   string    // "compliant", or how many rules the best run breaks; empty without a result
	Met     bool      // the best run is compliant
	Broken  []record.Check
	Best    int // index of the fastest run whose numbers are a result, or -1
}

const maxFaults = 5

// Headline makes the headline of a record.
func (r Result) Headline() Headline {
	h := Headline{Best: -1}
	for i, run := range r.Runs {
		if why := run.Unofficial(); why != "" {
			v := run.Verdict()
			h.Faults = append(h.Faults, Verdict{v.Word, run.named() + why, max(v.Grade, Bad)})
		} else if h.Best < 0 || run.Statistics.TEPS.Mean > r.Runs[h.Best].Statistics.TEPS.Mean {
			h.Best = i
		}
	}
	slices.SortStableFunc(h.Faults, func(a, b Verdict) int { return cmp.Compare(b.Grade, a.Grade) })
	if n := len(h.Faults) - maxFaults; n > 0 {
		h.Faults = h.Faults[:maxFaults]
		h.Faults[maxFaults-1].Why += fmt.Sprintf(" Nor is there a result of %s.", Plural(n, "other run", "other runs"))
	}
	if h.Best < 0 {
		h.Verdict, h.Faults = h.Faults[0], h.Faults[1:]
		return h
	}
	run := r.Runs[h.Best]
	h.Rate, h.Verdict, h.Rules = GTEPS(run.Statistics.TEPS.Mean), run.Verdict(), run.RuleCount()
	h.Met, h.Broken = run.Compliant(), run.BrokenRules()
	h.Of = fmt.Sprintf("harmonic mean over %s, %s %s", Plural(run.Statistics.NBFS, "root", "roots"), run.Label,
		run.AtGraph())
	h.Verdict.Why = strings.TrimSpace(h.Verdict.Why + " " + Disturbance(run))
	if len(r.Runs) > 1 {
		h.Verdict.Why = run.named() + h.Verdict.Why
	}
	if host := Joined(", ", Name(r.Machine.Hostname), Name(r.Machine.CPU)); host != Missing {
		h.Of += ", host " + host
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
	t.MarkBest(all, 4)
	return t
}
