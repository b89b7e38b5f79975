// Package statistics holds the tests and intervals with which two sets of measurements are compared. It knows nothing of
// searches and records: its input are numbers, and its answers are shifts between them.
//
// Tests and intervals that belong together are inversions of each other: the interval of confidence 1-alpha holds zero if
// and only if the test's p is at least alpha (up to ties).
package statistics

import "math"

// Interval is an estimate with bounds that hold the true value with the confidence that was asked for. Bounds that a sample
// is too small for are infinite.
type Interval struct{ Estimate, Low, High float64 }

// Exp turns an interval of logarithms into one of ratios.
func (x Interval) Exp() Interval {
	return Interval{math.Exp(x.Estimate), math.Exp(x.Low), math.Exp(x.High)}
}

// Negative turns an interval of b-a into one of a-b.
func (x Interval) Negative() Interval { return Interval{-x.Estimate, -x.High, -x.Low} }

// Test is a shift with its interval, and the probability of a difference at least as large where there is none.
type Test struct {
	Shift Interval
	P     float64 // two-sided
}

// everything is the interval of a sample that says nothing.
func everything(estimate float64) Interval { return Interval{estimate, math.Inf(-1), math.Inf(1)} }
