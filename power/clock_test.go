// SPDX-License-Identifier: Apache-2.0

package power

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The clock of another host is off by up to days and drifts by up to a tenth. The looks at it are off by up to their
// bounds, and so are the aligned times.
func TestAlignedTimesAreWithinTheirBound(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		offset, drift := (r.Float64()-0.5)*2e5, (r.Float64()-0.5)*0.2
		there := func(seconds float64) time.Time { return moment(seconds*(1+drift) + offset) }
		look := func(seconds float64) Moment {
			bound := 0.01 * r.Float64()
			return Moment{moment(seconds), there(seconds + bound*(2*r.Float64()-1)), time.Duration(bound * 1e9)}
		}
		s := Series{}
		for at := 1.0; at < 11; at += r.Float64() {
			s.Readings = append(s.Readings, Reading{Time: there(at), Value: at, Window: time.Millisecond})
		}
		before, after := look(0.9), look(11.1)
		s.Align(before, after)
		// A bound is in seconds of this host; a look is off by as much in those of the other.
		if allowed := s.Clock.Error.Seconds(); s.Clock.Error != max(before.Error, after.Error) ||
			math.Abs(s.Clock.Offset.Seconds()-offset-0.9*drift) > allowed*(1+drift)+1e-6 ||
			math.Abs(s.Clock.Drift-drift) > 2*allowed*(1+drift)/10.2+1e-6 {
			t.Fatalf("seed %d: clock %+v; want an offset of %g s and a drift of %g", seed, *s.Clock, offset, drift)
		}
		for _, reading := range s.Readings {
			off := reading.Time.Sub(moment(reading.Value)).Abs()
			if reading.Window != time.Millisecond+2*s.Clock.Error || 2*off > reading.Window {
				t.Fatalf("seed %d: a reading is off by %v, and its window is %v", seed, off, reading.Window)
			}
		}
	}
}
