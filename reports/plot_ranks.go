package reports

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// stacks draws bars of parts on top of each other, bar i around at[i].
type stacks struct {
	at    []float64
	parts [][]float64
	look  func(part int) color.Color
	width float64 // of a bar, in units of the axis
}

func (s stacks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, parts := range s.parts {
		half := min((x(s.width)-x(0))/2, 22)
		middle, sum := x(s.at[i]), 0.0
		for k, v := range parts {
			if v <= 0 || !finite(v) {
				continue
			}
			low, high := y(sum), y(sum+v)
			sum += v
			c.FillPolygon(s.look(k), []vg.Point{{X: middle - half, Y: low}, {X: middle + half, Y: low}, {X: middle + half, Y: high}, {X: middle - half, Y: high}})
		}
	}
}

// highest is the largest sum of any bar.
func (s stacks) highest() (top float64) {
	for _, parts := range s.parts {
		sum := 0.0
		for _, v := range parts {
			sum += max(v, 0)
		}
		top = max(top, sum)
	}
	return top
}

// phaseColor keeps a phase's colour through all drawings.
func phaseColor(name string) color.Color {
	known := []string{"expand", "scan", "fold", "update", "reduce", "predecessors"}
	if i := slices.Index(known, name); i >= 0 {
		return looks(i).line
	}
	if name == "clear" {
		return grid
	}
	return faint
}

// sideColor tells computing from transfers, in colours that are no phase's.
func sideColor(part int) color.Color { return []color.Color{ink, rgb(0x999999), looks(3).area}[part] }

func colorEntry(name string, c color.Color) entry {
	return entry{name, func(canvas draw.Canvas) {
		canvas.FillPolygon(c, []vg.Point{{X: canvas.Min.X + 4, Y: canvas.Min.Y}, {X: canvas.Max.X - 4, Y: canvas.Min.Y}, {X: canvas.Max.X - 4, Y: canvas.Max.Y - 1}, {X: canvas.Min.X + 4, Y: canvas.Max.Y - 1}})
	}}
}

// bars makes a plot of stacks with names under the bars.
func (p pen) bars(title string, s stacks, names plot.ConstantTicks, last float64) *plot.Plot {
	out := p.plot("", title)
	m := measure{max: max(s.highest(), 1e-9) * 1.08}
	m.fit(&out.Y)
	out.Add(gridLines{y: true}, s)
	out.X.Min, out.X.Max = -0.5, last+0.5
	out.X.Tick.Marker = names
	out.X.Tick.Length = 0
	return out
}

// overPhases draws where the time of a search goes, for every run with ranks: phases on top of each other; computing
// beside transfers; messages and bytes. Nil without such runs.
func overPhases(p pen, runs []rankedRun) []*figure {
	if len(runs) == 0 {
		return nil
	}
	var names []string // of phases, in order
	for _, r := range runs {
		for _, phase := range r.phases {
			if !slices.Contains(names, phase.name) {
				names = append(names, phase.name)
			}
		}
	}
	of := func(r rankedRun, quantity func(rankedPhase) float64) []float64 {
		parts := make([]float64, len(names))
		for _, phase := range r.phases {
			parts[slices.Index(names, phase.name)] = quantity(phase)
		}
		return parts
	}
	look := func(k int) color.Color { return phaseColor(names[k]) }
	var ticks plot.ConstantTicks
	stack, sides := stacks{look: look, width: 0.6}, stacks{look: sideColor, width: 0.22}
	messages, bytes := stacks{look: look, width: 0.6}, stacks{look: look, width: 0.6}
	for i, r := range runs {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: breakName(r.name(), len(runs))})
		at := float64(i)
		stack.at, stack.parts = append(stack.at, at), append(stack.parts, of(r, func(p rankedPhase) float64 { return p.seconds * 1e3 }))
		computing, transfers := r.times()
		sides.at = append(sides.at, at-0.25, at, at+0.25)
		sides.parts = append(sides.parts, []float64{computing * 1e3, 0, 0}, []float64{0, transfers * 1e3, 0}, []float64{0, 0, r.modelled() * 1e3})
		messages.at, messages.parts = append(messages.at, at), append(messages.parts, of(r, func(p rankedPhase) float64 { return p.messages }))
		bytes.at, bytes.parts = append(bytes.at, at), append(bytes.parts, of(r, func(p rankedPhase) float64 { return p.bytes / 1024 }))
	}
	last := float64(len(runs) - 1)
	times := &figure{
		name: "phases", title: "Phases of a search by engines with ranks, and computing against transfers", width: figureWidth, height: 4.6 * vg.Inch, pen: p,
		plots: []*plot.Plot{p.bars("Time of a search (ms)", stack, ticks, last), p.bars("Time of a search (ms)", sides, ticks, last)},
		notes: []string{
			"Means over searches and over ranks. Above: phases on top of each other. Below, for every run: computing, transfers with waiting for others, both measured; and what the counted messages would take in a network, which is a model's (" + modelText + ").",
			"Ranks that are goroutines of one process copy nothing, so their transfers are waiting alone.",
		},
	}
	sent := &figure{
		name: "traffic", title: "Messages and bytes of a search by engines with ranks", width: figureWidth, height: 4.2 * vg.Inch, pen: p,
		plots: []*plot.Plot{p.bars("Messages of a search", messages, ticks, last), p.bars("KiB of a search", bytes, ticks, last)},
		notes: []string{"Counted, of all ranks together, means over searches."},
	}
	for k, name := range names {
		times.legend = append(times.legend, colorEntry(name, look(k)))
		if slices.ContainsFunc(runs, func(r rankedRun) bool { i := r.place(name); return r.phases[i].sends }) {
			sent.legend = append(sent.legend, colorEntry(name, look(k)))
		}
	}
	times.legend = append(times.legend, colorEntry("computing (below)", sideColor(0)), colorEntry("transfers (below)", sideColor(1)), colorEntry("transfers, modelled (below)", sideColor(2)))
	out := []*figure{times, sent}
	if f := byRank(p, runs, names); f != nil {
		out = append(out, f)
	}
	return out
}

