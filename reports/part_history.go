package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// A history is one engine with the options that the user set, on one graph and one machine, over days and builds.
type history struct {
	run     Run // one of them
	machine string
	points  []historyPoint
	slower  int // points that are slower than those before
}

// historyPoint is all that one build measured on one day.
type historyPoint struct {
	begin      time.Time
	day, build string
	results    []record.Result // each with one run
	rates      []float64       // GTEPS
	change     compare.Cell    // from the runs before it
	other      []string        // what else is not as at the point before
}

const (
	minHistory       = 3 // points of a history; two are a comparison
	maxHistoryPanels = 6
	maxBaseline      = compare.MinPairs // runs before a point that it is compared with
)

// histories are those with enough points, first those with most slow-downs, then those with most points. Runs without a
// result are left out.
func (r Report) histories() (all []history) {
	results := slices.Clone(r.Results)
	slices.SortStableFunc(results, func(a, b Result) int { return a.Started.Compare(b.Started) })
	place := map[string]int{}
	for _, result := range results {
		for _, run := range byRate(result.Runs) {
			key := fmt.Sprintln(run.Engine.Name, run.Engine.Options, run.GraphID, run.input(), result.Machine.Identity(),
				result.Device(run))
			i, known := place[key]
			if !known {
				i, place[key] = len(all), len(all)
				all = append(all, history{machine: Joined(", ", Name(result.Machine.Hostname), result.Device(run)), run: run})
			}
			all[i].add(result, run)
		}
	}
	all = slices.DeleteFunc(all, func(h history) bool { return len(h.points) < minHistory })
	for i := range all {
		all[i].compare()
	}
	slices.SortStableFunc(all, func(a, b history) int {
		return cmp.Or(b.slower-a.slower, len(b.points)-len(a.points))
	})
	return all
}

// add appends a run to the point of its day and build.
func (h *history) add(result Result, run Run) {
	day, build := result.Started.Format(time.DateOnly), result.build(run)
	i := slices.IndexFunc(h.points, func(p historyPoint) bool { return p.day == day && p.build == build })
	if i < 0 {
		i = len(h.points)
		h.points = append(h.points, historyPoint{begin: result.Started, day: day, build: build})
	}
	h.points[i].results = append(h.points[i].results, side([]Run{run}).Results...)
	h.points[i].rates = append(h.points[i].rates, run.Rates().TEPS.Mean/1e9)
}

// build names what searched, in a word: the commit of teps, or the checksum of a program.
func (r Result) build(run Run) string {
	full := cmp.Or(run.Engine.Checksum, r.Software.Commit, r.Software.Program, r.Software.Version)
	commit, dirty := strings.CutSuffix(Clean(full, SentenceLength), "+dirty")
	word := []rune(commit)
	return string(word[:min(7, len(word))]) + map[bool]string{true: "+"}[dirty]
}

// name is the name of the history in a figure.
func (h history) name() string {
	options := ""
	if !strings.Contains(h.run.Label, "=") {
		options = OptionsText(h.run.Engine.Options)
	}
	return cut(Joined(", ", h.run.rowName(), options, h.machine), 2*labelWidth, 3*labelWidth)
}

// compare compares each point with the runs before it, back to the last change, as `teps compare` does. One run before
// and one after cannot differ, because nothing is known of how much runs scatter.
func (h *history) compare() {
	before := h.points[0].results
	for i := range h.points[1:] {
		last, p := h.points[i], &h.points[i+1]
		p.change = compare.Of(compare.Side{Results: before}, compare.Side{Results: p.results}).Cells[0]
		if p.change.RunsA == 1 && p.change.RunsB == 1 && p.changed() {
			p.change.Verdict = compare.Undecided
		}
		step := compare.Of(compare.Side{Results: last.results}, compare.Side{Results: p.results})
		for _, d := range append(step.Differences, step.Cells[0].Differences...) {
			if !slices.Contains([]string{"teps", "program", "engine file"}, d.What) { // the build
				p.other = append(p.other, Name(d.What))
			}
		}
		if p.change.Verdict == compare.Slower {
			h.slower++
		}
		if p.changed() {
			before = nil
		}
		before = append(slices.Clone(before), p.results...)
		before = before[max(0, len(before)-maxBaseline):]
	}
}

// changed reports whether the point is faster or slower than the runs before it.
func (p historyPoint) changed() bool {
	return p.change.Verdict == compare.Slower || p.change.Verdict == compare.Faster
}

// percentages are the change from the runs before, and its interval.
func (p historyPoint) percentages() (change, interval string) {
	ratio := p.change.Typical
	if ratio == nil {
		return Missing, Missing
	}
	return fmt.Sprintf("%+.1f %%", 100*(ratio.Estimate-1)),
		fmt.Sprintf("%+.1f to %+.1f %%", 100*(ratio.Low-1), 100*(ratio.High-1))
}

