// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

// A pair is the runs of one engine on one graph on both sides.
type pair struct {
	sides           [2]string // names
	engine, engineB string    // labels
	graph           record.GraphID
	a, b            []record.Run
}

// match pairs runs by the label of their engine and by graph, first in the order of a, then what only b has. If each
// side has a single label, these two are matched even if they differ.
func match(a, b Side) (all []*pair) {
	of := [2][]string{labels(a.Results), labels(b.Results)}
	single := len(of[0]) == 1 && len(of[1]) == 1
	for i, result := range slices.Concat(a.Results, b.Results) {
		for _, run := range result.Runs {
			k := slices.IndexFunc(all, func(p *pair) bool {
				return p.graph == run.GraphID && (single || p.engine == run.Engine.Name)
			})
			if k < 0 {
				k = len(all)
				p := &pair{[2]string{a.Name, b.Name}, run.Engine.Name, run.Engine.Name, run.GraphID, nil, nil}
				if single {
					p.engine, p.engineB = of[0][0], of[1][0]
				}
				all = append(all, p)
			}
			if p := all[k]; i < len(a.Results) {
				p.a = append(p.a, run)
			} else {
				p.b = append(p.b, run)
			}
		}
	}
	return all
}

// labels returns the labels of the engines, in the order of the runs.
func labels(results []record.Result) (found []string) {
	for _, result := range results {
		for _, run := range result.Runs {
			if !slices.Contains(found, run.Engine.Name) {
				found = append(found, run.Engine.Name)
			}
		}
	}
	return found
}

// cell compares the two sides of a pair.
//
// The test and the interval are those of the log ratios of B's rates over A's, for the roots that all runs have
// searched. If a side has several runs, they show by how much whole runs differ that should not (memory lies
// elsewhere, a neighbor is busy). A few of them only allow a check that the sides differ by more than that. With
// MinPairs on both sides, a pair is two runs, so the test itself takes their scatter into account.
func (p pair) cell() Cell {
	c := Cell{Engine: p.engine, Graph: p.graph, Verdict: Undecided, RunsA: len(p.a), RunsB: len(p.b)}
	if p.engineB != p.engine {
		c.EngineB = p.engineB
	}
	if c.Reason = p.unfit(); c.Reason != "" {
		return c
	}
	c.Differences = differences(p.a, p.b, runFacts)
	if sameEngine(p.a[0], p.b[0]) { // others have other options
		c.Differences = append(c.Differences,
			settings("option", p.a, p.b, func(r record.Run) map[string]string { return r.Options })...)
	}
	a, b := rates(p.a), rates(p.b)
	roots := commonRoots(slices.Concat(a, b))
	if c.Common = len(roots); c.Common < MinPairs {
		c.Reason = fmt.Sprintf("the sides have %d roots with a rate in common, but %d are needed", c.Common, MinPairs)
		return c
	}
	c.Unit = ByRoot
	ratios := ratiosByRoot(roots, a, b)
	largest := math.Max(scatter(roots, a), scatter(roots, b))
	if min(c.RunsA, c.RunsB) >= MinPairs {
		c.Unit, largest = ByRun, 0
		ratios = ratiosByRun(roots, a, b)
	} else if max(c.RunsA, c.RunsB) > 1 {
		c.Scatter = new(math.Expm1(largest))
	}
	s := signedRank(ratios, Confidence)
	c.TEPSA, c.TEPSB = harmonicMean(roots, a), harmonicMean(roots, b)
	c.Typical = &Ratio{math.Exp(s.estimate), math.Exp(s.low), math.Exp(s.high)}
	c.P, c.Detectable = s.p, s.detectable()
	switch {
	case s.p >= 1-Confidence:
		c.Verdict = Same
	case math.Abs(s.estimate) <= largest:
		c.Reason = "runs of the same side differ by as much as the sides do"
	case s.estimate < 0:
		c.Verdict = Slower
	default:
		c.Verdict = Faster
	}
	return c
}

// sameEngine reports whether two runs are of the same engine, perhaps in other versions, or do not say so.
func sameEngine(a, b record.Run) bool {
	return a.Description == nil || b.Description == nil || a.Description.Name == b.Description.Name
}

// unfit returns why the runs cannot be compared; "" if they can.
func (p pair) unfit() string {
	switch {
	case len(p.b) == 0:
		return "only " + p.sides[0] + " has it"
	case len(p.a) == 0:
		return "only " + p.sides[1] + " has it"
	}
	for i, run := range slices.Concat(p.a, p.b) {
		side := p.sides[min(i/len(p.a), 1)]
		switch {
		case slices.ContainsFunc(run.Roots, record.RootRecord.Broken):
			return side + " has wrong searches"
		case run.State == record.Failed:
			return fmt.Sprintf("%s failed after %d searches: %s", side, len(run.Roots), run.Failure)
		case len(run.Roots) == 0:
			return side + " has no searches"
		case run.Graph == nil || p.a[0].Graph == nil || !run.Graph.Same(p.a[0].Graph):
			return "the graphs differ or were not recorded"
		}
	}
	return ""
}

// rates returns, for each run, the rate of each root in tuples a second; 0: its tuples were not counted.
func rates(runs []record.Run) []map[graph.Vertex]float64 {
	all := make([]map[graph.Vertex]float64, len(runs))
	for i, run := range runs {
		all[i] = map[graph.Vertex]float64{}
		for _, r := range run.Roots {
			if r.NEdge != nil && *r.NEdge > 0 && r.Time > 0 {
				all[i][r.Root] = float64(*r.NEdge) / r.Time
			}
		}
	}
	return all
}

// commonRoots returns the roots that have a rate in every run, in ascending order.
func commonRoots(runs []map[graph.Vertex]float64) (roots []graph.Vertex) {
	for root := range runs[0] {
		if !slices.ContainsFunc(runs, func(rates map[graph.Vertex]float64) bool { return rates[root] == 0 }) {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return roots
}

// ratiosByRoot returns the log of B's rate over A's for each root, where a rate is the geometric mean over the runs.
func ratiosByRoot(roots []graph.Vertex, a, b []map[graph.Vertex]float64) []float64 {
	d := make([]float64, len(roots))
	for i, root := range roots {
		for _, rates := range b {
			d[i] += math.Log(rates[root]) / float64(len(b))
		}
		for _, rates := range a {
			d[i] -= math.Log(rates[root]) / float64(len(a))
		}
	}
	return d
}

// ratiosByRun returns the log of B's rate over A's for each pair of runs, where a rate is the geometric mean over the
// roots.
func ratiosByRun(roots []graph.Vertex, a, b []map[graph.Vertex]float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		for _, root := range roots {
			d[i] += math.Log(b[i][root]/a[i][root]) / float64(len(roots))
		}
	}
	return d
}

// harmonicMean returns the harmonic mean of the rates of all searches.
func harmonicMean(roots []graph.Vertex, runs []map[graph.Vertex]float64) float64 {
	sum := 0.0
	for _, rates := range runs {
		for _, root := range roots {
			sum += 1 / rates[root]
		}
	}
	return float64(len(runs)*len(roots)) / sum
}

// scatter returns the largest log ratio of a typical root between two of the runs; 0 for one run.
func scatter(roots []graph.Vertex, runs []map[graph.Vertex]float64) (largest float64) {
	for i := range runs {
		for j := range i {
			means := pairMeans(ratiosByRoot(roots, runs[i:i+1], runs[j:j+1]))
			largest = math.Max(largest, math.Abs(middle(means)))
		}
	}
	return largest
}
