package reports

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostScalingLines is how many lines a figure of scaling can hold before nobody can tell them apart. The table holds all.
const mostScalingLines = 6

// overWorkers draws rates over the number of workers, both on log axes, with the ideal from each line's first point: one
// figure for strong scaling and one for weak.
func overWorkers(p pen, lines []scalingLine) []*figure {
	var out []*figure
	for _, kind := range []struct {
		weak              bool
		name, title, note string
	}{
		{false, "strong-scaling", "Strong scaling: search rate over the number of workers, for the same graph", "Harmonic means. A line is one engine with the same options and one graph. Grey: a rate that grows as the workers do."},
		{true, "weak-scaling", "Weak scaling: search rate over the number of workers, for a graph that grows with them", "Harmonic means. A line is one engine with the same options and the same number of vertices on each worker. Grey: a rate that grows as the workers do."},
	} {
		drawn := slices.DeleteFunc(slices.Clone(lines), func(l scalingLine) bool { return l.weak != kind.weak })
		if len(drawn) == 0 {
			continue
		}
		note := kind.note
		if n := len(drawn); n > mostScalingLines {
			drawn = largest(drawn)
			note += " " + strconv.Itoa(mostScalingLines) + " of " + strconv.Itoa(n) + " lines are drawn, of every engine those of its largest graphs; the table has all."
		}
		if anyRepeats(drawn) {
			most := 0
			for _, l := range drawn {
				for _, point := range l.points {
					most = max(most, point.repeats)
				}
			}
			note += " " + repeatsNote + " There are up to " + strconv.Itoa(most) + " of them; the table says how many."
		}
		out = append(out, scalingFigure(p, kind.name, kind.title, note, drawn))
	}
	return out
}

// largest keeps a few lines, in their order: of every engine with its options the line of the largest graph, then of
// every one the second largest, and so on.
func largest(lines []scalingLine) []scalingLine {
	size := func(l scalingLine) int { return l.points[0].run.Scale }
	place := func(i int) (n int) { // among the lines of the same engine
		for k, other := range lines {
			if other.family == lines[i].family && (size(other) > size(lines[i]) || size(other) == size(lines[i]) && k < i) {
				n++
			}
		}
		return n
	}
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(a) - place(b) })
	order = order[:mostScalingLines]
	slices.Sort(order)
	var out []scalingLine
	for _, i := range order {
		out = append(out, lines[i])
	}
	return out
}

func scalingFigure(p pen, name, title, note string, lines []scalingLine) *figure {
	f := &figure{name: name, title: title, width: figureWidth, height: 3.4 * vg.Inch, pen: p, notes: []string{note}}
	worker := lines[0].worker + "s"
	var counts []int
	lowest, highest := math.Inf(1), 0.0
	for _, l := range lines {
		if l.worker+"s" != worker {
			worker = "threads or ranks"
		}
		for _, point := range l.points {
			counts = append(counts, point.workers)
			lowest, highest = min(lowest, point.gteps()), max(highest, point.gteps())
		}
	}
	out := p.plot("Number of "+worker, "Search rate (GTEPS)")
	m := measure{log: true, min: lowest / 1.4, max: highest * 1.6}
	m.fit(&out.Y)
	first, last := math.Log2(float64(slices.Min(counts))), math.Log2(float64(slices.Max(counts)))
	out.X.Min, out.X.Max = first-0.2, last+0.2
	out.X.Tick.Marker = workerTicks(counts)
	out.Add(gridLines{y: true})
	for _, l := range lines {
		out.Add(idealLine{l, m})
	}
	for i, l := range lines {
		s := overCounts{look: looks(i), measure: m}
		for _, point := range l.points {
			s.counts, s.values = append(s.counts, point.workers), append(s.values, point.gteps())
		}
		out.Add(s)
		f.legend = append(f.legend, series{label: l.name, look: looks(i)}.legendEntry())
	}
	f.plots = append(f.plots, out)
	return f
}

// idealLine draws where the rate of a line would be if it grew as the number of workers does, up to the axis's end.
type idealLine struct {
	line    scalingLine
	measure measure
}

func (l idealLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	first, last := l.line.points[0], l.line.points[len(l.line.points)-1]
	end := float64(last.workers)
	if top := float64(first.workers) * l.measure.max / first.gteps(); end > top {
		end = top
	}
	c.StrokeLine2(draw.LineStyle{Color: grid, Width: 1, Dashes: []vg.Length{3, 3}},
		x(math.Log2(float64(first.workers))), y(l.measure.at(first.gteps())),
		x(math.Log2(end)), y(l.measure.at(first.gteps()*end/float64(first.workers))))
}

// overCounts draws a positive quantity of a series over a number of workers, both on log axes.
type overCounts struct {
	look    look
	measure measure
	dashed  bool
	counts  []int
	values  []float64
}

func (o overCounts) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for i, v := range o.values {
		if v > 0 && finite(v) {
			line = append(line, vg.Point{X: x(math.Log2(float64(o.counts[i]))), Y: y(o.measure.at(v))})
		}
	}
	style := draw.LineStyle{Color: o.look.line, Width: 1.3, Dashes: o.look.dashes}
	if o.dashed {
		style.Dashes = []vg.Length{4, 3}
	}
	if len(line) > 1 {
		c.StrokeLines(style, line)
	}
	for _, at := range line {
		mark(c, o.look, at, o.dashed)
	}
}

// workerTicks are the counts themselves, which are few; where they are many, the powers of two among them.
func workerTicks(counts []int) plot.ConstantTicks {
	counts = slices.Compact(slices.Sorted(slices.Values(counts)))
	var ticks plot.ConstantTicks
	for _, n := range counts {
		label := strconv.Itoa(n)
		if len(counts) > 10 && n&(n-1) != 0 {
			label = ""
		}
		ticks = append(ticks, plot.Tick{Value: math.Log2(float64(n)), Label: label})
	}
	return ticks
}
