package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Every power figure has a scope and a method, and a report shows both with the number: the power of one GPU is not
// that of a system, and an estimate is not a measurement.

func energyPart(runs []Run, references []Reference) Part {
	all := seriesOf(runs, func(r Run) bool { return len(r.PowerFigures()) > 0 })
	return Part{
		Title: "Energy: search rate per watt", Table: energyTable(runs), Folded: []Table{metersTable(runs)}, Wide: true,
		TableOnly: true,
		Figures:   append([]Figure{perWattBars(all), perWattOverScale(all, references)}, powerFigures(runs)...),
		Explanation: "The rate of a loop of searches over the mean power of the same interval. Power that a meter does not " +
			"cover is not in its watts: component power is not system power.",
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

const energyNote = "Rate of the energy loop over its mean power. Component power (gpu, package, dram) leaves out the " +
	"rest of the machine and is not system power."

// perWattBars draws rates per watt with idle power and above idle, and the joules of a search, of each engine at its
// largest scale.
func perWattBars(all []runSeries) Figure {
	f := Figure{Name: "mteps-per-watt", Title: "Search rate per watt, and joules of a search, of each engine",
		Width: fullWidth}
	f.note(energyNote + " ± bounds the error that sampling adds; the sensor’s own error is not in it.")
	all = limited(&f, all, maxRows, "engines, each at its largest scale; the table has all")
	titles := []string{"MTEPS per watt", "MTEPS per watt above idle", "Joules of a search"}
	bars := make([][]barRow, len(titles))
	for _, s := range all {
		r := s.runs[len(s.runs)-1]
		p, _ := r.PowerFigure()
		add := func(k int, value, relative *float64) {
			if value != nil && relative != nil && Finite(*value, *relative) {
				bars[k] = append(bars[k], barRow{fmt.Sprintf("%s, %s: %s", r.scaleName(), kindOfPower(p), p.Label()),
					[]float64{*value}, units.Significant(*value, 3) + " ± " + units.Significant(*value**relative, 2)})
			}
		}
		add(0, &p.MTEPSPerWatt, &p.Uncertainty)
		add(1, p.MTEPSPerWattOverIdle, p.UncertaintyOverIdle)
		add(2, &p.JoulesPerSearch, &p.Uncertainty)
	}
	for k, title := range titles {
		if len(bars[k]) > 0 {
			f.Panels = append(f.Panels, barPanel(title, bars[k], looks(k).Color))
		}
	}
	return f
}

// perWattOverScale draws MTEPS/W over the size of the graph, and published ones next to them, if an engine has two
// scales or something was published. A line is one engine and one kind of power.
func perWattOverScale(all []runSeries, references []Reference) Figure {
	others := published(references, func(r ReferenceRow) (mean, low, high float64) { return r.MTEPSPerWatt, 0, 0 })
	var lines []curve
	several := len(others) > 0
	for _, s := range all {
		for _, r := range s.runs {
			p, _ := r.PowerFigure()
			name := r.Label + " (" + kindOfPower(p) + ": " + p.Label() + ")"
			i := slices.IndexFunc(lines, func(c curve) bool { return c.label == name })
			if i < 0 {
				i = len(lines)
				lines = append(lines, curve{label: name, look: looks(i)})
			}
			lines[i].points = append(lines[i].points, Point{float64(r.Scale), p.MTEPSPerWatt})
			several = several || len(lines[i].points) > 1
		}
	}
	if !several || len(lines) == 0 {
		return Figure{}
	}
	f := Figure{Name: "mteps-per-watt-over-scale", Title: "Search rate per watt over the size of the graph",
		Width: fullWidth, Legend: legend(lines)}
	f.note(energyNote + " Idle power included.")
	panel, scales, values := Panel{Height: 3.2}, scalesOf(all), newSpan()
	addPublished(&f, &panel, others, &scales, &values)
	for _, c := range lines {
		for _, p := range c.points {
			values.add(p.Y)
		}
		panel.Shapes = append(panel.Shapes, c.draw()...)
	}
	panel.X, panel.Y = scaleAxis(scales), valueAxis("MTEPS per watt", values)
	f.Panels = []Panel{panel}
	return f
}

// energyTable has a line for each power figure, and one that gives the reason for each run without.
func energyTable(runs []Run) Table {
	t := newTable("engine|#scale|power of|kind|method|#watts|#idle watts|#MTEPS/W|#± %|#MTEPS/W above idle|#± %|"+
		"#J per search|#loop|#searches",
		"MTEPS/W is the rate of the energy loop over the mean power of that same interval, idle power included; above idle, "+
			"the power of the idle baseline is subtracted. ± bounds the error that sampling adds; the error of the sensor "+
			"itself is not in it. Component power is not system power: it leaves out what the meter does not cover.")
	percent := func(x float64) string { return units.Significant(x*100, 2) }
	for _, r := range runs {
		if r.Energy == nil {
			continue
		}
		figures := r.PowerFigures()
		if len(figures) == 0 {
			row := slices.Concat([]string{r.Label, strconv.Itoa(r.Scale), r.noFigure(), "", ""},
				slices.Repeat([]string{Missing}, 9))
			t.add(row...)
		}
		for _, f := range figures {
			loop := r.Energy.Loop
			t.add(r.Label, strconv.Itoa(r.Scale), Name(f.Of), kindOfPower(f), string(f.Method), units.Significant(f.Watts, 4),
				optional(f.IdleWatts, digits(4)), units.Significant(f.MTEPSPerWatt, 4), percent(f.Uncertainty),
				optional(f.MTEPSPerWattOverIdle, digits(4)), optional(f.UncertaintyOverIdle, percent),
				units.Significant(f.JoulesPerSearch, 4), units.Seconds(loop.Elapsed), units.Integer(loop.Searches))
		}
	}
	return t
}

// metersTable has what every meter of a run showed, used or not.
func metersTable(runs []Run) Table {
	t := newTable("engine|#scale|meter|scope|method|reads|#joules in the loop|#± J|#coverage|#longest gap|#updates|"+
		"#reading took|used",
		"Joules are those of the loop, from the counter where there is one, otherwise by the trapezoidal rule over the "+
			"samples. Coverage is the part of the loop between usable samples.")
	t.Name = "Meters"
	for _, r := range runs {
		if r.Energy == nil {
			continue
		}
		for _, m := range r.Energy.Meters {
			row := []string{r.Label, strconv.Itoa(r.Scale), Name(m.Meter.Name), string(m.Meter.Scope), string(m.Meter.Method),
				string(m.Meter.Quantity)}
			if l := m.Loop; l != nil {
				row = append(row, units.Significant(float64(l.Joules), 5), units.Significant(float64(l.Uncertainty), 2),
					units.Significant(l.Coverage*100, 4)+" %", units.Duration(l.LargestGap), strconv.Itoa(l.Updates))
			} else {
				row = append(row, slices.Repeat([]string{Missing}, 5)...)
			}
			used := Joined("; ", map[bool]string{true: "yes", false: "no: " + Sentence(m.Why)}[m.Used], Sentence(m.NoLoop))
			if len(m.Faults) > 0 {
				used += "; " + Sentence(m.Faults[0].Text)
			}
			t.add(append(row, units.Seconds(m.ReadTime), used)...)
		}
	}
	return t
}
