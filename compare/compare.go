// SPDX-License-Identifier: Apache-2.0

// Package compare reports whether two sets of runs differ in speed, by how much, and with what confidence.
//
// It compares an engine on a graph over the roots that both sides have searched. The rates of roots differ several
// fold, but that cancels in the ratio of two rates of the same root, so the test and its interval are paired by root,
// or by run if there are enough runs. docs/comparing.md describes the method and what it can detect.
package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

const (
	// Confidence is that of every interval. A verdict other than Same needs a p below 1-Confidence.
	Confidence = 0.95
	// MinPairs is the smallest number of pairs for which the test can find a difference at this confidence.
	MinPairs = 6
	// Undetectable is a slow-down that does not occur: a comparison that cannot detect a smaller one is undecided.
	Undetectable = 0.95
)

// Side is one side of a comparison: the results of one measurement, which are repeats if there are several.
type Side struct {
	Name    string
	From    string // where its records are; empty for an engine of a record
	Results []record.Result
}

// Comparison is a comparison of the runs of B with those of A.
type Comparison struct {
	A, B        string // names of the sides
	Sides       [2]Side
	Differences []Difference // of machines, builds, plans and environments
	Cells       []Cell
}

// Difference is something other than speed in which the two sides differ.
type Difference struct {
	What string
	A, B []string // the distinct values of each side
}

// Verdict is the answer for one engine on one graph.
type Verdict string

const (
	Same      Verdict = "no difference"
	Slower    Verdict = "slower" // B is slower than A
	Faster    Verdict = "faster" // B is faster than A
	Undecided Verdict = "cannot tell"
)

// Differs reports whether B is slower or faster.
func (v Verdict) Differs() bool { return v == Slower || v == Faster }

// Unit is the kind of values that are paired.
type Unit string

const (
	ByRoot Unit = "root" // a root, with its mean log rate over the runs of a side
	ByRun  Unit = "run"  // a run of A and one of B, in their order, with their mean log rates over the roots
)

// Cell compares one engine on one graph.
type Cell struct {
	Engine       string
	EngineB      string // its label in B if that differs
	Graph        record.GraphID
	Verdict      Verdict
	Reason       string // of Undecided
	RunsA, RunsB int
	Common       int // roots with a rate in every run of A and B; all other figures are of these
	Unit         Unit
	TEPSA, TEPSB float64 // harmonic means, in tuples a second; zero if nothing was compared
	// Typical is the rate of B over that of A for a typical root or run (Hodges and Lehmann's estimate); nil if nothing
	// was compared.
	Typical *Ratio
	// P is the probability of a ratio at least as far from 1 if nothing differs (Wilcoxon's signed-rank test).
	P float64
	// Detectable is the slow-down, as a share of the rate, that would be found 19 times out of 20. If it is at least
	// Undetectable, no slow-down would be found.
	Detectable float64
	// Scatter is the largest ratio minus 1 of a typical root between two runs of the same side; nil unless a side has
	// several runs and the unit is the root.
	Scatter     *float64
	Differences []Difference // of the engine, its options and the state of the runs
}

// Ratio is an estimate with an interval of Confidence.
type Ratio struct{ Estimate, Low, High float64 }

// Speed says how fast B is: 27.5 times slower for a ratio of 0.0363, 5.4 % faster for one of 1.054.
func (r Ratio) Speed() string {
	word, times := string(Faster), r.Estimate
	if times < 1 {
		word, times = string(Slower), 1/times
	}
	if times >= 2 {
		return units.Significant(times, 3) + " times " + word
	}
	return units.Percent(math.Abs(r.Estimate-1), 2) + " " + word
}

// Texts returns the estimate and the bounds with three decimals or three digits.
func (r Ratio) Texts() (estimate, low, high string) {
	text := func(x float64) string {
		if x >= 0.1 && x < 10 {
			return strconv.FormatFloat(x, 'f', 3, 64)
		}
		return units.Significant(x, 3)
	}
	return text(r.Estimate), text(r.Low), text(r.High)
}

// Text is the ratio with its interval, or its smallest and largest value: ratio 0.130, 0.101 to 0.156.
func (r Ratio) Text(to string) string {
	estimate, low, high := r.Texts()
	return fmt.Sprintf("ratio %s, %s %s %s", estimate, low, to, high)
}

// Compared reports whether the sides had enough in common to compare their rates.
func (c Cell) Compared() bool { return c.Typical != nil }

// SlowerThan reports whether B is slower than A by more than a share (such as 0.05) with the given confidence:
// whether the whole interval of the typical ratio lies below 1-share.
func (c Cell) SlowerThan(share float64) bool { return c.Verdict == Slower && c.Typical.High < 1-share }

// Engines makes a side of each engine, by its label: its runs in all results, each as a result.
func Engines(results []record.Result) (sides []Side) {
	for _, result := range results {
		for _, run := range result.Runs {
			i := slices.IndexFunc(sides, func(s Side) bool { return s.Name == run.Engine.Name })
			if i < 0 {
				i, sides = len(sides), append(sides, Side{Name: run.Engine.Name})
			}
			result.Runs = []record.Run{run}
			sides[i].Results = append(sides[i].Results, result)
		}
	}
	return sides
}

// Of compares the runs of b with those of a.
func Of(a, b Side) Comparison {
	variables := func(r record.Result) map[string]string { return r.Environment }
	c := Comparison{A: a.Name, B: b.Name, Sides: [2]Side{a, b}, Differences: append(
		differences(a.Results, b.Results, resultFacts), settings("variable", a.Results, b.Results, variables)...)}
	for _, p := range match(a, b) {
		c.Cells = append(c.Cells, p.cell())
	}
	return c
}

// Overall returns the geometric mean of the ratios of all cells that were compared, with the smallest and the largest
// of them, and their number. A single ratio keeps its interval.
func (c Comparison) Overall() (mean Ratio, n int) {
	var ratios []float64
	product := 0.0 // its logarithm
	for _, cell := range c.Cells {
		if cell.Compared() {
			mean = *cell.Typical
			ratios, product = append(ratios, mean.Estimate), product+math.Log(mean.Estimate)
		}
	}
	if n = len(ratios); n > 1 {
		mean = Ratio{math.Exp(product / float64(n)), slices.Min(ratios), slices.Max(ratios)}
	}
	return mean, n
}

// Summary is the overall ratio in a sentence without a full stop; empty if nothing was compared.
func (c Comparison) Summary() string {
	differs := func(cell Cell) bool { return cell.Verdict.Differs() }
	switch mean, n := c.Overall(); {
	case n == 0:
		return ""
	case n > 1 && !slices.ContainsFunc(c.Cells, differs):
		return fmt.Sprintf("No difference found between %s and %s in %d comparisons (%s)", c.A, c.B, n, mean.Text("…"))
	case n > 1:
		return fmt.Sprintf("%s is %s than %s: geometric mean of %d ratios (%s)", c.B, mean.Speed(), c.A, n, mean.Text("…"))
	case mean.Low <= 1 && mean.High >= 1:
		return fmt.Sprintf("No difference found between %s and %s (%s)", c.A, c.B, mean.Text("to"))
	default:
		return fmt.Sprintf("%s is %s than %s (%s)", c.B, mean.Speed(), c.A, mean.Text("to"))
	}
}