// History shows how rates changed from day to day and from build to build.
func (r Report) History() Part {
	all := r.histories()
	return Part{
		Title: "History", Table: historyTable(all), Figures: []Figure{historyFigure(all)}, Wide: true,
		Explanation: "A point is all runs of one build on one day, compared with the runs before it, back to the last " +
			"change. A change is marked if it is certain, and larger than the differences between runs before it.",
	}
}

// historyFigure has a panel for each history, with a mark at the median rate of each point.
func historyFigure(all []history) Figure {
	f := Figure{Name: "history", Title: "Search rate in GTEPS over days and builds, for each engine, graph and machine"}
	f.note("Mark: median over the runs of a build on a day, with the change from the runs before where there is one. " +
		"Line through it: slowest and fastest run.")
	same, slower, faster := Look{Color: paint(firstSeries)}, Look{Color: paint(firstSeries + 1), Glyph: Wedge},
		Look{Color: paint(firstSeries + 2), Glyph: Triangle}
	f.Legend = []Key{{Label: "no change found", Look: same}, {Label: "slower", Look: slower},
		{Label: "faster", Look: faster}}
	var times []historyPoint // the places on the axis, which all panels share
	all = limited(&f, all, maxHistoryPanels, "histories; the table has all")
	for _, h := range all {
		for _, p := range h.points {
			if !slices.ContainsFunc(times, p.together) {
				times = append(times, p)
			}
		}
	}
	slices.SortStableFunc(times, func(a, b historyPoint) int { return a.begin.Compare(b.begin) })
	x := Axis{Min: -0.6, Max: float64(len(times)) - 0.4}
	for i := range times {
		x.Ticks = append(x.Ticks, Tick{At: float64(i)})
	}
	for i, h := range all {
		panel, line, rates := Panel{Height: 1.2, X: x}, []Point{}, newSpan()
		if i == len(all)-1 {
			panel.Height += 0.25
			panel.X.Ticks = slices.Clone(x.Ticks)
			for k := 0; k < len(times); k += (len(times) + 9) / 10 {
				panel.X.Ticks[k].Label = times[k].build + "\n" + times[k].day[5:]
			}
		}
		var marks []Shape
		for _, p := range h.points {
			at := Point{float64(slices.IndexFunc(times, p.together)), units.Median(p.rates)}
			look, text := same, h.name()+": "+units.Significant(at.Y, 4)+" GTEPS, "+p.build+" on "+p.day
			line = append(line, at)
			rates.add(p.rates...)
			if len(p.rates) > 1 {
				ends := []Point{{at.X, slices.Min(p.rates)}, {at.X, slices.Max(p.rates)}}
				marks = append(marks, Line{ends, same.Color, 1, false, About{}})
			}
			if p.changed() {
				look = map[compare.Verdict]Look{compare.Slower: slower, compare.Faster: faster}[p.change.Verdict]
				change, interval := p.percentages()
				text += ", " + change + " (" + interval + ")"
				marks = append(marks, Text{At: at, Text: change, Color: Ink(), Size: 8, DY: 6})
			}
			marks = append(marks, Mark{at, look.Glyph, look.Color, 3.6, false, About{string(p.change.Verdict), text}})
		}
		panel.Y = linearAxis("GTEPS", rates.high*1.55)
		panel.Shapes = append([]Shape{Line{line, same.Color, 1, false, About{}}}, marks...)
		panel.Shapes = append(panel.Shapes, Text{At: Point{x.Min, panel.Y.Max}, Text: h.name(),
			Color: Ink(), Size: 8, Left: true, DX: 5, DY: -9})
		f.Panels = append(f.Panels, panel)
	}
	return f
}

// together reports whether two points are of the same build on the same day.
func (p historyPoint) together(q historyPoint) bool { return p.day == q.day && p.build == q.build }

// historyTable has all points of all histories.
func historyTable(all []history) Table {
	var runs []Run
	for _, h := range all {
		runs = append(runs, h.run)
	}
	t := NewRunTable(runs, Run.On, "machine|#day|build|#runs|#GTEPS|#change|#interval|verdict|also changed",
		"GTEPS are medians over the runs. The change is that of a typical root or run against the runs before, at most "+
			units.Integer(maxBaseline)+", with its 95 % interval.")
	for _, h := range all {
		for i, p := range h.points {
			change, interval := p.percentages()
			verdict := map[bool]string{true: "", false: string(p.change.Verdict)}[i == 0]
			t.Add(h.run.Label, h.run.graphCell(), h.machine, p.day, p.build, units.Integer(int64(len(p.rates))),
				median(p.rates), change, interval, verdict, strings.Join(p.other, ", "))
			t.Style(9, map[compare.Verdict]string{compare.Slower: "bad", compare.Faster: "good"}[p.change.Verdict])
		}
	}
	t.DropShared(2)
	t.DropEmpty()
	return t
}
