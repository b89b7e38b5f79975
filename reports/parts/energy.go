// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func energy(runs []reports.Summary, references []reports.Reference) reports.Part {
	perWatt := quantity{"MTEPS per watt", func(r reports.Summary) float64 {
		p, _ := r.PowerFigure()
		return p.MTEPSPerWatt
	}, false, func(r reports.ReferenceRow) (mean, low, high float64) { return r.MTEPSPerWatt, 0, 0 }}
	const note = "Rate of the energy loop over its mean power, idle power included. Component power (gpu, package, " +
		"dram) leaves out the rest of the machine and is not system power."
	overScales := reports.Figure{Name: "mteps-per-watt", Title: "Search rate per watt over the size of the graph",
		Notes: []string{note}}
	overGraphs := reports.Figure{Name: "mteps-per-watt-over-graphs",
		Title: "Search rate per watt on each graph, for each engine",
		Notes: []string{note + " Depth: mean of the largest levels."}}
	metered := meteredRuns(runs)
	missing := missingPowers(metered)
	overScales.Note(missing)
	overGraphs.Note(missing)
	several := slices.ContainsFunc(runs, func(r reports.Summary) bool { return r.Repeats[0].ID != runs[0].Repeats[0].ID })
	table := energyTable(runs, several)
	if len(metered) > 0 {
		table.Note += " " + missing
	}
	figures := []reports.Figure{scaleFigure(overScales, metered, references, perWatt),
		graphsFigure(overGraphs, metered, references, perWatt)}
	if !several { // a report of one record shows each meter
		figures = append(figures, powerFigures(runs)...)
	}
	return reports.Part{
		Title: "Energy: search rate per watt", Table: table, TableOnly: true, Figures: figures,
		Explanation: "The rate of a loop of searches over the mean power of the same interval, idle power included.",
	}
}

func kindOfPower(f record.PowerFigure) string {
	if f.System {
		return "system"
	}
	return "component"
}

// missingPowers says how many runs lack the power of the processor, the node or the wall. MTEPS/W of architectures can
// be compared only if they are of the same kind of power.
func missingPowers(runs []reports.Summary) string {
	var missing []string
	for _, p := range []struct {
		name  string
		scope power.Scope
	}{{"CPU", power.Package}, {"node", power.Node}, {"wall", power.Wall}} {
		n := 0
		for _, r := range runs {
			if !slices.ContainsFunc(r.PowerFigures(), func(f record.PowerFigure) bool {
				return f.Method == power.Measured && f.Scope == p.scope
			}) {
				n++
			}
		}
		if n > 0 {
			missing = append(missing, fmt.Sprintf("%d without %s power", n, p.name))
		}
	}
	if len(missing) == 0 {
		return "Every run has CPU, node and wall power."
	}
	return fmt.Sprintf("Of %s: %s.", reports.Plural(len(runs), "metered run", "metered runs"), strings.Join(missing, ", "))
}

// meteredRuns are the runs with a power figure; their names say what power it is of.
func meteredRuns(runs []reports.Summary) (out []reports.Summary) {
	for _, r := range runs {
		if p, found := r.PowerFigure(); found {
			r.Label += " (" + kindOfPower(p) + ": " + p.Label() + ")"
			out = append(out, r)
		}
	}
	return out
}

// energyTable has all figures of each run, or with one only that of the most power.
func energyTable(runs []reports.Summary, one bool) reports.Table {
	t := reports.NewRunTable(runs, "engine|graph|power of|kind|method|#watts|#idle watts|#MTEPS/W|#± %|"+
		"#MTEPS/W above idle|#± %|#J per search|#loop|#searches",
		"MTEPS/W is the rate of the energy loop over the mean power of that same interval, idle power included; above idle, "+
			"the power of the idle baseline is subtracted. ± bounds the error that sampling adds; the error of the sensor "+
			"itself is not in it. Component power is not system power: it leaves out what the meter does not cover.")
	percent := func(x float64) string { return units.Significant(x*100, 2) }
	four := func(x float64) string { return units.Significant(x, 4) }
	for _, r := range runs {
		if r.Energy == nil {
			continue
		}
		figures, why := r.PowerFigures(), reports.Sentence(r.Compliance.Power)
		if v := r.Verdict(); v.Grade == reports.Wrong {
			why = v.Why
		}
		if len(figures) == 0 {
			t.Add(slices.Concat([]string{r.Label, r.GraphCell(), why, "", ""},
				slices.Repeat([]string{reports.Missing}, 9))...)
		}
		if f, found := r.PowerFigure(); one && found {
			figures = []record.PowerFigure{f}
		}
		for _, f := range figures {
			loop := r.Energy.Loop
			t.Add(r.Label, r.GraphCell(), reports.EngineName(f.Of), kindOfPower(f), string(f.Method), four(f.Watts),
				reports.Optional(f.IdleWatts, four), four(f.MTEPSPerWatt), percent(f.Uncertainty),
				reports.Optional(f.MTEPSPerWattOverIdle, four), reports.Optional(f.UncertaintyOverIdle, percent),
				four(f.JoulesPerSearch), units.Seconds(loop.Elapsed), units.Integer(loop.Searches))
		}
	}
	return t
}

const maxPowerLines = 8 // meters in a figure

func powerFigures(runs []reports.Summary) []reports.Figure {
	var out []reports.Figure
	taken := map[string]bool{}
	for _, r := range runs {
		if r.Energy != nil && r.Energy.Loop != nil {
			f := powerFigure(r)
			f.Name = reports.Unique(taken, "power-"+reports.FileName(r.Engine.Name)+"-"+graphFile(r), "-")
			out = append(out, f)
		}
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
		key := reports.Key{Look: reports.Looks(i),
			Label: fmt.Sprintf("%s (%s, %s)", reports.Sentence(m.Meter.Name), m.Meter.Scope, m.Meter.Method)}
		key.Look.Broken = m.Meter.Method != power.Measured
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

// powerLine draws the slopes of a meter's curve, mean powers, with a gap where energy is not known.
func powerLine(m record.Metered, key reports.Key, watts *span) []reports.Shape {
	var out []reports.Shape
	line := reports.Line{Color: key.Look.Color, Width: 0.9, Broken: key.Look.Broken, About: reports.About{Key: key.Label}}
	flush := func() {
		if len(line.Points) > 1 {
			out = append(out, line)
		}
		line.Points = nil
	}
	c := m.Curve
	for i := 1; i < len(c.At); i++ {
		from, to := c.At[i-1].Seconds(), c.At[i].Seconds()
		w := (c.Joules[i] - c.Joules[i-1]) / (to - from)
		// The recording did not wait for the next update of a counter.
		unfinished := i == len(c.At)-1 && m.Meter.Quantity == power.Energy && w == 0
		if to <= from || w < 0 || unfinished || slices.Contains(c.Breaks, i) {
			flush()
			continue
		}
		watts.add(w)
		line.Points = append(line.Points, xy(from, w), xy(to, w))
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
