// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

// history is one engine with the options that the user set, on one graph and one machine, over days and builds.
type history struct {
	machine string
	points  []historyPoint
	slower  int // points that are slower than those before
}

// historyPoint is the runs of one build on one day.
type historyPoint struct {
	reports.Summary
	begin  time.Time
	change compare.Cell // from the runs before it
	other  []string     // what else differs from the point before
}

// line is the same for all points of a history.
func (p historyPoint) line() string {
	return fmt.Sprintln(p.Engine.Name, p.Engine.Options, p.GraphID, p.Input(), p.Repeats[0].Machine.Identity(), p.Device())
}

func (p historyPoint) day() string { return p.begin.Format(time.DateOnly) }

func (p historyPoint) same(q historyPoint) bool { return p.day() == q.day() && p.Build == q.Build }

const (
	minHistory       = 3 // points of a history; two are a comparison
	maxHistoryPanels = 6
	maxBaseline      = compare.MinPairs // runs before a point that it is compared with
)

func histories(r reports.Report) (all []history) {
	results := slices.Clone(r.Results)
	slices.SortStableFunc(results, func(a, b reports.Result) int { return a.Started.Compare(b.Started) })
	var runs []historyPoint
	for _, result := range results {
		for _, run := range result.Runs {
			if len(run.Rated) > 0 {
				runs = append(runs, historyPoint{Summary: run, begin: result.Started})
			}
		}
	}
	for _, group := range reports.Grouped(runs, historyPoint.line) {
		h := history{machine: reports.Joined(", ", reports.Name(group[0].Repeats[0].Machine.Hostname), group[0].Device())}
		for _, run := range group {
			if k := slices.IndexFunc(h.points, run.same); k >= 0 {
				p := &h.points[k]
				p.Summary = p.Of(append(p.Repeats, run.Repeats...)...)
			} else {
				h.points = append(h.points, run)
			}
		}
		if len(h.points) >= minHistory {
			h.compare()
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b history) int {
		return cmp.Or(b.slower-a.slower, len(b.points)-len(a.points))
	})
	return all
}

func (h history) name() string {
	options, run := "", h.points[0]
	if !strings.Contains(run.Label, "=") {
		options = reports.OptionsText(run.Engine.Options)
	}
	const width = 60
	return reports.Cut(reports.Joined(", ", run.RowName(), options, h.machine), width, width*3/2)
}

// compare compares each point with the runs before it, back to the last change, as `teps compare` does. Two single runs
// never count as different, because their scatter is not known.
func (h *history) compare() {
	before := h.points[0].Repeats
	for i := range h.points[1:] {
		last, p := h.points[i], &h.points[i+1]
		p.change = compare.Of(compare.Side{Results: before}, compare.Side{Results: p.Repeats}).Cells[0]
		if p.change.RunsA == 1 && p.change.RunsB == 1 && p.change.Verdict.Differs() {
			p.change.Verdict = compare.Undecided
		}
		step := compare.Of(compare.Side{Results: last.Repeats}, compare.Side{Results: p.Repeats})
		for _, d := range append(step.Differences, step.Cells[0].Differences...) {
			if !slices.Contains([]string{"teps", "program", "engine file"}, d.What) { // the build
				p.other = append(p.other, reports.Name(d.What))
			}
		}
		if p.change.Verdict == compare.Slower {
			h.slower++
		}
		if p.change.Verdict.Differs() {
			before = nil
		}
		before = append(slices.Clone(before), p.Repeats...)
		before = before[max(0, len(before)-maxBaseline):]
	}
}

func (p historyPoint) percentages() (change, interval string) {
	ratio := p.change.Typical
	if ratio == nil {
		return reports.Missing, reports.Missing
	}
	return fmt.Sprintf("%+.1f %%", 100*(ratio.Estimate-1)),
		fmt.Sprintf("%+.1f to %+.1f %%", 100*(ratio.Low-1), 100*(ratio.High-1))
}

// History shows how rates changed from day to day and from build to build.
func History(r reports.Report) reports.Part {
	all := histories(r)
	return reports.Part{
		Title: "History", Table: historyTable(all), Figures: []reports.Figure{historyFigure(all)},
		Explanation: "A point is all runs of one build on one day, compared with the runs before it, back to the last " +
			"change. A change is marked if it is certain, and larger than the differences between runs before it.",
	}
}

