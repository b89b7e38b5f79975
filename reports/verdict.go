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
	Good Grade = iota // every search of the plan was done and is valid
	Fair              // done, and nothing was found wrong, but not every search was validated
	Bad               // the numbers are not a result
)

// Verdict says whether the numbers of a run are a result, in a word or two, and in a sentence.
type Verdict struct {
	Word  string
	Why   string
	Grade Grade
}

// Words of verdicts. VALID is the only one of Good.
const (
	invalid       = "INVALID"
	failed        = "FAILED"
	interrupted   = "INTERRUPTED"
	unknownState  = "UNKNOWN"
	noRoots       = "NO ROOTS"
	unchecked     = "UNCHECKED"
	partlyChecked = "PARTLY CHECKED"
	valid         = "VALID"
)

// WorstWord returns the worst of the words of verdicts.
func WorstWord(words ...string) string {
	for _, word := range []string{invalid, failed, interrupted, unknownState, noRoots, unchecked, partlyChecked} {
		if slices.Contains(words, word) {
			return word
		}
	}
	return valid
}

// Class names the grade for style sheets.
func (v Verdict) Class() string { return [...]string{"good", "fair", "bad"}[v.Grade] }

// Verdict judges a run by its searches and by the record's own summary; the worse of the two counts.
func (r Run) Verdict() Verdict {
	n, validated := len(r.Roots), 0
	var broken []record.RootRecord
	for _, root := range r.Roots {
		if root.Validated {
			validated++
		}
		if root.Broken() {
			broken = append(broken, root)
		}
	}
	switch {
	case len(broken) > 0:
		first := broken[0]
		return Verdict{invalid, fmt.Sprintf("%d of %s validation; the first is search %d from vertex %d, rule %d: %s",
			len(broken), Plural(n, "search fails", "searches fail"), first.Index, first.Root, first.Rule,
			Sentence(first.Violation)), Bad}
	case r.State == record.Failed:
		return Verdict{failed, "the engine failed: " + Sentence(r.Failure), Bad}
	case r.State == record.Interrupted:
		return Verdict{interrupted, fmt.Sprintf("the run was interrupted after %s; it can be resumed.",
			Plural(n, "search", "searches")), Bad}
	case r.State != record.Complete:
		return Verdict{unknownState, fmt.Sprintf("the record does not say that the run is complete (state %q).", r.State),
			Bad}
	case n == 0:
		return Verdict{noRoots, "no root was searched.", Bad}
	case validated == n && !r.Valid:
		return Verdict{invalid, "the record marks the run as invalid.", Bad}
	case validated == 0:
		return Verdict{unchecked, fmt.Sprintf("None of %s was validated.", Plural(n, "search", "searches")), Fair}
	case validated < n:
		return Verdict{partlyChecked, fmt.Sprintf("%d of %s validated, all of them valid.", validated,
			Plural(n, "search was", "searches were")), Fair}
	}
	return Verdict{valid, "Every search was validated against the input tuples and is valid.", Good}
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
	if v := r.Verdict(); v.Grade == Bad {
		return v.Why
	}
	s := r.Statistics
	switch {
	case s == nil || s.NBFS == 0:
		return "no search has a count of tuples, so there are no TEPS (validate at least one root)."
	case r.Graph == nil:
		return "the record does not say which graph was searched."
	case r.Construction == nil:
		return "the record has no kernel 1."
	}
	if !Finite(s.TEPS.Mean, s.TEPS.Min, s.TEPS.Max, s.Time.Min, s.Time.Max) {
		return "the statistics contain a value that is not a finite number."
	}
	if s.Time.Min <= 0 || s.TEPS.Min <= 0 {
		return "the record has a search without a time or without tuples."
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
	if s == nil || r.Verdict().Word == invalid {
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
