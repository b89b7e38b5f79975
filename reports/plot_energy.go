package reports

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// overEnergy draws what the runs say of energy: MTEPS/W of each engine, over the size of the graph where there are
// several, and power over time for each run that was metered.
func overEnergy(p pen, runs []labelled, references []Reference) []*figure {
	var out []*figure
	var with []labelled
	for _, r := range runs {
		if _, found := headlineFigure(r.run); found {
			with = append(with, r)
		}
	}
	if len(with) > 0 {
		out = append(out, perWattBars(p, largestScales(with)))
		if f := perWattOverScale(p, with, publishedWatts(references)); f != nil {
			out = append(out, f)
		}
	}
	return append(out, overTime(p, runs)...)
}

// largestScales keeps the run at its largest scale of every label.
func largestScales(runs []labelled) (out []labelled) {
	for _, r := range runs {
		i := slices.IndexFunc(out, func(o labelled) bool { return o.label == r.label })
		switch {
		case i < 0:
			out = append(out, r)
		case out[i].run.Scale < r.run.Scale:
			out[i] = r
		}
	}
	return out
}

const energyNote = "Rate of the energy loop over its mean power. Component power (gpu, package, dram) leaves out the rest of the machine and is no system power."

// perWattBars draws two bars a run, with idle power and above idle, and below them the joules of a search. Whiskers bound
// what sampling adds.
func perWattBars(p pen, runs []labelled) *figure {
	total := len(runs)
	runs = runs[:min(total, mostBars)]
	s := stacks{look: func(part int) color.Color { return []color.Color{looks(0).line, looks(0).area}[part] }, width: 0.32}
	joules := stacks{look: func(int) color.Color { return looks(1).line }, width: 0.4}
	w, jw := whiskers{}, whiskers{}
	var ticks plot.ConstantTicks
	above := false
	for i, r := range runs {
		f, _ := headlineFigure(r.run)
		at := float64(i)
		ticks = append(ticks, plot.Tick{Value: at, Label: breakName(r.label+", s"+strconv.Itoa(r.run.Scale), len(runs)) + "\n" + kindOfPower(f) + ": " + breakName(f.Label(), len(runs))})
		s.at, s.parts = append(s.at, at-0.18), append(s.parts, []float64{f.MTEPSPerWatt})
		w.add(at-0.18, f.MTEPSPerWatt, f.Uncertainty)
		if finite(f.JoulesPerSearch) {
			joules.at, joules.parts = append(joules.at, at), append(joules.parts, []float64{f.JoulesPerSearch})
			jw.add(at, f.JoulesPerSearch, f.Uncertainty)
		}
		if f.MTEPSPerWattOverIdle != nil && f.UncertaintyOverIdle != nil && finite(*f.MTEPSPerWattOverIdle, *f.UncertaintyOverIdle) {
			above = true
			s.at, s.parts = append(s.at, at+0.18), append(s.parts, []float64{0, *f.MTEPSPerWattOverIdle})
			w.add(at+0.18, *f.MTEPSPerWattOverIdle, *f.UncertaintyOverIdle)
		}
	}
	last := float64(len(runs) - 1)
	rates, costs := p.bars("MTEPS per watt", s, ticks, last), p.bars("Joules of a search", joules, ticks, last)
	for _, b := range []struct {
		plot *plot.Plot
		whiskers
	}{{rates, w}, {costs, jw}} {
		b.plot.Y.Max = max(b.plot.Y.Max, b.highest()*1.04)
		b.plot.Add(b.whiskers)
	}
	f := &figure{
		name: "mteps-per-watt", title: "Search rate per watt, and joules of a search, of each engine", width: figureWidth, height: 4.8 * vg.Inch, pen: p,
		plots: []*plot.Plot{rates, costs}, notes: []string{energyNote, "Whiskers bound what sampling adds; the sensor’s own error is not in them."},
		legend: []entry{colorEntry("idle power included", looks(0).line)},
	}
	if len(runs) < total {
		f.notes = append(f.notes, fmt.Sprintf("The first %d of %d engines, each at its largest scale; the table has all.", len(runs), total))
	}
	if above {
		f.legend = append(f.legend, colorEntry("above idle", looks(0).area))
	}
	return f
}

