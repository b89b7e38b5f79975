package harness

import (
	"slices"
	"time"

	"github.com/tepsbench/teps/record"
)

// pace estimates how long the rest of a run takes, from what was measured in it: seconds for each tuple. An engine that
// has not yet done something is taken to be as fast as the others on average.
type pace struct {
	parts []part                   // that remain
	speed map[[2]string][2]float64 // seconds and tuples so far, by kind and engine, and by kind alone
}

// part is something that a run does n times.
type part struct {
	graph        record.GraphID
	kind, engine string
	tuples       int64 // of the graph; 0: unknown
	n            int
	fixed        time.Duration // the time that it takes, if that is known
}

// newPace is the pace of the runs that are not complete. Runs are in the order of the plan.
func newPace(plan record.Plan, runs []record.Run) *pace {
	p := &pace{speed: map[[2]string][2]float64{}}
	for i, run := range runs {
		tuples := int64(0)
		if source, err := plan.Generator(run.GraphID); err == nil && source != nil {
			tuples = source.Tuples()
		}
		if i%len(plan.Engines) == 0 {
			p.parts = append(p.parts, part{run.GraphID, "input", "", tuples, 1, 0})
		}
		if run.State == record.Complete {
			continue
		}
		p.parts = append(p.parts, part{run.GraphID, "construct", run.Engine.Name, tuples, 1, 0},
			part{run.GraphID, "search", run.Engine.Name, tuples, max(plan.Roots-len(run.Roots), 0), 0})
		if plan.Energy > 0 && run.Energy == nil {
			p.parts = append(p.parts, part{run.GraphID, "energy", run.Engine.Name, tuples, 1, plan.Energy})
		}
	}
	return p
}

// did counts a part that was done once, on a graph of that many tuples, since a time.
func (p *pace) did(g record.GraphID, kind, engine string, tuples int64, since time.Time) {
	for i := range p.parts {
		if one := &p.parts[i]; one.graph == g {
			one.tuples = tuples
			if one.kind == kind && one.engine == engine {
				one.n--
			}
		}
	}
	for _, key := range [][2]string{{kind, engine}, {kind, ""}} {
		s := p.speed[key]
		p.speed[key] = [2]float64{s[0] + time.Since(since).Seconds(), s[1] + float64(tuples)}
	}
}

// skip leaves out what remains of an engine on a graph or, without an engine, of the graph.
func (p *pace) skip(g record.GraphID, engine string) {
	p.parts = slices.DeleteFunc(p.parts, func(one part) bool {
		return one.graph == g && (engine == "" || one.engine == engine)
	})
}

// left is the time that the rest will take, or 0 if that is unknown.
func (p *pace) left() time.Duration {
	total := 0.0
	for _, one := range p.parts {
		s, known := p.speed[[2]string{one.kind, one.engine}]
		if !known {
			s = p.speed[[2]string{one.kind, ""}]
		}
		switch {
		case one.n <= 0 || one.fixed > 0:
			total += float64(max(one.n, 0)) * one.fixed.Seconds()
		case s[1] == 0 || one.tuples == 0:
			return 0
		default:
			total += float64(one.n) * float64(one.tuples) * s[0] / s[1]
		}
	}
	return time.Duration(total * float64(time.Second))
}
