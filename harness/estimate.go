// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"slices"
	"time"

	"github.com/tepsbench/teps/record"
)

// estimate predicts the time of the rest of a run from measured seconds per tuple. It is unknown until each engine has
// been measured in every kind of work that remains for it, because engines differ in speed.
type estimate struct {
	parts  []part // that remain
	energy time.Duration
	speed  map[[2]string][2]float64 // seconds and tuples so far, by kind with kernel, and engine
}

// part is something that a run does n times.
type part struct {
	graph        record.GraphID
	kind, engine string
	tuples       int64 // of the graph; 0: unknown
	n            int
}

// newEstimate is the estimate of the runs that are not complete. Runs are in the order of the plan.
func newEstimate(plan record.Plan, runs []record.Run) *estimate {
	p := &estimate{energy: plan.Energy, speed: map[[2]string][2]float64{}}
	for i, run := range runs {
		one := part{graph: run.GraphID}
		if source, err := plan.Generator(run.GraphID); err == nil && source != nil {
			one.tuples = source.Tuples()
		}
		add := func(kind string, n int) {
			one.kind, one.n = kind, n
			p.parts = append(p.parts, one)
		}
		if i%len(plan.Engines) == 0 {
			add("input", 1)
		}
		if one.engine = run.Engine.Name; run.State != record.Complete {
			add("construct", 1)
			add("search", plan.Roots-len(run.Roots))
		}
		if plan.Energy > 0 && run.State != record.Complete && run.Energy == nil {
			add("energy", 1)
		}
	}
	return p
}

// did counts a part that was done once, on a graph with a number of tuples, and that began at a time.
func (p *estimate) did(g record.GraphID, kind, engine string, tuples int64, since time.Time) {
	for i := range p.parts {
		if one := &p.parts[i]; one.graph == g {
			one.tuples = tuples
			if one.kind == kind && one.engine == engine {
				one.n--
			}
		}
	}
	key := [2]string{kind + string(g.Kernel), engine}
	s := p.speed[key]
	p.speed[key] = [2]float64{s[0] + time.Since(since).Seconds(), s[1] + float64(tuples)}
}

// skip leaves out the rest of an engine's work on a graph or, without an engine, of all work on the graph.
func (p *estimate) skip(g record.GraphID, engine string) {
	p.parts = slices.DeleteFunc(p.parts, func(one part) bool {
		return one.graph == g && (engine == "" || one.engine == engine)
	})
}

// left is the time that the rest will take, or 0 if that is unknown.
func (p *estimate) left() time.Duration {
	total := 0.0
	for _, one := range p.parts {
		s := p.speed[[2]string{one.kind + string(one.graph.Kernel), one.engine}]
		switch {
		case one.n <= 0: // done
		case one.kind == "energy":
			total += p.energy.Seconds()
		case s[1] == 0 || one.tuples == 0:
			return 0
		default:
			total += float64(one.n) * float64(one.tuples) * s[0] / s[1]
		}
	}
	return time.Duration(total * float64(time.Second))
}
