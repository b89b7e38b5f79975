package reports

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/power"
)

const (
	mostPowerFigures = 12 // one for each run, but not for ever so many
	mostPowerLines   = 8  // meters of a figure
)

// overTime draws power over time for every run that was metered, with the phases marked.
func overTime(p pen, runs []labelled) []*figure {
	var out []*figure
	taken := map[string]bool{}
	left := 0
	for _, r := range runs {
		if r.run.Energy == nil || r.run.Energy.Loop == nil {
			continue
		}
		f := powerFigure(p, r)
		if f == nil {
			continue
		}
		if len(out) == mostPowerFigures {
			left++
			continue
		}
		name := fmt.Sprintf("power-%s-s%d", safeFile(r.run.Engine.Name), r.run.Scale)
		f.name = name
		for n := 2; taken[f.name]; n++ {
			f.name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[f.name] = true
		out = append(out, f)
	}
	if left > 0 {
		last := out[len(out)-1]
		last.notes = append(last.notes, fmt.Sprintf("The first %d of %d metered runs have a drawing like this one; the table has all.", len(out), len(out)+left))
	}
	return out
}

// powerFigure draws the meters of one run: those that were used, or all where none was.
func powerFigure(p pen, r labelled) *figure {
	e := r.run.Energy
	used := false
	for _, m := range e.Meters {
		used = used || m.Used
	}
	f := &figure{
		title: fmt.Sprintf("Power over time, %s at scale %d", r.label, r.run.Scale), width: figureWidth, height: 3 * vg.Inch, pen: p,
		notes: []string{"Mean power between two updates of a meter; the thin line is the mean over the loop. Before the loop the engine holds its graph and is idle; after it come validated searches."},
	}
	var lines []powerLine
	highest, left := 0.0, 0
	for _, m := range e.Meters {
		line := powerLine{look: looks(len(lines)), breaks: m.Curve.Breaks, until: e.Loop.Elapsed}
		if m.Used != used || !line.read(m) {
			continue
		}
		if len(lines) == mostPowerLines {
			left++
			continue
		}
		label := fmt.Sprintf("%s (%s)", clean(m.Meter.Name, nameRunes), m.Meter.Scope)
		if m.Meter.Method != power.Measured {
			line.look.dashes = []vg.Length{4, 3}
			label = fmt.Sprintf("%s (%s, %s)", clean(m.Meter.Name, nameRunes), m.Meter.Scope, m.Meter.Method)
		}
		highest = max(highest, line.highest())
		lines = append(lines, line)
		f.legend = append(f.legend, seriesEntry(label, line.look))
	}
	if len(lines) == 0 || highest <= 0 || !finite(highest) {
		return nil
	}
	if left > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%s not drawn.", plural(left, "more meter is", "more meters are")))
	}
	out := p.plot("Time from the start of the loop (s)", "Power (W)")
	m := measure{max: highest * 1.12}
	m.fit(&out.Y)
	first, last := 0.0, e.Loop.Elapsed
	for _, phase := range e.Phases {
		first, last = min(first, phase.From.Seconds()), max(last, phase.To.Seconds())
	}
	out.X.Min, out.X.Max = first, last
	out.X.Tick.Marker = plot.TickerFunc(linearTicks)
	out.Add(phaseBands{e.Phases, p}, gridLines{y: true})
	for _, line := range lines {
		out.Add(line)
	}
	f.plots = []*plot.Plot{out}
	return f
}

// powerLine is the mean power between the moments of a curve.
type powerLine struct {
	look   look
	at     []float64 // seconds; one more than watts
	watts  []float64 // negative: not known
	mean   float64   // over the loop; 0: not known
	until  float64   // end of the loop
	breaks []int
}

// read takes the slopes of a curve, and says whether there are any.
func (l *powerLine) read(m harness.Metered) bool {
	c := m.Curve
	if len(c.At) < 2 || len(c.At) != len(c.Joules) {
		return false
	}
	broken := map[int]bool{}
	for _, i := range l.breaks {
		broken[i] = true
	}
	for i, at := range c.At {
		l.at = append(l.at, at.Seconds())
		if i == 0 {
			continue
		}
		watts := -1.0
		if seconds := (at - c.At[i-1]).Seconds(); seconds > 0 && !broken[i] {
			watts = (c.Joules[i] - c.Joules[i-1]) / seconds
		}
		l.watts = append(l.watts, watts)
	}
	// A counter that was read last between two of its updates has not stood still: its next update was not waited for.
	if last := len(l.watts) - 1; m.Meter.Quantity == power.Energy && l.watts[last] == 0 {
		l.watts[last] = -1
	}
	if m.Loop != nil {
		l.mean = m.Loop.Watts
	}
	return true
}

func (l powerLine) highest() (top float64) {
	for _, w := range l.watts {
		if finite(w) {
			top = max(top, w)
		}
	}
	return top
}

func (l powerLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	flush := func() {
		if len(line) > 1 {
			for _, part := range c.ClipLinesXY(line) {
				c.StrokeLines(draw.LineStyle{Color: l.look.line, Width: 0.9, Dashes: l.look.dashes}, part)
			}
		}
		line = nil
	}
	for i, w := range l.watts {
		if w < 0 || !finite(w) {
			flush()
			continue
		}
		line = append(line, vg.Point{X: x(l.at[i]), Y: y(w)}, vg.Point{X: x(l.at[i+1]), Y: y(w)})
	}
	flush()
	if l.mean > 0 && l.until > 0 {
		c.StrokeLine2(draw.LineStyle{Color: l.look.point, Width: 0.6}, x(0), y(l.mean), x(l.until), y(l.mean))
	}
}

// phaseBands shades the loop, and names every phase that has room for its name.
type phaseBands struct {
	phases []harness.EnergyPhase
	pen    pen
}

func (b phaseBands) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	style := b.pen.text(8, faint)
	for _, phase := range b.phases {
		from, to := x(phase.From.Seconds()), x(phase.To.Seconds())
		if phase.Name == harness.PhaseLoop {
			c.FillPolygon(color.NRGBA{0x66, 0x66, 0x66, 0x18}, []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y}, {X: from, Y: c.Max.Y}})
		}
		c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.5}, to, c.Min.Y, to, c.Max.Y)
		if name := clean(phase.Name, 12); style.Width(name) < to-from-4 {
			c.FillText(style, vg.Point{X: from + 3, Y: c.Max.Y - 10}, name)
		}
	}
}