// whiskers draws bounds around values.
type whiskers struct{ at, low, high []float64 }

func (w *whiskers) add(at, value, relative float64) {
	w.at = append(w.at, at)
	w.low, w.high = append(w.low, max(value*(1-relative), 0)), append(w.high, value*(1+min(relative, 1)))
}

func (w whiskers) highest() (top float64) {
	for _, v := range w.high {
		top = max(top, v)
	}
	return top
}

func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: ink, Width: 0.8}
	for i, at := range w.at {
		middle, low, high := x(at), y(w.low[i]), y(w.high[i])
		c.StrokeLine2(style, middle, low, middle, high)
		c.StrokeLine2(style, middle-3, low, middle+3, low)
		c.StrokeLine2(style, middle-3, high, middle+3, high)
	}
}

// perWattOverScale draws MTEPS/W over the size of the graph, and published ones beside them; nil where no engine has two
// scales and nothing is published. A line is one engine and one kind of power: where the kind changes between scales, there
// are two.
func perWattOverScale(p pen, runs []labelled, elsewhere []publishedSeries) *figure {
	type line struct {
		name   string
		values map[int]float64
	}
	var lines []*line
	first, last, lowest, highest, several := 1<<30, -1<<30, math.Inf(1), 0.0, len(elsewhere) > 0
	for _, r := range runs {
		f, _ := headlineFigure(r.run)
		name := r.label + " (" + kindOfPower(f) + ": " + f.Label() + ")"
		i := slices.IndexFunc(lines, func(l *line) bool { return l.name == name })
		if i < 0 {
			i = len(lines)
			lines = append(lines, &line{name, map[int]float64{}})
		}
		lines[i].values[r.run.Scale] = f.MTEPSPerWatt
		several = several || len(lines[i].values) > 1
		first, last = min(first, r.run.Scale), max(last, r.run.Scale)
		lowest, highest = min(lowest, f.MTEPSPerWatt), max(highest, f.MTEPSPerWatt)
	}
	if !several {
		return nil
	}
	first, last, lowest, highest = bounds(elsewhere, first, last, lowest, highest)
	out := p.plot("Number of vertices", "MTEPS per watt")
	m := measure{max: highest * 1.08}
	if len(elsewhere) > 0 {
		m = measureOf(lowest, highest)
	}
	m.fit(&out.Y)
	out.X.Min, out.X.Max = float64(first)-0.5, float64(last)+0.5
	out.X.Tick.Marker = scaleTicks(first, last)
	out.Add(gridLines{y: true})
	f := &figure{
		name: perWattFigure, title: "Search rate per watt over the size of the graph", width: figureWidth, height: 3.2 * vg.Inch, pen: p,
		plots: []*plot.Plot{out}, notes: []string{energyNote + " Idle power included."},
	}
	grey := drawPublished(p, out, m, elsewhere)
	for i, l := range lines {
		out.Add(valuesOverScale{looks(i), m, l.values})
		f.legend = append(f.legend, seriesEntry(l.name, looks(i)))
	}
	if len(elsewhere) > 0 {
		f.height += 1.2 * vg.Inch
		f.legend = append(f.legend, grey...)
		f.notes = append(f.notes, publishedNote)
	}
	return f
}

const perWattFigure = "mteps-per-watt-over-scale"

// valuesOverScale draws a value of each scale, joined by a line.
type valuesOverScale struct {
	look    look
	measure measure
	values  map[int]float64
}

func (v valuesOverScale) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for scale := int(p.X.Min); float64(scale) <= p.X.Max; scale++ {
		if value, known := v.values[scale]; known {
			line = append(line, vg.Point{X: x(float64(scale)), Y: y(v.measure.at(value))})
		}
	}
	if len(line) > 1 {
		c.StrokeLines(draw.LineStyle{Color: v.look.line, Width: 1.4, Dashes: v.look.dashes}, line)
	}
	for _, at := range line {
		mark(c, v.look, at, false)
	}
}