// breakName makes a name narrow where there are many.
func breakName(name string, among int) string {
	if among <= 4 {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, ", ", "\n"), "-", "-\n")
}

// mostRankBars is how many ranks are drawn one by one.
const mostRankBars = 64

// byRank draws the phases of every single rank of the first runs that fit.
func byRank(p pen, runs []rankedRun, names []string) *figure {
	s := stacks{look: func(k int) color.Color { return phaseColor(names[k]) }, width: 0.8}
	var ticks plot.ConstantTicks
	at, drawn := 0.0, 0
	for _, r := range runs {
		if len(s.at)+r.ranks > mostRankBars {
			continue
		}
		drawn++
		ticks = append(ticks, plot.Tick{Value: at + float64(r.ranks-1)/2, Label: breakName(r.name(), len(runs))})
		for _, times := range r.perRank {
			parts := make([]float64, len(names))
			for i, t := range times {
				parts[slices.Index(names, r.phases[i].name)] = t * 1e3
			}
			s.at, s.parts = append(s.at, at), append(s.parts, parts)
			at++
		}
		at++ // a gap between runs
	}
	if drawn == 0 {
		return nil
	}
	f := &figure{
		name: "ranks", title: "Phases of a search, rank by rank", width: figureWidth, height: 2.6 * vg.Inch, pen: p,
		plots: []*plot.Plot{p.bars("Time of a search (ms)", s, ticks, at-2)},
		notes: []string{"A bar for every rank, in order; means over searches. Bars of the same run differ in what their ranks compute and how long they wait for others."},
	}
	for _, name := range names {
		f.legend = append(f.legend, colorEntry(name, phaseColor(name)))
	}
	return f
}

// overRankCounts draws rates over the number of ranks: strong scaling, the same graph for all, and weak scaling, a graph
// that grows with the ranks. Each only where at least two runs can be compared.
func overRankCounts(p pen, runs []rankedRun) []*figure {
	var out []*figure
	for _, kind := range []struct {
		name, title, note string
		size              func(rankedRun) (string, bool)
	}{
		{"strong-scaling", "Strong scaling: rate over the number of ranks, for the same graph", "Harmonic means; a line is one cut at one scale.",
			func(r rankedRun) (string, bool) { return fmt.Sprintf("scale %d", r.run.Scale), true }},
		{"weak-scaling", "Weak scaling: rate over the number of ranks, for a graph that grows with them", "Harmonic means; a line is one cut with the same number of vertices on each rank.",
			func(r rankedRun) (string, bool) {
				share := float64(r.run.Scale) - math.Log2(float64(r.ranks))
				return fmt.Sprintf("2^%g vertices a rank", share), share == math.Trunc(share)
			}},
	} {
		lines := map[string][]rankedRun{}
		var order []string
		for _, r := range runs {
			size, fits := kind.size(r)
			if !fits {
				continue
			}
			name := strings.TrimSpace(strings.ToUpper(clean(r.cut, nameRunes)) + " " + clean(r.run.Engine.Builtin, nameRunes) + ", " + size)
			if lines[name] == nil {
				order = append(order, name)
			}
			if !slices.ContainsFunc(lines[name], func(o rankedRun) bool { return o.ranks == r.ranks }) {
				lines[name] = append(lines[name], r)
			}
		}
		slices.Sort(order)
		order = slices.DeleteFunc(order, func(name string) bool { return len(lines[name]) < 2 })
		if len(order) == 0 {
			continue
		}
		out = append(out, scalingFigure(p, kind.name, kind.title, kind.note, order, lines))
	}
	return out
}

func scalingFigure(p pen, name, title, note string, order []string, lines map[string][]rankedRun) *figure {
	f := &figure{name: name, title: title, width: figureWidth, height: 2.8 * vg.Inch, pen: p, notes: []string{note}}
	out := p.plot("Ranks", "GTEPS")
	var points []Traffic // for the ticks
	highest, first, last := 0.0, math.Inf(1), 0.0
	for _, line := range order {
		for _, r := range lines[line] {
			points = append(points, Traffic{Ranks: r.ranks})
			highest = max(highest, drawable(r.run).TEPS.Mean/1e9)
			first, last = min(first, math.Log2(float64(r.ranks))), max(last, math.Log2(float64(r.ranks)))
		}
	}
	m := measure{max: highest * 1.1}
	m.fit(&out.Y)
	out.Add(gridLines{y: true})
	for i, line := range order {
		slices.SortFunc(lines[line], func(a, b rankedRun) int { return a.ranks - b.ranks })
		s := overRanks{look: looks(i), measure: m}
		for _, r := range lines[line] {
			s.ranks, s.values = append(s.ranks, r.ranks), append(s.values, drawable(r.run).TEPS.Mean/1e9)
		}
		out.Add(s)
		f.legend = append(f.legend, seriesEntry(line, looks(i)))
	}
	out.X.Min, out.X.Max = first-0.2, last+0.2
	out.X.Tick.Marker = rankTicks(points)
	f.plots = append(f.plots, out)
	return f
}
