// SPDX-License-Identifier: Apache-2.0

package record

import (
	"time"

	"github.com/tepsbench/teps/power"
)

// Curve is the energy that a meter has shown since its first sample, at maxPoints of the samples or fewer. The energy
// between any two points is exact.
type Curve struct {
	At     []time.Duration `json:"at_ns,omitempty"`
	Joules []float64       `json:"joules,omitempty"`
	Breaks []int           `json:"breaks,omitempty"` // indices of points before which some energy is unknown
	Of     int             `json:"of"`               // number of samples
}

const maxPoints = 1200

// newCurve integrates the samples, and keeps some of them: the last, and others that are some time apart. Of a counter,
// those that did not change are left out, because repeated values depend on how often it was read.
func newCurve(s power.Series, start time.Time) Curve {
	n := len(s.Readings)
	c := Curve{Of: n}
	joules, broken := 0.0, false // broken: some energy after the last point is not known
	for i, sample := range s.Readings {
		at := sample.Time.Sub(start)
		if last := len(c.At) - 1; last >= 0 {
			before := s.Readings[i-1]
			switch {
			case sample.Break:
				broken = true
			case s.Info.Quantity == power.Power:
				joules += (before.Value + sample.Value) / 2 * sample.Time.Sub(before.Time).Seconds()
			default:
				joules += sample.Value - before.Value
			}
			apart := s.Readings[n-1].Time.Sub(s.Readings[0].Time) / (maxPoints - 2)
			same := s.Info.Quantity == power.Energy && joules == c.Joules[last]
			if i < n-1 && (same || at-c.At[last] < apart) {
				continue
			}
		}
		if broken {
			c.Breaks = append(c.Breaks, len(c.At))
		}
		c.At, c.Joules, broken = append(c.At, at), append(c.Joules, joules), false
	}
	return c
}
