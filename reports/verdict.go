package reports

import (
	"fmt"
	"slices"

	"github.com/tepsbench/teps/harness"
)

// grade sorts verdicts by what a reader may do with the numbers.
type grade int

const (
	good grade = iota // every search of the plan was done and found right
	fair              // done, and nothing found wrong, but not every search was checked
	bad               // no number of it may be called a result
)

// verdict is what a run is worth: one word or two, and the sentence that says why.
type verdict struct {
	Word  string
	Why   string
	Grade grade
}

// Class names the grade for style sheets.
func (v verdict) Class() string { return [...]string{"good", "fair", "bad"}[v.Grade] }

// judge looks at the searches themselves as well as at the record's own summary: whichever is worse counts.
func judge(run harness.Run) verdict {
	validated, broken := 0, 0
	first := -1
	for i, root := range run.Roots {
		if root.Validated {
			validated++
		}
		if root.Violation != "" || root.Rule != 0 {
			if broken == 0 {
				first = i
			}
			broken++
		}
	}
	n := len(run.Roots)
	switch {
	case broken > 0:
		root := run.Roots[first]
		return verdict{"INVALID", fmt.Sprintf("%d of %s validation; the first is search %d from vertex %d, rule %d: %s",
			broken, plural(n, "search fails", "searches fail"), root.Index, root.Root, root.Rule, clean(root.Violation, sentenceRunes)), bad}
	case run.State == harness.Failed:
		return verdict{"FAILED", "the engine failed: " + clean(run.Failure, sentenceRunes), bad}
	case run.State == harness.Interrupted:
		return verdict{"INTERRUPTED", fmt.Sprintf("the run was interrupted after %s; it can be resumed.", plural(n, "search", "searches")), bad}
	case run.State != harness.Complete:
		return verdict{"UNKNOWN", fmt.Sprintf("the record does not say that the run is complete (state %q).", run.State), bad}
	case n == 0:
		return verdict{"NO ROOTS", "no root was searched.", bad}
	case validated == n && !run.Valid:
		return verdict{"INVALID", "the record marks the run as invalid.", bad}
	case validated == 0:
		return verdict{"UNCHECKED", fmt.Sprintf("None of %s was validated.", plural(n, "search", "searches")), fair}
	case validated < n:
		return verdict{"PARTLY CHECKED", fmt.Sprintf("%d of %s validated, all of them valid.", validated, plural(n, "search was", "searches were")), fair}
	}
	return verdict{"VALID", "Every search was validated against the input tuples, and every one is valid.", good}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// compliant says whether the word may be used of a run: the record says so, and nothing else in it says otherwise.
func compliant(run harness.Run) bool {
	return run.Compliance.Compliant && len(brokenRules(run.Compliance)) == 0 && judge(run).Grade == good
}

// brokenRules are the compliance rules that do not hold.
func brokenRules(c harness.Compliance) []harness.Check {
	return slices.DeleteFunc(slices.Clone(c.Rules), func(rule harness.Check) bool { return rule.Holds })
}

// validatedRoots counts the searches that were validated and found right.
func validatedRoots(run harness.Run) int {
	n := 0
	for _, root := range run.Roots {
		if root.Validated && root.Violation == "" && root.Rule == 0 {
			n++
		}
	}
	return n
}

// Rates beyond these are those of a damaged record: one tuple a second, and a million million GTEPS. Axes end well within
// what a float64 can hold.
const (
	slowestTEPS = 1
	fastestTEPS = 1e21
)

// drawable returns the statistics of a run whose rates may be drawn or tabulated: they exist, could be rates of a
// search, and no search was found wrong. A rate of wrong answers is no rate.
func drawable(run harness.Run) *harness.Statistics {
	s := run.Statistics
	if s == nil || judge(run).Word == "INVALID" {
		return nil
	}
	for _, x := range []float64{s.TEPS.Min, s.TEPS.FirstQuartile, s.TEPS.Median, s.TEPS.ThirdQuartile, s.TEPS.Max, s.TEPS.Mean} {
		if !(x >= slowestTEPS && x <= fastestTEPS) {
			return nil
		}
	}
	return s
}

// rate is the TEPS of one search, with the reference's count of tuples.
func rate(root harness.RootRecord) (teps float64, known bool) {
	if root.NEdge == nil || *root.NEdge <= 0 || !finite(root.Time) || root.Time <= 0 {
		return 0, false
	}
	teps = float64(*root.NEdge) / root.Time
	return teps, teps >= slowestTEPS && teps <= fastestTEPS
}

// medianRoot returns the search with the median rate among those that recorded levels: the one to show when one must
// stand for all. Searches without a count of tuples are ranked by time when no search has one.
func medianRoot(run harness.Run) (harness.RootRecord, bool) {
	type ranked struct {
		root harness.RootRecord
		cost float64 // seconds a tuple, or seconds
	}
	var byRate, byTime []ranked
	for _, root := range run.Roots {
		if len(root.Levels) == 0 || root.Violation != "" || root.Rule != 0 {
			continue
		}
		byTime = append(byTime, ranked{root, root.Time})
		if teps, known := rate(root); known {
			byRate = append(byRate, ranked{root, 1 / teps})
		}
	}
	candidates := byRate
	if len(candidates) == 0 {
		candidates = byTime
	}
	if len(candidates) == 0 {
		return harness.RootRecord{}, false
	}
	slices.SortStableFunc(candidates, func(a, b ranked) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return 0
	})
	return candidates[(len(candidates)-1)/2].root, true
}
