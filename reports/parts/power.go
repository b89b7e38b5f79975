// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"slices"

	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

const maxPowerLines = 8 // meters in a figure

// powerFigures draw power over time for every run that was metered.
func powerFigures(runs []reports.Summary) []reports.Figure {
	var out []reports.Figure
	taken := map[string]bool{}
	for _, r := range runs {
		if r.Energy == nil || r.Energy.Loop == nil {
			continue
		}
		f := powerFigure(r)
		f.Name = reports.Unique(taken, fmt.Sprintf("power-%s-%s", reports.FileName(r.Engine.Name), graphFile(r)), "-")
		out = append(out, f)
	}
	return out
}

// powerFigure draws the meters of one run: those that were used, or all where none was.
func powerFigure(r reports.Summary) reports.Figure {
	e := r.Energy
	used := slices.ContainsFunc(e.Meters, func(m record.Metered) bool { return m.Used })
	f := reports.Figure{Title: fmt.Sprintf("Power over time, %s %s", r.Label, r.AtGraph())}
	f.Note("Mean power between two updates of a meter. Before the loop the engine holds its graph and is idle. After " +
		"the loop come validated searches.")
	meters := slices.DeleteFunc(slices.Clone(e.Meters), func(m record.Metered) bool {
		return m.Used != used || len(m.Curve.At) < 2 || len(m.Curve.At) != len(m.Curve.Joules)
	})
	var shapes []reports.Shape
	watts := newSpan()
	for i, m := range limited(&f, meters, maxPowerLines, "meters; the table has all") {
		look := reports.Looks(i)
		if m.Meter.Method != power.Measured {
			look.Broken = true
		}
		key := reports.Key{Label: fmt.Sprintf("%s (%s, %s)", reports.Name(m.Meter.Name), m.Meter.Scope, m.Meter.Method),
			Look: look}
		shapes = append(shapes, powerLine(m, key, &watts)...)
		f.Legend = append(f.Legend, key)
	}
	if watts.empty() {
		return reports.Figure{}
	}
	panel := reports.Panel{Height: 3, X: reports.Axis{Title: "Time from the start of the loop (s)", Max: e.Loop.Elapsed},
		Y: linearAxis("Power (W)", watts.high*1.12)}
	for _, phase := range e.Phases {
		panel.X.Min, panel.X.Max = min(panel.X.Min, phase.From.Seconds()), max(panel.X.Max, phase.To.Seconds())
	}
	panel.Shapes = append(phaseBands(e.Phases, panel.Y.Max), shapes...)
	f.Panels = []reports.Panel{panel}
	return f
}

// powerLine draws the slopes of a meter's curve: mean power between two moments. Where energy is not known there is a
// gap.
func powerLine(m record.Metered, key reports.Key, watts *span) []reports.Shape {
	var out []reports.Shape
	var points []reports.Point
	flush := func() {
		if len(points) > 1 {
			out = append(out, reports.Line{Points: points, Color: key.Look.Color, Width: 0.9, Broken: key.Look.Broken,
				About: reports.About{Key: key.Label}})
		}
		points = nil
	}
	c := m.Curve
	for i := 1; i < len(c.At); i++ {
		from, to := c.At[i-1].Seconds(), c.At[i].Seconds()
		w := (c.Joules[i] - c.Joules[i-1]) / (to - from)
		// A counter that was read last between two of its updates has not stood still: the next update was not waited for.
		unfinished := i == len(c.At)-1 && m.Meter.Quantity == power.Energy && w == 0
		if to <= from || !reports.Finite(w) || w < 0 || unfinished || slices.Contains(c.Breaks, i) {
			flush()
			continue
		}
		watts.add(w)
		points = append(points, xy(from, w), xy(to, w))
	}
	flush()
	return out
}

// phaseBands shade the loop, and name every phase that has room for its name.
func phaseBands(phases []record.EnergyPhase, top float64) []reports.Shape {
	var out []reports.Shape
	for _, phase := range phases {
		from, to := phase.From.Seconds(), phase.To.Seconds()
		if phase.Name == record.PhaseLoop {
			out = append(out, reports.Bar{At: (from + to) / 2, Half: (to - from) / 2, To: top,
				Color: reports.Faint().Fade(0x18)})
		}
		out = append(out, reports.Line{Points: []reports.Point{xy(to, 0), xy(to, top)}, Color: reports.Faint(), Width: 0.5},
			reports.Text{At: xy(from, top), Text: reports.Clean(phase.Name, 12), Color: reports.Faint(), Size: 8,
				Left: true, Room: to - from, DX: 3, DY: -10})
	}
	return out
}