// historyFigure has a panel for each history, with a mark at the median rate of each point.
func historyFigure(all []history) reports.Figure {
	f := reports.Figure{Name: "history",
		Title: "Search rate in GTEPS over days and builds, for each engine, graph and machine"}
	f.Note("Mark: median over the runs of a build on a day, with the change from the runs before where there is one. " +
		"Line through it: slowest and fastest run.")
	same := reports.Look{Color: reports.Series()[0]}
	changed := map[compare.Verdict]reports.Look{
		compare.Slower: {Color: reports.Series()[1], Glyph: reports.Wedge},
		compare.Faster: {Color: reports.Series()[2], Glyph: reports.Triangle}}
	f.Legend = []reports.Key{{Label: "no change found", Look: same}, {Label: "slower", Look: changed[compare.Slower]},
		{Label: "faster", Look: changed[compare.Faster]}}
	var times []historyPoint // the places on the axis, which all panels share
	all = limited(&f, all, maxHistoryPanels, "histories; the table has all")
	for _, h := range all {
		for _, p := range h.points {
			if !slices.ContainsFunc(times, p.same) {
				times = append(times, p)
			}
		}
	}
	slices.SortStableFunc(times, func(a, b historyPoint) int { return a.begin.Compare(b.begin) })
	x := reports.Axis{Min: -0.6, Max: float64(len(times)) - 0.4}
	for i := range times {
		x.Ticks = append(x.Ticks, reports.Tick{At: float64(i)})
	}
	for i, h := range all {
		panel, line, rates := reports.Panel{Height: 1.2, X: x}, []reports.Point{}, newSpan()
		if i == len(all)-1 {
			panel.Height += 0.25
			panel.X.Ticks = slices.Clone(x.Ticks)
			for k := 0; k < len(times); k += (len(times) + 9) / 10 {
				panel.X.Ticks[k].Label = times[k].BuildName() + "\n" + times[k].day()[5:]
			}
		}
		var marks []reports.Shape
		for _, p := range h.points {
			at := xy(float64(slices.IndexFunc(times, p.same)), p.Rates().TEPS.Mean/1e9)
			look, text := same, h.name()+": "+units.Significant(at.Y, 4)+" GTEPS, "+p.BuildName()+" on "+p.day()
			line = append(line, at)
			low, high := p.Rated[0].Statistics.TEPS.Mean/1e9, p.Rated[len(p.Rated)-1].Statistics.TEPS.Mean/1e9
			rates.add(low, high)
			if low < high {
				marks = append(marks, reports.Line{Points: []reports.Point{xy(at.X, low), xy(at.X, high)}, Color: same.Color,
					Width: 1})
			}
			if p.change.Verdict.Differs() {
				look = changed[p.change.Verdict]
				change, interval := p.percentages()
				text += ", " + change + " (" + interval + ")"
				marks = append(marks, reports.Text{At: at, Text: change, Color: reports.Ink(), Size: 8, DY: 6})
			}
			marks = append(marks, reports.Mark{At: at, Look: look, Radius: 3.6,
				About: reports.About{Key: string(p.change.Verdict), Text: text}})
		}
		panel.Y = linearAxis("GTEPS", rates.high*1.55)
		panel.Shapes = append([]reports.Shape{reports.Line{Points: line, Color: same.Color, Width: 1}}, marks...)
		panel.Shapes = append(panel.Shapes, reports.Text{At: xy(x.Min, panel.Y.Max), Text: h.name(),
			Color: reports.Ink(), Size: 8, Left: true, DX: 5, DY: -9})
		f.Panels = append(f.Panels, panel)
	}
	return f
}

func historyTable(all []history) reports.Table {
	var runs []historyPoint
	for _, h := range all {
		runs = append(runs, h.points...)
	}
	t := reports.NewRunTable(runs,
		"engine|graph|machine|#day|build|#runs|#GTEPS|#change|#interval|verdict|also changed",
		"GTEPS are medians over the runs. The change is that of a typical root or run against the runs before, at most "+
			units.Integer(maxBaseline)+", with its 95 % interval.")
	for _, h := range all {
		for i, p := range h.points {
			change, interval := p.percentages()
			verdict := map[bool]string{true: "", false: string(p.change.Verdict)}[i == 0]
			t.Add(p.Label, p.GraphCell(), h.machine, p.day(), p.BuildName(), units.Integer(int64(len(p.Rated))),
				reports.GTEPS(p.Rates().TEPS.Mean), change, interval, verdict, strings.Join(p.other, ", "))
			t.Style(9, verdictClass(p.change.Verdict))
		}
	}
	t.DropShared(2)
	t.DropEmpty()
	return t
}
