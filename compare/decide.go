package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/tepsbench/teps/compare/statistics"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
)

// cell decides.
//
// Roots are matched when both sides have searched the same graph and most of the roots are the same. Then the unit is the root:
// d = log(rate of B / rate of A) for each, of the mean log rates where a side has several runs. With one run on a side,
// d is tested by signed ranks. With two and more on both, whole runs can be told to scatter more than their searches do
// (memory lies elsewhere, a neighbour is busy), and the unit is the run: the mean log rate over matched roots, tested
// by Student's t. Where graphs or roots differ, or too few roots are left, the rates themselves are ranked.
func (m matched) cell() Cell {
	c := Cell{Engine: m.engine, Scale: m.scale, RunsA: len(m.a), RunsB: len(m.b), Verdict: NotCompared}
	if m.engineB != m.engine {
		c.EngineB = m.engineB
	}
	if c.Reason = m.unfit(); c.Reason != "" {
		return c
	}
	c.Differences = differences(m.a, m.b, runFacts)
	rootsA, costsA := common(m.a)
	rootsB, costsB := common(m.b)
	c.RootsA, c.RootsB = len(rootsA), len(rootsB)
	if len(rootsA) == 0 || len(rootsB) == 0 {
		c.Reason = "no root has a rate in all runs of a side"
		return c
	}
	both := slices.DeleteFunc(slices.Clone(rootsA), func(root graph.Vertex) bool {
		_, has := slices.BinarySearch(rootsB, root)
		return !has
	})
	c.Common = len(both)
	switch {
	case !sameGraph(slices.Concat(m.a, m.b)):
		c.Unmatched = OtherGraphs
	case 2*len(both) < min(len(rootsA), len(rootsB)):
		c.Unmatched = OtherRoots
	case len(both) < FewestRoots:
		c.Unmatched = FewRoots
	default:
		rootsA, rootsB = both, both
		c.Matched = len(both)
		if c.Matched < max(c.RootsA, c.RootsB) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d roots of A, %d of B, %d of both: the others are left out, also of the harmonic means", c.RootsA, c.RootsB, c.Matched))
		}
	}
	c.decide(newSide(rootsA, costsA), newSide(rootsB, costsB))
	return c
}

// unfit says why nothing can be said.
func (m matched) unfit() string {
	switch {
	case len(m.b) == 0:
		return "only A has it"
	case len(m.a) == 0:
		return "only B has it"
	}
	for _, side := range []struct {
		name string
		runs []harness.Run
	}{{"A", m.a}, {"B", m.b}} {
		for _, run := range side.runs {
			broken := slices.ContainsFunc(run.Roots, harness.RootRecord.Broken)
			switch {
			case broken:
				return side.name + " has searches that are wrong: their rates are none"
			case run.State == harness.Failed && len(run.Roots) > 0:
				return fmt.Sprintf("%s failed after %d of its searches: %s", side.name, len(run.Roots), run.Failure)
			case run.State == harness.Failed:
				return side.name + " failed: " + run.Failure
			case len(run.Roots) == 0:
				return side.name + " has no search"
			}
		}
	}
	return ""
}

// side is what is compared of A or B.
type side struct {
	cost []float64 // by root: mean over the runs of seconds a tuple
	rate []float64 // by root: mean over the runs of the log rate
	runs []float64 // by run: mean over the roots of the log rate
}

func newSide(roots []graph.Vertex, byRun []map[graph.Vertex]float64) side {
	s := side{cost: make([]float64, len(roots)), rate: make([]float64, len(roots)), runs: make([]float64, len(byRun))}
	for n, costs := range byRun {
		for i, root := range roots {
			s.cost[i] += costs[root] / float64(len(byRun))
			s.rate[i] -= math.Log(costs[root]) / float64(len(byRun))
			s.runs[n] -= math.Log(costs[root]) / float64(len(roots))
		}
	}
	return s
}

// harmonicMean is that of the rates.
func (s side) harmonicMean() float64 {
	sum := 0.0
	for _, c := range s.cost {
		sum += c
	}
	return float64(len(s.cost)) / sum
}

func (c *Cell) decide(a, b side) {
	c.TEPSA, c.TEPSB = a.harmonicMean(), b.harmonicMean()
	unpaired := statistics.MannWhitney(a.rate, b.rate, Confidence)
	c.MannWhitneyP = &unpaired.P
	test, means := unpaired, statistics.RatioOfIndependentMeans(a.cost, b.cost, Confidence)
	c.Method = ByRate
	if c.Matched > 0 {
		c.Method, test = ByRoot, statistics.SignedRank(ratios(a, b), Confidence)
		if c.RunsA > 1 && c.RunsB > 1 {
			c.Method, test = ByRun, statistics.StudentT(a.runs, b.runs, Confidence)
		}
		means = statistics.RatioOfMeans(a.cost, b.cost, Confidence)
	}
	c.Means, c.Typical, c.P = ratioOf(means), ratioOf(test.Shift), &test.P
	switch {
	case test.P >= 1-Confidence:
		c.Verdict = Same
	case test.Shift.Estimate < 0:
		c.Verdict = Slower
	default:
		c.Verdict = Faster
	}
	seen := visible(test.Shift)
	c.Visible = &seen
}

// ratios are the log ratios of matched roots, B over A.
func ratios(a, b side) []float64 {
	d := make([]float64, len(a.rate))
	for i := range d {
		d[i] = b.rate[i] - a.rate[i]
	}
	return d
}

// visible is the slow-down, as a share, that a test with such an interval finds 19 times of 20. The interval is 1.960
// standard errors wide to a side; 1.960 + 1.645 are needed (normal approximation).
func visible(x statistics.Interval) float64 {
	const found, half = 1.960 + 1.645, 1.960
	return -math.Expm1(-(x.High - x.Low) / 2 * found / half)
}
