package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/harness"
)

// scaleLine draws a positive quantity of a series over the scales of its runs, on the series' own axis measure. Runs
// without it have no mark.
type scaleLine struct {
	series  series
	measure measure
	of      func(harness.Run) float64
}

func (s scaleLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for _, run := range s.series.runs {
		if v := s.of(run); v > 0 && finite(v) {
			line = append(line, vg.Point{X: x(float64(run.Scale)), Y: y(s.measure.at(v))})
		}
	}
	if len(line) > 1 {
		c.StrokeLines(draw.LineStyle{Color: s.series.look.line, Width: 1.4, Dashes: s.series.look.dashes}, line)
	}
	for _, at := range line {
		mark(c, s.series.look, at, false)
	}
}

// constructionSeconds and constructionGiB are 0 where nothing was recorded.
func constructionSeconds(run harness.Run) float64 {
	if run.Construction == nil {
		return 0
	}
	return run.Construction.Elapsed.Seconds()
}

func constructionGiB(run harness.Run) float64 {
	if run.Construction == nil {
		return 0
	}
	return float64(run.Construction.Bytes) / (1 << 30)
}

// constructed groups the runs that have a kernel 1, whether or not their searches have rates.
func constructed(runs []labelled) []series {
	place := map[string]int{}
	var out []series
	for _, r := range runs {
		i, known := place[r.label]
		if !known {
			i = len(out)
			place[r.label] = i
			out = append(out, series{label: r.label, look: looks(i)})
		}
		if constructionSeconds(r.run) > 0 && judge(r.run).Word != "INVALID" {
			out[i].runs = append(out[i].runs, r.run)
		}
	}
	out = slices.DeleteFunc(out, func(s series) bool { return len(s.runs) == 0 })
	for _, s := range out {
		slices.SortStableFunc(s.runs, func(a, b harness.Run) int { return a.Scale - b.Scale })
	}
	return out
}

// overConstruction draws the time of kernel 1 and the memory that the engine holds for searching over the size of the
// graph, one below the other; nil when nothing was recorded.
func overConstruction(p pen, runs []labelled) *figure {
	all := constructed(runs)
	if len(all) == 0 {
		return nil
	}
	first, last := math.MaxInt, math.MinInt
	for _, s := range all {
		first, last = min(first, s.runs[0].Scale), max(last, s.runs[len(s.runs)-1].Scale)
	}
	if first == last {
		return constructionBars(p, runs)
	}
	f := &figure{
		name: "kernel-1", title: "Time of kernel 1 and memory held for searching, over the size of the graph, for each engine",
		width: figureWidth, height: 4.6 * vg.Inch, pen: p,
		notes: []string{"Above: kernel 1 on the engine’s clock. Below: what the engine says it holds between kernel 1 and its last search. " + inputs(runs) + ". " + recordsNote(runs)},
	}
	for _, quantity := range []struct {
		title string
		of    func(harness.Run) float64
	}{{"Kernel 1 (s)", constructionSeconds}, {"Memory held (GiB)", constructionGiB}} {
		lowest, highest := math.Inf(1), 0.0
		for _, s := range all {
			for _, run := range s.runs {
				if v := quantity.of(run); v > 0 && finite(v) {
					lowest, highest = min(lowest, v), max(highest, v)
				}
			}
		}
		if highest == 0 { // an engine need not say what it holds
			f.height = 2.6 * vg.Inch
			f.notes = []string{"Kernel 1 on the engine’s clock. " + inputs(runs) + ". " + recordsNote(runs)}
			continue
		}
		out := p.plot("", quantity.title)
		m := measureOf(lowest, highest)
		m.fit(&out.Y)
		out.X.Min, out.X.Max = float64(first)-0.5, float64(last)+0.5
		out.X.Tick.Marker = scaleTicks(first, last)
		out.Add(gridLines{y: true})
		for _, s := range all {
			out.Add(scaleLine{s, m, quantity.of})
		}
		f.plots = append(f.plots, out)
	}
	f.plots[len(f.plots)-1].X.Label.Text = "Number of vertices"
	for _, s := range all {
		f.legend = append(f.legend, s.legendEntry())
	}
	return f
}

// rowBars draws a bar across for every row, with its number behind it.
type rowBars struct {
	pen    pen
	values []float64 // from the top; nothing is drawn for what is not positive
	looks  []look
	digits int
}

