package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

const maxRoots = 2048 // lines of a table of roots

// rootsFigure draws the rates of every run: a box along its row, and a point for each search next to the box.
func rootsFigure(runs []Run) Figure {
	var rows []Run
	colors := map[string]Color{} // by the name of the run
	for _, s := range seriesOf(runs, func(r Run) bool { return r.Rates() != nil }) {
		rows, colors[s.label] = append(rows, s.runs...), s.look.Color
	}
	if len(rows) == 0 {
		return Figure{}
	}
	slices.SortStableFunc(rows, func(a, b Run) int { return a.Scale - b.Scale })
	f := Figure{Name: "roots", Title: "Search rates of single roots in GTEPS, for each engine and scale"}
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
	return f
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

// cloud places a point for each value in two bands next to the box of a row. Multiples of the golden ratio keep
// neighbours apart, and make the drawing the same every time.
func cloud(values []float64, place float64, color Color) (out []Shape) {
	for i, v := range values {
		_, part := math.Modf(float64(i) * math.Phi)
		away := 0.22 + 0.2*part
		if i%2 == 1 {
			away = -away
		}
		out = append(out, Mark{At: Point{v, place + away}, Color: color.fade(pointAlpha), Radius: 1.5})
	}
	return out
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
