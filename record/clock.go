// SPDX-License-Identifier: Apache-2.0

package record

import (
	"fmt"
	"slices"
)

// Cost is a bound on what calls for a graph cost besides the work of an engine, in seconds. The host measures it with
// an engine that only writes parents.
type Cost struct {
	Call    float64 `json:"call"`    // a search
	Kernel1 float64 `json:"kernel1"` // the first call with the tuples
}

// Nothing is the name of the engine that only writes parents.
const Nothing = "nothing"

const (
	kernel1Delay = 0.25    // slack of kernel 1, which is not repeated, seconds
	maxSlower    = 1 / 0.9 // ratio of the time of a search in a loop on the host's clock to that on the engine's
	maxAfter     = 1. / 20 // ratio of processor time after calls to the time of searches
)

// LowerQuartile returns the lower quartile of values. Other programs, which delay some calls, hardly change it.
func LowerQuartile[E any](all []E, value func(E) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = value(one)
	}
	slices.Sort(values)
	return values[(len(values)-1)/4]
}

// clockRules are the rules of docs/clocks.md: what the engine's clock says must agree with what the host measures. The
// clocks of engines that are part of teps are code of teps.
func (r Run) clockRules() []Check {
	if r.Cost == nil || len(r.Roots) == 0 { // a record of a version before 0.3, or nothing to check
		return nil
	}
	rule := func(name string, measured, allowed float64, what string) Check {
		return Check{name, measured <= allowed, fmt.Sprintf("%s: %.4g ms, where %.4g ms are allowed; above that, the "+
			"engine's clock leaves out time, or the machine is too busy for the host to tell", what, measured*1e3,
			allowed*1e3)}
	}
	loop, searches, after, kernel1 := r.Clock, 0.0, 0.0, r.Construction.Elapsed.Seconds()
	for _, root := range r.Roots {
		searches, after = searches+root.Time, after+root.After
	}
	if loop == nil {
		loop = &EnergyLoop{Violation: "no loop of its searches was timed"}
	}
	rules := []Check{
		rule("The engine's clock accounts for the time of searches",
			LowerQuartile(r.Roots, func(root RootRecord) float64 { return root.Wall - root.Time - root.Time/20 }), r.Cost.Call,
			"what a call took more than the engine says and 5 %, at the lower quartile"),
		rule("The host's clock confirms the engine's", loop.Each, loop.Single*maxSlower,
			"a search in a loop on the host's clock, at the lower quartile"),
		rule("The engine's clock accounts for the time of kernel 1", r.ConstructWall-kernel1,
			r.Cost.Kernel1+kernel1/4+kernel1Delay, "what kernel 1 took more than the engine says"),
		rule("Nothing goes on after a call has returned", after, maxAfter*searches,
			"processor time of the engine while its searches were validated and it was stopped"),
	}
	if loop.Violation != "" {
		rules[1].Holds, rules[1].Detail = false, loop.Violation
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
	for _, c := range r.clockRules() {
		if !c.Holds {
			return c.Rule + ": " + c.Detail
		}
	}
	return ""
}
