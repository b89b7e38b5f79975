package reports

import (
	"cmp"
	"fmt"
	"slices"

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

// Verdict judges a run by its searches and by the record's own summary; the worse of the two counts.
func (r Run) Verdict() Verdict {
	n, validated, searches := len(r.Roots), 0, Plural(len(r.Roots), "search", "searches")
	for _, root := range r.Roots {
		if root.Broken() {
			return Verdict{"INVALID", fmt.Sprintf("%d of %s failed validation; the first is search %d from vertex %s, rule "+
				"%d: %s", r.BrokenRoots(), searches, root.Index, rootLabel(root), root.Rule, Sentence(root.Violation)), Wrong}
		}
		if root.Validated {
			validated++
		}
	}
	switch {
	case r.State == record.Failed:
		return Verdict{"FAILED", "the engine failed: " + Sentence(r.Failure), Bad}
	case r.State == record.Interrupted:
		return Verdict{"INTERRUPTED", fmt.Sprintf("the run was interrupted after %s; it can be resumed.", searches), Bad}
	case r.State != record.Complete:
		return Verdict{"UNKNOWN", fmt.Sprintf("the record does not say that the run is complete (state %q).", r.State), Bad}
	case n == 0:
		return Verdict{"NO ROOTS", "no root was searched.", Bad}
	case validated == n && !r.Valid:
		return Verdict{"INVALID", "the record marks the run as invalid.", Wrong}
	case validated == 0:
		return Verdict{"UNCHECKED", fmt.Sprintf("None of %s was validated.", searches), Fair}
	case validated < n:
		return Verdict{"PARTLY CHECKED", fmt.Sprintf("%d of %s validated, all of them valid.", validated,
			Plural(n, "search was", "searches were")), Fair}
	}
	return Verdict{"VALID", "Every search was validated against the input tuples and is valid.", Good}
}

// Disturbance names the runs in which other work on the machine delayed more than a twentieth of the searches by more
// than a tenth of their time. It is empty if there are none.
func Disturbance(runs ...Run) string {
	var worst string
	var disturbed, delayed, searches, largest int
	for _, run := range runs {
		n := 0
		for _, root := range run.Roots {
			if root.Delay() > root.Time/10 {
				n++
			}
		}
		delayed, searches = delayed+n, searches+len(run.Roots)
		if 20*n <= len(run.Roots) {
			continue
		}
		disturbed++
		if n > largest {
			largest = n
			worst = fmt.Sprintf("%d of %s of %s %s", n, Plural(len(run.Roots), "search", "searches"), run.Label, run.atGraph())
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
func (r Run) Compliant() bool {
	return r.Compliance.Compliant && len(r.BrokenRules()) == 0 && r.Verdict().Grade == Good
}

// BrokenRules are the compliance rules that the run breaks.
func (r Run) BrokenRules() []record.Check {
	return slices.DeleteFunc(r.Rules(), func(rule record.Check) bool { return rule.Holds })
}

// Rules are the compliance rules with their texts cleaned.
func (r Run) Rules() []record.Check {
	out := slices.Clone(r.Compliance.Rules)
	for i, rule := range out {
		out[i].Rule, out[i].Detail = Sentence(rule.Rule), Sentence(rule.Detail)
	}
	return out
}

// RuleCount is "compliant", or says how many rules the run breaks.
func (r Run) RuleCount() string {
	n := len(r.BrokenRules())
	switch {
	case r.Compliant():
		return "compliant"
	case len(r.Compliance.Rules) == 0:
		return "rules not checked"
	case n == 0:
		return "not established"
	}
	return fmt.Sprintf("breaks %d of %s", n, Plural(len(r.Compliance.Rules), "rule", "rules"))
}

// ValidRoots counts the searches that were validated and are valid.
func (r Run) ValidRoots() int {
	return len(slices.DeleteFunc(slices.Clone(r.Roots), func(root record.RootRecord) bool {
		return !root.Validated || root.Broken()
	}))
}

// Unofficial says why a run has no official numbers; empty: it has them.
func (r Run) Unofficial() string {
	v, s := r.Verdict(), r.Statistics
	switch {
	case v.Grade >= Bad:
		return v.Why
	case s == nil || s.NBFS == 0:
		return "no search has a count of tuples, so there are no TEPS (validate at least one root)."
	case r.Graph == nil:
		return "the record does not say which graph was searched."
	case r.Construction == nil:
		return "the record has no kernel 1."
	case r.Rates() == nil || !(s.Time.Min > 0) || !Finite(s.Time.Max):
		return "the statistics contain a time or a rate that is impossible."
	}
	return ""
}

// Rates beyond these come from a damaged record: one tuple a second, and 10^12 GTEPS. Axes end well within a float64.
const (
	minTEPS = 1
	maxTEPS = 1e21
)

// Rates returns the statistics of a run whose rates may be shown: they exist, are plausible, and no search was wrong.
// Otherwise it returns nil.
func (r Run) Rates() *record.Statistics {
	s := r.Statistics
	if s == nil || r.Verdict().Grade == Wrong {
		return nil
	}
	x := s.TEPS
	for _, teps := range []float64{x.Min, x.FirstQuartile, x.Median, x.ThirdQuartile, x.Max, x.Mean} {
		if !(teps >= minTEPS && teps <= maxTEPS) {
			return nil
		}
	}
	return s
}

// Rate is the TEPS of one search, with the reference's count of tuples.
func Rate(root record.RootRecord) (teps float64, known bool) {
	if root.NEdge == nil || *root.NEdge <= 0 || !Finite(root.Time) || root.Time <= 0 {
		return 0, false
	}
	teps = float64(*root.NEdge) / root.Time
	return teps, teps >= minTEPS && teps <= maxTEPS
}

// medianRoot returns the search with the median time among those that recorded levels.
func (r Run) medianRoot() (record.RootRecord, bool) {
	candidates := slices.DeleteFunc(slices.Clone(r.Roots), func(root record.RootRecord) bool {
		return len(root.Levels) == 0 || root.Broken()
	})
	if len(candidates) == 0 {
		return record.RootRecord{}, false
	}
	slices.SortStableFunc(candidates, func(a, b record.RootRecord) int { return cmp.Compare(a.Time, b.Time) })
	return candidates[(len(candidates)-1)/2], true
}

// deviation is the harmonic deviation of the rates in GTEPS.
func (r Run) deviation() string {
	if s := r.Rates(); s != nil && s.TEPS.StdDev != nil {
		return units.Significant(*s.TEPS.StdDev/1e9, 2)
	}
	return Missing
}
