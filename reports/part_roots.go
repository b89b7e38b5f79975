package reports

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

const maxRoots = 2048 // lines of a table of roots

func rootsPart(runs []Run, _ []Reference) Part {
	part := Part{
		Title: "Search rates of single roots", Table: timesTable(runs),
		Explanation: "Roots differ in how their levels grow. The spread belongs to the result as much as the mean.",
	}
	if f, ok := rootsFigure(runs); ok {
		part.Figures = []Figure{f}
	}
	return part
}

// rootsFigure draws the rates of every run: a box along its row, and a point for each search next to the box.
func rootsFigure(runs []Run) (Figure, bool) {
	var rows []Run
	colors := map[string]Color{} // by the name of the run
	for _, s := range seriesOf(runs, func(r Run) bool { return r.Rates() != nil }) {
		rows, colors[s.label] = append(rows, s.runs...), s.look.Color
	}
	if len(rows) == 0 {
		return Figure{}, false
	}
	slices.SortStableFunc(rows, func(a, b Run) int { return a.Scale - b.Scale })
	f := Figure{Name: "roots", Title: "Search rates of single roots in GTEPS, for each engine and scale", Width: fullWidth}
	f.note("Point: one root. Box: quartiles; thick line: median. Whiskers: slowest and fastest root. " +
		"Diamond: harmonic mean.")
	rows = limited(&f, rows, maxRows, "runs; the table has all")
	panel, values := Panel{Height: 0.42*float64(len(rows)) + 0.75}, newSpan()
	var names []string
	for i, r := range rows {
		teps := inGTEPS(r.Rates().TEPS)
		values.add(teps.Min, teps.Max)
		names = append(names, r.scaleName())
		place, color := float64(len(rows)-1-i), colors[r.Label]
		panel.Shapes = append(panel.Shapes, cloud(rootRates(r.Roots), place, color)...)
		panel.Shapes = append(panel.Shapes, Box{Across: true, At: place, Half: 0.17, Spread: teps, Color: color},
			Mark{At: Point{teps.Mean, place}, Glyph: Diamond, Color: Ink(), Radius: 2.6})
	}
	panel.X, panel.Y = valueAxis("Search rate of one root (GTEPS)", values), rowAxis(names)
	f.Panels = []Panel{panel}
	return f, true
}

// rootRates are the rates of searches in GTEPS, ascending.
func rootRates(roots []record.RootRecord) []float64 {
	var out []float64
	for _, root := range roots {
		if teps, known := Rate(root); known {
			out = append(out, teps/1e9)
		}
	}
	slices.Sort(out)
	return out
}

// cloud places a point for each value in two bands next to the box of a row. The distance from the box follows the bits
// of the rank reversed (van der Corput 1935), so neighbours lie apart and the drawing is the same every time.
func cloud(values []float64, place float64, color Color) []Shape {
	var out []Shape
	for i, v := range values {
		spread := float64(bits.Reverse32(uint32(i))) / (1 << 32) // 0..1
		away := 0.17 + 0.05 + 0.20*(spread*2-float64(int(spread*2)))
		if spread >= 0.5 {
			away = -away
		}
		out = append(out, Mark{At: Point{v, place + away}, Color: color.fade(pointAlpha), Radius: 1.5})
	}
	return out
}

// timesTable says how the times of a run's searches differ, and which root took longest.
func timesTable(runs []Run) Table {
	t := newTable("engine|#scale|#fastest|#median|#slowest|#ratio|#median tuples",
		"Times of one search on the engine’s clock. The ratio is that of the slowest to the fastest. Tuples are those of "+
			"the component.")
	for _, r := range runs {
		row := []string{r.Label, strconv.Itoa(r.Scale), Missing, Missing, Missing, Missing, Missing}
		if s := r.Rates(); s != nil {
			row = append(row[:2], units.Seconds(s.Time.Min), units.Seconds(s.Time.Median), units.Seconds(s.Time.Max),
				ratio(s.Time.Max, s.Time.Min), Positive(int64(s.NEdge.Median)))
		}
		t.add(row...)
	}
	return t
}

// RootTable lists every search of a run.
func (r Run) RootTable() Table {
	t := newTable("##|#root|#time|#GTEPS|#tuples (nedge)|#m with self-loops|#reached|#depth|#host's clock|"+
		"#validation|verdict", "")
	if n := len(r.Roots); n > maxRoots {
		t.Note = fmt.Sprintf("The first %s of %s searches; the record has all.", units.Integer(maxRoots),
			units.Integer(int64(n)))
	}
	for _, root := range r.Roots[:min(len(r.Roots), maxRoots)] {
		rate, depth, validation, verdict, class := Missing, Missing, Missing, "not validated", "fair"
		if teps, known := Rate(root); known {
			rate = GTEPS(teps)
		}
		if root.Depth != nil {
			depth = strconv.Itoa(*root.Depth)
		}
		if root.Validated {
			validation, verdict, class = measured(root.Validation), "valid", "good"
		}
		if root.Broken() {
			verdict, class = fmt.Sprintf("rule %d: %s", root.Rule, Sentence(root.Violation)), "bad why"
		}
		t.add(strconv.Itoa(root.Index), strconv.FormatInt(int64(root.Root), 10), measured(root.Time), rate,
			optional(root.NEdge, units.Integer), optional(root.M, units.Integer), optional(root.Reached, units.Integer), depth,
			measured(root.Wall), validation, verdict)
		t.style(10, class)
	}
	return t
}
