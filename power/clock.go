// SPDX-License-Identifier: Apache-2.0

package power

import "time"

// Moment is one look at the clock of another host.
type Moment struct {
	Here  time.Time     // in the middle of the call that asked for the time
	There time.Time     // the answer
	Error time.Duration // bound on the distance of the two: half of the time that the call took
}

// Clock compares the clock of another host with the one of this host, over the time of a recording.
type Clock struct {
	Offset time.Duration `json:"offset_ns"` // of the other clock at the start, in front of this one
	Drift  float64       `json:"drift"`     // seconds that the other clock gains in a second
	Error  time.Duration `json:"error_ns"`  // bound on the error of times, for a constant drift
}

// Align converts the times of a recording from the clock of another host to the one of this host. The clocks were
// compared before and after the recording.
func (s *Series) Align(before, after Moment) {
	here, there := after.Here.Sub(before.Here).Seconds(), after.There.Sub(before.There).Seconds()
	s.Clock = &Clock{before.There.Sub(before.Here), there/here - 1, max(before.Error, after.Error)}
	for i, r := range s.Readings {
		passed := time.Duration(float64(r.Time.Sub(before.There)) * here / there)
		s.Readings[i].Time, s.Readings[i].Window = before.Here.Add(passed), r.Window+2*s.Clock.Error
	}
}
