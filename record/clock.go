// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
)

// Cost is a bound on what calls for a graph cost besides the work of an engine, in seconds. The host measures it with
// an engine that does nothing.
type Cost struct {
	Call    float64 `json:"call"`    // a search
	Copy    float64 `json:"copy"`    // moving the parents
	Kernel1 float64 `json:"kernel1"` // the first call with the tuples
}

// Nothing is the name of the engine that does nothing.
const Nothing = "nothing"

// wakeTime is how long engines of teps may take to wake their workers and ranks before the clock, in seconds.
const wakeTime = 2.5e-3

// Apart reports whether the times of a search on the engine's clock and on the host's, in seconds, differ by more than
// a twentieth plus the cost of a call and of moving the parents. The clocks of engines that are part of teps are
// trusted: there a difference means that the call was delayed.
func (e EngineSpec) Apart(c *Cost, engine, host float64) bool {
	allowed := engine / 20
	if e.Builtin != "" {
		allowed = engine + wakeTime
	}
	return host-engine > c.Call+c.Copy+allowed
}

// kernel1Delay is slack of kernel 1, in seconds.
const kernel1Delay = 0.25

// clockRules are the rules of docs/clocks.md: what the engine's clock says must agree with what the host measures.
func (r Run) clockRules(t tally) []Check {
	const ofSearches, ofKernel1 = "The engine's clock accounts for the time of searches",
		"The engine's clock accounts for the time of kernel 1"
	kernel1, search := r.Construction.Elapsed.Seconds(), units.Median(t.times)
	rest := r.ConstructWall - kernel1
	if r.Cost == nil || len(r.Roots) == 0 { // a record of a version before 0.3, or nothing to check
		return nil
	}
	apart := r.Count(func(root RootRecord) bool { return r.Engine.Apart(r.Cost, root.Time, root.Wall) })
	cost := r.Cost.Call + r.Cost.Copy
	moved := r.Cost.Kernel1 + 2*r.Cost.Copy*float64(graph.EdgeBytes*r.Graph.Tuples)/max(1, float64(8*r.Graph.Vertices))
	return []Check{
		{ofSearches, apart <= len(r.Roots)/16,
			fmt.Sprintf("%d of %d searches, where a sixteenth may, differ from the host's clock by more than 5 %% and the "+
				"%.4g ms of a call and of moving the parents, which the host measured", apart, len(r.Roots), cost*1e3)},
		{ofKernel1, rest <= moved+kernel1/4+kernel1Delay,
			fmt.Sprintf("%.4g s, and %.4g s more on the host's clock, where %.4g s are allowed to map and move the tuples, "+
				"25 %%, and %g s for a busy machine, because kernel 1 is not repeated", kernel1, rest, moved, kernel1Delay)},
		r.confirmed(search, cost),
		r.unknownRoots(t.times),
		{"Nothing goes on after a call has returned", t.after <= t.engine/20,
			fmt.Sprintf("the engine used %.4g s of processor time while its searches were validated; it is stopped then",
				t.after)},
	}
}

// minConfirmed is the smallest ratio of the engine's times to those of the same searches in a loop on the host's clock.
const minConfirmed = 0.8

// confirmed reports whether the host's clock confirms the engine's: a loop that the host timed took no longer than the
// engine's times say, or calls cost so little that the host can time each search.
func (r Run) confirmed(search, cost float64) Check {
	check := Check{Rule: "The host's clock confirms the engine's"}
	switch c := r.Clock; {
	case r.Engine.Builtin != "":
		check.Detail, check.Holds = "the engine's clock is code of teps", true
	case c == nil && cost <= search/4:
		check.Holds = true
		check.Detail = fmt.Sprintf("by its calls: they cost %.4g ms, a search takes %.4g ms", cost*1e3, search*1e3)
	case c == nil:
		check.Detail = fmt.Sprintf("a search of %.4g ms is too short for the host to tell, and the engine does not repeat "+
			"searches (plugins.Repeater, teps_repeat)", search*1e3)
	case c.Violation != "":
		check.Detail = c.Violation
	default:
		check.Holds = c.Confirms(r.Cost)
		check.Detail = fmt.Sprintf("%d searches in a loop took %.4g s on the host's clock, and %.4g s one by one on the "+
			"engine's, where at least %g times as much is needed", c.Searches, c.Elapsed, c.Expected, minConfirmed)
	}
	return check
}

// unknownRoots reports whether the searches from roots drawn at random are like those from the roots of the run. If
// they are, all of four are among the slowest tenth once in 10,000 runs.
func (r Run) unknownRoots(times []float64) Check {
	check := Check{Rule: "Searches from roots that nobody could know take as long"}
	if len(r.Drawn) == 0 || len(times) == 0 {
		check.Detail = "the graph has no other roots, or none was searched"
		check.Holds = len(r.Roots) < OfficialRoots
		return check
	}
	sorted := slices.Sorted(slices.Values(times))
	slow, median, fastest := sorted[(len(sorted)-1)*9/10], units.Median(times), math.Inf(1)
	for _, root := range r.Drawn {
		fastest = min(fastest, root.Time)
	}
	check.Holds = fastest <= max(slow, median*5/4)
	check.Detail = fmt.Sprintf("the fastest of %d took %.4g ms; the median of the others is %.4g ms, and nine tenths are "+
		"below %.4g ms", len(r.Drawn), fastest*1e3, median*1e3, slow*1e3)
	return check
}

// Confirms reports whether the loop took no longer than the same searches did one by one on the engine's clock, without
// the cost of one call and of moving the parents once.
func (l *EnergyLoop) Confirms(c *Cost) bool {
	return l.Violation == "" && l.Expected >= minConfirmed*max(l.Elapsed-c.Call-c.Copy, l.Elapsed/2)
}