func (r rowBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := (y(1) - y(0)) * 0.3
	text := r.pen.text(8, ink)
	text.YAlign = draw.YCenter
	for i, v := range r.values {
		if !(v > 0) || !finite(v) {
			continue
		}
		middle, end := y(float64(len(r.values)-1-i)), x(v)
		c.FillPolygon(r.looks[i].line, []vg.Point{{X: c.Min.X, Y: middle - half}, {X: end, Y: middle - half}, {X: end, Y: middle + half}, {X: c.Min.X, Y: middle + half}})
		c.FillText(text, vg.Point{X: end + 3, Y: middle}, significant(v, r.digits))
	}
}

// constructionBars is the drawing of kernel 1 where all runs have one scale: a bar for each, by name.
func constructionBars(p pen, runs []labelled) *figure {
	place := map[string]int{}
	var names plot.ConstantTicks
	var looksOf []look
	var drawn []harness.Run
	left := 0
	for _, r := range runs {
		if _, known := place[r.label]; !known {
			place[r.label] = len(place)
		}
		if constructionSeconds(r.run) <= 0 || judge(r.run).Word == "INVALID" {
			continue
		}
		if len(drawn) == rowsAPage {
			left++
			continue
		}
		drawn = append(drawn, r.run)
		looksOf = append(looksOf, looks(place[r.label]))
		names = append(names, plot.Tick{Label: ellipsis(r.label, besideBars)})
	}
	for i := range names {
		names[i].Value = float64(len(names) - 1 - i)
	}
	f := &figure{
		name: "kernel-1", title: fmt.Sprintf("Time of kernel 1 and memory held for searching at scale %d, for each engine", drawn[0].Scale),
		width: figureWidth, pen: p,
		notes: []string{"Above: kernel 1 on the engine’s clock. Below: what the engine says it holds between kernel 1 and its last search. " + inputs(runs) + ". " + recordsNote(runs)},
	}
	if left > 0 {
		f.notes = append(f.notes, fmt.Sprintf("The first %d of %d runs; the table has all.", len(drawn), len(drawn)+left))
	}
	for _, quantity := range []struct {
		title string
		of    func(harness.Run) float64
	}{{"Kernel 1 (s)", constructionSeconds}, {"Memory held (GiB)", constructionGiB}} {
		bars := rowBars{pen: p, looks: looksOf, digits: 3}
		for _, run := range drawn {
			bars.values = append(bars.values, quantity.of(run))
		}
		highest := slices.Max(bars.values)
		if !(highest > 0) {
			f.notes[0] = "Kernel 1 on the engine’s clock. " + inputs(runs) + ". " + recordsNote(runs)
			continue
		}
		out := p.plot(quantity.title, "")
		m := measure{max: highest * 1.12}
		m.fit(&out.X)
		out.Y.Min, out.Y.Max = -0.55, float64(len(drawn))-0.45
		out.Y.Tick.Marker, out.Y.Tick.Length = names, 0
		out.Add(gridLines{x: true}, bars)
		f.plots = append(f.plots, out)
		f.height += 0.24*vg.Inch*vg.Length(len(drawn)) + 0.55*vg.Inch
	}
	return f
}

// constructionTable holds what the drawing of kernel 1 shows, by tuple and by search.
func constructionTable(runs []labelled) tableView {
	t := tableView{
		Head: append(words("engine"), numbers("scale", "generation", "kernel 1", "million tuples a second", "in median searches", "memory held", "bytes a tuple", "adjacency entries")...),
		Note: "Generation is not timed by the benchmark. Memory is what the engine says it holds for searching.",
	}
	for _, r := range runs {
		run, c := r.run, r.run.Construction
		if c == nil {
			continue
		}
		generation, speed, searches, each := missing, missing, missing, missing
		seconds := c.Elapsed.Seconds()
		if run.Graph != nil {
			generation = measured(run.Graph.Generation)
			if tuples := float64(run.Graph.Tuples); tuples > 0 {
				if seconds > 0 {
					speed = significant(tuples/seconds/1e6, 3)
				}
				if c.Bytes > 0 {
					each = significant(float64(c.Bytes)/tuples, 3)
				}
			}
		}
		if s := drawable(run); s != nil && s.Time.Median > 0 && seconds > 0 {
			searches = significant(seconds/s.Time.Median, 3)
		}
		t.Rows = append(t.Rows, append(words(r.label), numbers(strconv.Itoa(run.Scale), generation, duration(seconds), speed, searches, bytesText(c.Bytes), each, counted(c.Entries))...))
	}
	return t
}
