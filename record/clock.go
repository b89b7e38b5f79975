// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"

	"github.com/tepsbench/teps/graph"
)

// Cost is a bound on what calls for a graph cost besides the work of an engine, in seconds. The host measures it with
// an engine that does nothing.
type Cost struct {
	Call    float64 `json:"call"`    // a search
	Copy    float64 `json:"copy"`    // moving the parents
	Kernel1 float64 `json:"kernel1"` // the first call with the tuples
}

// Sum is the cost of a search and of moving its parents.
func (c *Cost) Sum() float64 { return c.Call + c.Copy }

// Nothing is the name of the engine that does nothing.
const Nothing = "nothing"

// wakeTime is how long engines of teps may take to wake their workers and ranks before the clock, in seconds.
const wakeTime = 2.5e-3

// Apart reports whether the times of a search on the engine's clock and on the host's differ by more than a twentieth
// plus the cost of a call and of moving the parents, and the time in which the engine waited for processors. The clocks
// of engines that are part of teps are trusted: there a difference means that the call was delayed.
func (e EngineSpec) Apart(c *Cost, r RootRecord) bool {
	allowed := c.Sum() + r.Time/20
	if e.Builtin != "" {
		allowed = c.Sum() + r.Time + wakeTime
	}
	if i := r.Interference; i != nil {
		allowed += i.Waited + i.Stolen
	}
	return r.Wall-r.Time > allowed
}

// kernel1Delay is slack of kernel 1, in seconds.
const kernel1Delay = 0.25

// clockRules are the rules of docs/clocks.md: what the engine's clock says must agree with what the host measures.
func (r Run) clockRules(t tally) []Check {
	const ofSearches, ofKernel1 = "The engine's clock accounts for the time of searches",
		"The engine's clock accounts for the time of kernel 1"
	kernel1 := r.Construction.Elapsed.Seconds()
	rest := r.ConstructWall - kernel1
	if r.Cost == nil || len(r.Roots) == 0 { // a record of a version before 0.3, or nothing to check
		return nil
	}
	apart := r.Count(func(root RootRecord) bool { return r.Engine.Apart(r.Cost, root) })
	moved := r.Cost.Kernel1 + 2*r.Cost.Copy*float64(graph.EdgeBytes*r.Graph.Tuples)/max(1, float64(8*r.Graph.Vertices))
	return []Check{
		{ofSearches, apart <= len(r.Roots)/16,
			fmt.Sprintf("%d of %d searches, where a sixteenth may, differ from the host's clock by more than 5 %%, waiting "+
				"for processors, and the %.4g ms of a call and of moving the parents, which the host measured", apart, len(r.Roots),
				r.Cost.Sum()*1e3)},
		{ofKernel1, rest <= moved+kernel1/4+kernel1Delay,
			fmt.Sprintf("%.4g s, and %.4g s more on the host's clock, where %.4g s are allowed to map and move the tuples, "+
				"25 %%, and %g s for a busy machine, because kernel 1 is not repeated", kernel1, rest, moved, kernel1Delay)},
		r.ClockConfirmed(),
		{"Nothing goes on after a call has returned", t.after <= t.engine/20,
			fmt.Sprintf("the engine used %.4g s of processor time while its searches were validated; it is stopped then",
				t.after)},
	}
}

// minConfirmed is the smallest ratio of the engine's times to those of the same searches in a loop on the host's clock.
const minConfirmed = 0.8

// ClockConfirmed reports whether the host's clock confirms the engine's: a loop that the host timed, from roots that
// the engine cannot know, took no longer than the engine's times say.
func (r Run) ClockConfirmed() Check {
	check := Check{Rule: "The host's clock confirms the engine's"}
	c := r.Clock
	switch {
	case r.Engine.Builtin != "":
		check.Detail, check.Holds = "the engine's clock is code of teps", true
	case c == nil:
		check.Detail = "no loop of its searches was timed"
	case c.Violation != "":
		check.Detail = c.Violation
	default:
		rest, busy := c.Elapsed-r.Cost.Sum(), c.Waited > c.Elapsed/2
		if !busy {
			rest -= c.Waited
		}
		check.Holds = c.Expected >= minConfirmed*rest
		check.Detail = fmt.Sprintf("%d searches in a loop took %.4g s on the host's clock, %.4g s without the call and "+
			"waiting for processors; as many took %.4g s one by one on the engine's, where %g times as much is needed",
			c.Searches, c.Elapsed, rest, c.Expected, minConfirmed)
		if !check.Holds && busy {
			check.Detail = fmt.Sprintf("the machine is too busy for the host to tell: the engine waited for processors in "+
				"%.4g of the %.4g s of a loop", c.Waited, c.Elapsed)
		}
	}
	return check
}
