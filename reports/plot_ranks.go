package reports

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"unicode/utf8"

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
func sideColor(part int) color.Color { return []color.Color{ink, transferGrey, looks(3).area}[part] }

const transferGrey rgb = 0x999999

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
	return out
}

// overPhases draws where the time of a search goes, for every run with ranks: phases on top of each other; computing
// beside transfers; messages and bytes. Nil without such runs.
func overPhases(p pen, all []rankedRun) []*figure {
	if len(all) == 0 {
		return nil
	}
	runs := all[:min(len(all), mostBars)]
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
	if len(runs) < len(all) {
		note := fmt.Sprintf("The first %d of %d runs; the table has all.", len(runs), len(all))
		times.notes, sent.notes = append(times.notes, note), append(sent.notes, note)
	}
	out := []*figure{times, sent}
	if f := byRank(p, runs, names, len(all)); f != nil {
		out = append(out, f)
	} else {
		times.notes = append(times.notes, fmt.Sprintf("Nothing is drawn rank by rank: each of these runs has more than %d ranks.", mostRankBars))
	}
	return out
}

// breakName makes a name narrow where there are many beside each other under bars: broken between its parts, and what is
// still too wide shortened in its middle and broken in two.
func breakName(name string, among int) string {
	if among > 4 {
		name = strings.ReplaceAll(strings.ReplaceAll(name, ", ", "\n"), "-", "-\n")
	}
	room := max(72/max(among, 1), 6) // letters, of the 72 that a figure has room for
	lines := strings.Split(name, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) > room {
			short := []rune(ellipsis(line, 2*room))
			half := (len(short) + 1) / 2
			lines[i] = string(short[:half]) + "\n" + string(short[half:])
		}
	}
	return strings.Join(lines, "\n")
}

// mostRankBars is how many ranks are drawn one by one.
const mostRankBars = 64

// byRank draws the phases of every single rank of the first runs that fit, out of total.
func byRank(p pen, runs []rankedRun, names []string, total int) *figure {
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
	if drawn < total {
		f.notes = append(f.notes, fmt.Sprintf("%d of %d runs, the first that fit into %d bars; the table has all.", drawn, total, mostRankBars))
	}
	for _, name := range names {
		f.legend = append(f.legend, colorEntry(name, phaseColor(name)))
	}
	return f
}
