// Package compare says whether two sets of runs differ in speed, by how much, and how sure that is. What is compared is
// an engine at a scale; what decides is a test on roots that both sides have searched.
//
// Rates of different roots differ several-fold within one run, so two runs are compared root by root: the logarithm of
// the ratio of two rates of the same root, in the same graph, has none of that spread. docs/records.md has the method with
// its formulae and what it can and cannot see; decide.go is the method, match.go what is held against what, differ.go
// what the two sides do not have in common.
package compare

import (
	"math"
	"slices"

	"github.com/tepsbench/teps/compare/statistics"
	"github.com/tepsbench/teps/harness"
)

// Confidence is that of every interval. A difference is called one when p is below 1-Confidence.
const Confidence = 0.95

// Comparison is that of B against A.
type Comparison struct {
	A           []Source     `json:"a"`
	B           []Source     `json:"b"`
	Confidence  float64      `json:"confidence"`
	Differences []Difference `json:"differences,omitempty"` // of machines, builds, plans, environments
	Warnings    []string     `json:"warnings,omitempty"`
	Cells       []Cell       `json:"cells"`
}

// Source is a record that was read.
type Source struct {
	ID      string `json:"id"`
	Started string `json:"started"`
	Sealed  bool   `json:"sealed"`
}

// Difference is something in which runs differ, other than their speed.
type Difference struct {
	What string   `json:"what"`
	A    []string `json:"a"` // the distinct values of A, in order
	B    []string `json:"b"`
}

// Verdict is the answer for one engine at one scale.
type Verdict string

const (
	Same        Verdict = "no difference"
	Slower      Verdict = "slower" // B is
	Faster      Verdict = "faster" // B is
	NotCompared Verdict = "not compared"
)

// Method is the test that decided.
type Method string

const (
	ByRoot Method = "signed rank"  // Wilcoxon's test and the Hodges-Lehmann shift, on the log ratios of matched roots
	ByRun  Method = "Student"      // Student's t on the mean log rates of whole runs, over matched roots
	ByRate Method = "Mann-Whitney" // and its Hodges-Lehmann shift, on log rates of roots that differ
)

// Unmatched says why roots were not compared one by one.
type Unmatched string

const (
	OtherGraphs Unmatched = "the graphs differ or are not recorded"
	OtherRoots  Unmatched = "the roots differ"           // fewer than half of them are the same
	FewRoots    Unmatched = "too few roots are the same" // fewer than FewestRoots
)

// FewestRoots is the smallest number of pairs with which the signed-rank test can find anything at a confidence of 0.95.
const FewestRoots = 6

// Cell compares one engine at one scale. What is a pointer is there unless the verdict is NotCompared.
type Cell struct {
	Engine  string  `json:"engine"`
	EngineB string  `json:"engine_b,omitempty"` // its label in B, where it is another
	Scale   int     `json:"scale"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // why it was not compared
	RunsA   int     `json:"runs_a"`
	RunsB   int     `json:"runs_b"`
	RootsA  int     `json:"roots_a"`           // roots with a rate in every run of A
	RootsB  int     `json:"roots_b"`           // and of B
	Common  int     `json:"common,omitempty"`  // roots of both, whatever the graphs
	Matched int     `json:"matched,omitempty"` // roots that were compared one by one; 0: none
	// Unmatched says why Matched is 0 where something was compared.
	Unmatched Unmatched `json:"unmatched,omitempty"`
	Method    Method    `json:"method,omitempty"`
	// TEPSA and TEPSB are harmonic means over the compared searches, in tuples a second, and Means is B's over A's.
	TEPSA float64 `json:"teps_a,omitempty"`
	TEPSB float64 `json:"teps_b,omitempty"`
	Means *Ratio  `json:"harmonic_means,omitempty"`
	// Typical is the ratio of rates, B over A, of a typical root. With P it decides.
	Typical *Ratio   `json:"typical,omitempty"`
	P       *float64 `json:"p,omitempty"`
	// MannWhitneyP is that of the unpaired test on rates, which holds for any roots and sees little.
	MannWhitneyP *float64     `json:"mann_whitney_p,omitempty"`
	Visible      *float64     `json:"visible,omitempty"` // the slow-down, as a share, that would be found 19 times of 20
	Differences  []Difference `json:"differences,omitempty"`
	Warnings     []string     `json:"warnings,omitempty"`
}

// Ratio is an estimate with its interval of Confidence. A bound that is absent is not known: there are too few roots.
type Ratio struct {
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
}

// ratioOf turns an interval of log ratios around.
func ratioOf(x statistics.Interval) *Ratio {
	x = x.Exp()
	r := &Ratio{Estimate: x.Estimate}
	if x.Low > 0 && !math.IsInf(x.High, 1) {
		r.Low, r.High = &x.Low, &x.High
	}
	return r
}

// Of compares the runs of b with those of a. Several results on a side are repeats of the same measurement.
func Of(a, b []harness.Result) Comparison {
	c := Comparison{A: sources(a), B: sources(b), Confidence: Confidence, Differences: differences(a, b, resultFacts)}
	if !slices.ContainsFunc(slices.Concat(c.A, c.B), func(s Source) bool { return !s.Sealed }) {
		c.Differences = append(c.Differences, differences(a, b, surroundings)...)
	}
	c.Warnings = sourceWarnings(c.A, c.B)
	for _, m := range match(a, b) {
		c.Cells = append(c.Cells, m.cell())
	}
	return c
}

// SlowerThan says that B is slower than A by more than a share (0.05: five per cent) as surely as Confidence: the whole
// interval of the typical ratio lies below 1-share.
func (c Cell) SlowerThan(share float64) bool {
	return c.Verdict == Slower && c.Typical.High != nil && *c.Typical.High < 1-share
}
