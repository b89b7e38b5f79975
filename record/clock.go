// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"fmt"
	"slices"
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

const (
	kernel1Delay = 0.25    // slack of kernel 1, seconds
	minConfirmed = 0.9     // ratio of the engine's time of a search to that in a loop on the host's clock
	maxAfter     = 1. / 20 // ratio of processor time after calls to the time of searches
)

// LowerQuartile returns the lower quartile of times. Other programs, which delay some of them, hardly change it. It
// sorts the times.
func LowerQuartile(times []float64) float64 {
	slices.Sort(times)
	return times[(len(times)-1)/4]
}

// clockRules are the rules of docs/clocks.md: what the engine's clock says must agree with what the host measures. The
// clocks of engines that are part of teps are code of teps.
func (r Run) clockRules() []Check {
	if r.Cost == nil || len(r.Roots) == 0 { // a record of a version before 0.3, or nothing to check
		return nil
	}
	var apart []float64
	searches, after := 0.0, 0.0
	for _, root := range r.Roots {
		searches, after = searches+root.Time, after+root.After
		apart = append(apart, root.Wall-root.Time-root.Time/20)
	}
	extra, kernel1 := LowerQuartile(apart), r.Construction.Elapsed.Seconds()
	rest := r.ConstructWall - kernel1
	rules := []Check{
		{"The engine's clock accounts for the time of searches", extra <= r.Cost.Sum(),
			fmt.Sprintf("a call took %.4g ms more than the engine says and 5 %% (lower quartile), where %.4g ms are allowed "+
				"for a call and for moving the parents, which the host measured; above that, the engine's clock leaves out time, "+
				"or the machine is too busy for the host to tell", extra*1e3, r.Cost.Sum()*1e3)},
		{"The host's clock confirms the engine's", false, "no loop of its searches was timed"},
		{"The engine's clock accounts for the time of kernel 1", rest <= r.Cost.Kernel1+kernel1/4+kernel1Delay,
			fmt.Sprintf("%.4g s, and %.4g s more on the host's clock, where %.4g s are allowed to map the tuples, 25 %%, and "+
				"%g s for a busy machine, because kernel 1 is not repeated", kernel1, rest, r.Cost.Kernel1, kernel1Delay)},
		{"Nothing goes on after a call has returned", after <= maxAfter*searches,
			fmt.Sprintf("the engine used %.4g s of processor time while its searches were validated; it is stopped then",
				after)},
	}
	if c := r.Clock; c != nil {
		rules[1].Holds = c.Violation == "" && c.Single >= minConfirmed*c.Each
		rules[1].Detail = cmp.Or(c.Violation, fmt.Sprintf("a search took %.4g ms in a loop on the host's clock, and %.4g ms "+
			"by itself on the engine's (lower quartiles); below %g times as much, the engine's clock leaves out time, or "+
			"the machine is too busy for the host to tell", c.Each*1e3, c.Single*1e3, minConfirmed))
	}
	if r.Engine.Builtin != "" {
		const known = "the engine's clock is code of teps"
		rules[0].Holds, rules[0].Detail = true, known+": "+rules[0].Detail
		rules[1].Holds, rules[1].Detail = true, known
	}
	return rules
}

// ClockFault returns the first clock rule that the run breaks, with the numbers, or "" if it breaks none. A run that
// breaks one gets no energy figure.
func (r Run) ClockFault() string {
	if r.Construction != nil {
		for _, c := range r.clockRules() {
			if !c.Holds {
				return c.Rule + ": " + c.Detail
			}
		}
	}
	return ""
}
