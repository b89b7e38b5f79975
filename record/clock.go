// SPDX-License-Identifier: Apache-2.0

package record

import "fmt"

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
	maxWaited    = 1. / 4  // part of a loop that may wait for processors; a fifth of it, if the loop is too slow
	mayMiss      = 1. / 4  // part of the searches that may differ from the host's clock, because calls are delayed
	mayWait      = 3. / 4  // part of the searches that may do so, if waiting for processors counts
	maxAfter     = 1. / 20 // ratio of processor time after calls to the time of searches
)

const tooBusy = "the machine is too busy for the host to tell: "

// clockRules are the rules of docs/clocks.md: what the engine's clock says must agree with what the host measures. The
// clocks of engines that are part of teps are code of teps.
func (r Run) clockRules() []Check {
	if r.Cost == nil || len(r.Roots) == 0 { // a record of a version before 0.3, or nothing to check
		return nil
	}
	n, apart, waiting, searches, after := float64(len(r.Roots)), 0.0, 0.0, 0.0, 0.0
	for _, root := range r.Roots {
		searches, after = searches+root.Time, after+root.After
		if extra := root.Wall - root.Time - r.Cost.Sum() - root.Time/20; extra > 0 {
			waiting++
			if i := root.Interference; i == nil || extra > i.Waited+i.Stolen {
				apart++
			}
		}
	}
	why := ""
	if apart <= mayMiss*n && waiting > mayWait*n {
		why = tooBusy
	}
	kernel1 := r.Construction.Elapsed.Seconds()
	rest := r.ConstructWall - kernel1
	return []Check{
		{"The engine's clock accounts for the time of searches",
			r.Engine.Builtin != "" || apart <= mayMiss*n && waiting <= mayWait*n,
			why + fmt.Sprintf("%g of %g searches differ from the host's clock by more than 5 %% and the %.4g ms of a call and "+
				"of moving the parents, which the host measured, where %g may on a busy machine; %g by more than waiting "+
				"for processors, too, where %g may", waiting, n, r.Cost.Sum()*1e3, mayWait*n, apart, mayMiss*n)},
		{"The engine's clock accounts for the time of kernel 1", rest <= r.Cost.Kernel1+kernel1/4+kernel1Delay,
			fmt.Sprintf("%.4g s, and %.4g s more on the host's clock, where %.4g s are allowed to map the tuples, 25 %%, and "+
				"%g s for a busy machine, because kernel 1 is not repeated", kernel1, rest, r.Cost.Kernel1, kernel1Delay)},
		r.ClockConfirmed(),
		{"Nothing goes on after a call has returned", after <= maxAfter*searches,
			fmt.Sprintf("the engine used %.4g s of processor time while its searches were validated; it is stopped then",
				after)},
	}
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

// ClockConfirmed reports whether the host's clock confirms the engine's: a loop that the host timed, from roots that
// the engine cannot know, was not slower than the engine's times say. Lower quartiles depend little on other work.
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
	case c.Waited > maxWaited*c.Elapsed, c.Waited > maxWaited/5*c.Elapsed && c.Single < minConfirmed*c.Each:
		check.Detail = tooBusy + fmt.Sprintf("the engine waited for processors in %.4g of the %.4g s of a loop",
			c.Waited, c.Elapsed)
	default:
		check.Holds = c.Single >= minConfirmed*c.Each
		check.Detail = fmt.Sprintf("a search took %.4g ms in a loop on the host's clock, and %.4g ms by itself on the "+
			"engine's, where %g times as much is needed (lower quartiles)", c.Each*1e3, c.Single*1e3, minConfirmed)
	}
	return check
}
