package harness

import (
	"time"

	"github.com/tepsbench/teps/power"
)

// mostKept bounds the samples of a meter in a record.
const mostKept = 1200

// metered makes the record of what a meter has shown. start is that of the loop.
func metered(s power.Series, start time.Time, phases []EnergyPhase) Metered {
	m := Metered{Meter: s.Info, Period: s.Period, ReadTime: s.ReadTime.Seconds(), ProcessorTime: s.ProcessorTime.Seconds(), Curve: curve(s, start)}
	for _, f := range s.Faults {
		m.Faults = append(m.Faults, MeterFault{f.Time.Sub(start), f.Text, f.Count})
	}
	for _, p := range phases {
		amount, err := s.Energy(start.Add(p.From), start.Add(p.To))
		switch {
		case p.Name == PhaseIdle && err != nil:
			m.NoIdle = err.Error()
		case p.Name == PhaseIdle:
			m.Idle = &amount
		case p.Name == PhaseLoop && err != nil:
			m.NoLoop = err.Error()
		case p.Name == PhaseLoop:
			m.Loop = &amount
		}
	}
	return m
}

// curve adds a series up and leaves samples out, evenly, until it is short enough. Of a counter only updates count: that
// it shows the same again says how often it was read.
func curve(s power.Series, start time.Time) Curve {
	c := Curve{Of: len(s.Samples)}
	joules := 0.0
	broken := false
	var points []point
	for i, sample := range s.Samples {
		broken = broken || sample.Break
		if i > 0 && !sample.Break {
			before := s.Samples[i-1]
			if s.Info.Quantity == power.Power {
				joules += (before.Value + sample.Value) / 2 * sample.Time.Sub(before.Time).Seconds()
			} else {
				joules += sample.Value - before.Value
			}
			if s.Info.Quantity == power.Energy && sample.Value == before.Value && i < len(s.Samples)-1 {
				continue
			}
		}
		points = append(points, point{sample.Time.Sub(start), joules, broken && i > 0})
		broken = false
	}
	stride := (len(points) + mostKept - 2) / (mostKept - 1)
	for i, p := range points {
		broken = broken || p.broken
		if i%max(stride, 1) != 0 && i != len(points)-1 {
			continue
		}
		if broken {
			c.Breaks = append(c.Breaks, len(c.At))
		}
		broken = false
		c.At, c.Joules = append(c.At, p.at), append(c.Joules, p.joules)
	}
	return c
}

// point is a sample on its way into a Curve.
type point struct {
	at     time.Duration
	joules float64
	broken bool // energy before it is missing
}
