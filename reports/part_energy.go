package reports

import (
	"fmt"
	"slices"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Every power figure has a scope and a method, and a report shows both with the number: the power of one GPU is not
// that of a system, and an estimate is not a measurement.

func energyPart(runs []Run, references []Reference) Part {
	metered := meteredRuns(runs)
	figures := []Figure{perWattFigure(metered, references), graphsFigure(metered, references, perWattOnGraphs())}
	return Part{
		Title: "Energy: search rate per watt", Table: energyTable(runs), Wide: true, TableOnly: true,
		Figures:     append(figures, powerFigures(runs)...),
		Explanation: "The rate of a loop of searches over the mean power of the same interval, idle power included.",
	}
}

// PowerFigures are the figures of a run that may be shown; none where a search was found wrong.
func (r Run) PowerFigures() []record.PowerFigure {
	if r.Energy == nil || r.Verdict().Grade == Wrong {
		return nil
	}
	var out []record.PowerFigure
	for _, f := range r.Energy.Figures {
		if Finite(f.MTEPSPerWatt, f.Watts, f.Joules) && f.MTEPSPerWatt > 0 {
			out = append(out, f)
		}
	}
	return out
}

// PowerFigure is the figure to show where there is room for one.
func (r Run) PowerFigure() (record.PowerFigure, bool) {
	if len(r.PowerFigures()) == 0 {
		return record.PowerFigure{}, false
	}
	return r.Energy.Headline()
}

// PerWatt is the measured figure for a narrow column: the number and what power it is of. Without one it is Missing.
func (r Run) PerWatt() string {
	f, found := r.PowerFigure()
	if !found || f.Method != power.Measured {
		return Missing
	}
	return units.Significant(f.MTEPSPerWatt, 4) + " " + f.Label()
}

// kindOfPower tells system power from component power.
func kindOfPower(f record.PowerFigure) string {
	if f.System {
		return "system"
	}
	return "component"
}

// ShowedNothing follows the name of a meter that was read all the time and showed no energy.
const ShowedNothing = " showed 0 J over the whole loop, so it measured nothing"

// noFigure says why a run with an energy loop has no figure.
func (r Run) noFigure() string {
	if v := r.Verdict(); v.Grade == Wrong {
		return v.Why
	}
	return Sentence(r.Compliance.Power)
}

// meteredRuns are the runs with a power figure; their names say what power it is of.
func meteredRuns(runs []Run) (out []Run) {
	for _, r := range runs {
		if p, found := r.PowerFigure(); found {
			r.Label += " (" + kindOfPower(p) + ": " + p.Label() + ")"
			out = append(out, r)
		}
	}
	return out
}

// mtepsPerWatt is the figure of a metered run.
func mtepsPerWatt(r Run) float64 {
	p, _ := r.PowerFigure()
	return p.MTEPSPerWatt
}

const perWattNote = "Rate of the energy loop over its mean power, idle power included. Component power (gpu, " +
	"package, dram) leaves out the rest of the machine and is not system power."

// perWattOnGraphs is the quantity of the figure of MTEPS/W over graphs.
func perWattOnGraphs() graphQuantity {
	return graphQuantity{
		figure: "mteps-per-watt-over-graphs", title: "Search rate per watt on each graph, for each engine",
		axis: "MTEPS per watt", note: perWattNote, measured: mtepsPerWatt,
		published: func(r ReferenceRow) float64 { return r.MTEPSPerWatt },
	}
}

// perWattFigure draws MTEPS/W over the size of the graph, and published ones next to them. A line is one engine and
// one kind of power.
func perWattFigure(metered []Run, references []Reference) Figure {
	all := seriesOf(metered, func(r Run) bool { return r.Source == "" })
	if len(all) == 0 {
		return Figure{}
	}
	f := Figure{Name: "mteps-per-watt", Title: "Search rate per watt over the size of the graph"}
	f.note(perWattNote)
	panel, scales, values := Panel{Height: 3.2}, scalesOf(all), newSpan()
	watts := func(r ReferenceRow) (mean, low, high float64) { return r.MTEPSPerWatt, 0, 0 }
	addPublished(&f, &panel, published(references, watts), 0.08, &scales, &values)
	var lines []curve
	for _, s := range all {
		line := s.overScales(mtepsPerWatt)
		for _, p := range line.points {
			values.add(p.Y)
		}
		lines, panel.Shapes = append(lines, line), append(panel.Shapes, line.draw()...)
	}
	f.Legend = append(legend(lines), f.Legend...)
	panel.X, panel.Y = scaleAxis(scales), valueAxis("MTEPS per watt", values)
	f.Panels = []Panel{panel}
	return f
}

// energyTable has a line for each power figure, and one that gives the reason for each run without.
func energyTable(runs []Run) Table {
	t := NewRunTable(runs, Run.On, "power of|kind|method|#watts|#idle watts|#MTEPS/W|#± %|"+
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
		figures := r.PowerFigures()
		if len(figures) == 0 {
			row := slices.Concat([]string{r.Label, r.graphCell(), r.noFigure(), "", ""},
				slices.Repeat([]string{Missing}, 9))
			t.Add(row...)
		}
		for _, f := range figures {
			loop := r.Energy.Loop
			t.Add(r.Label, r.graphCell(), Name(f.Of), kindOfPower(f), string(f.Method), four(f.Watts),
				optional(f.IdleWatts, four), four(f.MTEPSPerWatt), percent(f.Uncertainty),
				optional(f.MTEPSPerWattOverIdle, four), optional(f.UncertaintyOverIdle, percent),
				four(f.JoulesPerSearch), units.Seconds(loop.Elapsed), units.Integer(loop.Searches))
		}
	}
	return t
}

// meterFacts are what every meter of the energy loop showed, and why it was not used.
func (r Run) meterFacts() Table {
	t := newFacts("Meters")
	if r.Energy == nil {
		return t
	}
	for _, m := range r.Energy.Meters {
		texts := []string{string(m.Meter.Method) + " " + string(m.Meter.Quantity) + " of " + string(m.Meter.Scope)}
		if l := m.Loop; l != nil {
			texts = append(texts, fmt.Sprintf("%s J ± %s J over %s %% of the loop in %d updates",
				units.Significant(float64(l.Joules), 5), units.Significant(float64(l.Uncertainty), 2),
				units.Significant(l.Coverage*100, 4), l.Updates))
		}
		if !m.Used {
			texts = append(texts, "not used: "+Sentence(m.Why))
		}
		if texts = append(texts, Sentence(m.NoLoop)); len(m.Faults) > 0 {
			texts = append(texts, Sentence(m.Faults[0].Text))
		}
		t.fact(Name(m.Meter.Name), Joined("; ", texts...))
	}
	return t
}
