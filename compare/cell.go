// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// A pair is the runs of one engine on one graph on both sides.
type pair struct {
	sides, labels [2]string // names of the sides, and of the engine in each
	graph         record.GraphID
	runs          [2][]record.Run
}

// match pairs runs by the label of their engine and by graph, in the order of a. Runs that only b has come last. If
// each side has a single label, these two are matched even if they differ.
func match(a, b Side) (all []*pair) {
	enginesA, enginesB := Engines(a.Results), Engines(b.Results)
	single := len(enginesA) == 1 && len(enginesB) == 1
	for i, result := range slices.Concat(a.Results, b.Results) {
		for _, run := range result.Runs {
			k := slices.IndexFunc(all, func(p *pair) bool {
				return p.graph == run.GraphID && (single || p.labels[0] == run.Engine.Name)
			})
			if k < 0 {
				labels := [2]string{run.Engine.Name, run.Engine.Name}
				if single {
					labels = [2]string{enginesA[0].Name, enginesB[0].Name}
				}
				k, all = len(all), append(all, &pair{sides: [2]string{a.Name, b.Name}, labels: labels, graph: run.GraphID})
			}
			side := 0
			if i >= len(a.Results) {
				side = 1
			}
			all[k].runs[side] = append(all[k].runs[side], run)
		}
	}
	return all
}

// cell compares the two sides of a pair.
//
// The test and the interval are those of the log ratios of B's rates over A's, for the roots that all runs have
// searched. If a side has several runs, they show how much repeats differ (because of the placement of memory, or a
// busy neighbor). A few runs only allow a check that the sides differ by more than that. With MinPairs on both sides, a
// pair is two runs, so the test itself takes their scatter into account.
func (p pair) cell() Cell {
	runsA, runsB := p.runs[0], p.runs[1]
	c := Cell{Engine: p.labels[0], Graph: p.graph, Verdict: Undecided, RunsA: len(runsA), RunsB: len(runsB)}
	if p.labels[1] != p.labels[0] {
		c.EngineB = p.labels[1]
	}
	if c.Reason = p.unfit(); c.Reason != "" {
		return c
	}
	c.Differences = differences(runsA, runsB, runFacts)
	if sameEngine(runsA[0], runsB[0]) { // other engines have other options
		c.Differences = append(c.Differences,
			settings("option", runsA, runsB, func(r record.Run) map[string]string { return r.Options })...)
	}
	a, b, roots := p.logRates()
	if c.Common = roots; c.Common < MinPairs {
		c.Reason = fmt.Sprintf("the sides have %d roots with a rate in common, but %d are needed", c.Common, MinPairs)
		return c
	}
	var ratios []float64
	largest := 0.0
	if min(c.RunsA, c.RunsB) >= MinPairs {
		c.Unit = ByRun
		for i := range min(c.RunsA, c.RunsB) {
			ratios = append(ratios, stat.Mean(b[i], nil)-stat.Mean(a[i], nil))
		}
	} else {
		c.Unit, ratios = ByRoot, ratiosByRoot(a, b)
		if max(c.RunsA, c.RunsB) > 1 {
			largest = max(scatter(a), scatter(b))
			c.Scatter = new(math.Expm1(largest))
		}
	}
	s := signedRank(ratios)
	c.TEPSA, c.TEPSB = harmonicMean(a), harmonicMean(b)
	c.Typical = &Ratio{math.Exp(s.estimate), math.Exp(s.low), math.Exp(s.high)}
	c.P, c.Detectable = s.p, s.detectable()
	switch {
	case s.p >= 1-Confidence && c.Detectable > Undetectable:
		c.Reason = fmt.Sprintf("the ratios of single %ss differ so much that no slowdown could be found", c.Unit)
	case s.p >= 1-Confidence:
		c.Verdict = Same
	case math.Abs(s.estimate) <= largest:
		c.Reason = fmt.Sprintf("runs of the same side differ by up to %s, the sides by %s",
			units.Percent(math.Expm1(largest), 2), units.Percent(math.Expm1(math.Abs(s.estimate)), 2))
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

// unfit returns the reason why the runs cannot be compared, or "" if they can.
func (p pair) unfit() string {
	for side, runs := range p.runs {
		if len(runs) == 0 {
			return "only " + p.sides[1-side] + " has it"
		}
	}
	for side, runs := range p.runs {
		for _, run := range runs {
			switch name, first := p.sides[side], p.runs[0][0].Graph; {
			case slices.ContainsFunc(run.Roots, record.RootRecord.Broken):
				return name + " has wrong searches"
			case run.State == record.Failed:
				return fmt.Sprintf("%s failed after %d searches: %s", name, len(run.Roots), run.Failure)
			case len(run.Roots) == 0:
				return name + " has no searches"
			case run.Graph == nil || first == nil || !run.Graph.Same(first):
				return "the graphs differ or were not recorded"
			}
		}
	}
	return ""
}

// logRates returns, for each run of A and of B, the logarithm of the rate in tuples a second of each root that has one
// in every run, in the order of the first run, and the number of these roots.
func (p pair) logRates() (a, b [][]float64, roots int) {
	rates := map[graph.Vertex][]float64{} // in the order of the runs
	runs := slices.Concat(p.runs[0], p.runs[1])
	for i, run := range runs {
		for _, r := range run.Roots {
			if teps, known := r.TEPS(); known && len(rates[r.Root]) == i {
				rates[r.Root] = append(rates[r.Root], math.Log(teps))
			}
		}
	}
	all := make([][]float64, len(runs))
	for _, r := range runs[0].Roots {
		if of := rates[r.Root]; len(of) == len(runs) {
			roots++
			for i, rate := range of {
				all[i] = append(all[i], rate)
			}
		}
	}
	return all[:len(p.runs[0])], all[len(p.runs[0]):], roots
}

// ratiosByRoot returns the log of B's rate over A's for each root, where a rate is the geometric mean over the runs.
func ratiosByRoot(a, b [][]float64) []float64 {
	d := make([]float64, len(a[0]))
	for root := range d {
		for _, run := range b {
			d[root] += run[root] / float64(len(b))
		}
		for _, run := range a {
			d[root] -= run[root] / float64(len(a))
		}
	}
	return d
}

// harmonicMean returns the harmonic mean of the rates of all searches.
func harmonicMean(runs [][]float64) float64 {
	rates := slices.Concat(runs...)
	for i, logarithm := range rates {
		rates[i] = math.Exp(logarithm)
	}
	return stat.HarmonicMean(rates, nil)
}

// scatter returns the largest log ratio of a typical root between two of the runs; 0 for one run.
func scatter(runs [][]float64) (largest float64) {
	for i := range runs {
		for j := range i {
			means := pairMeans(ratiosByRoot(runs[i:i+1], runs[j:j+1]))
			largest = max(largest, math.Abs(middle(means)))
		}
	}
	return largest
}
