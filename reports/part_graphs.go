package reports

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/internal/units"
)

// GraphsFigure is the name of the figure of rates over graphs.
const GraphsFigure = "rates-over-graphs"

// maxGraphRows is the number of rows of the figure.
const maxGraphRows = 60

// rateRow is a row of the figure: a rate, or the heading of a graph, which has none.
type rateRow struct {
	name string
	rate float64 // GTEPS
	text string  // after the mark
	look Look
}

// graphsFigure draws a mark for each run on a graph without a scale, graph by graph, and published rates on the same
// graphs below it.
func graphsFigure(runs []Run, references []Reference) Figure {
	var named []Run // on graphs without a scale
	look := map[string]Look{}
	for _, s := range seriesOf(runs, func(r Run) bool { return r.Source != "" && r.Rates() != nil }) {
		look[s.label] = s.look
		named = append(named, s.runs...)
	}
	if len(named) == 0 {
		return Figure{}
	}
	order := map[string]int{} // of the graphs: as in the records
	for i, r := range slices.Backward(runs) {
		order[r.Source] = i
	}
	slices.SortStableFunc(named, func(a, b Run) int { return order[a.Source] - order[b.Source] })
	f := Figure{Name: GraphsFigure, Title: "Search rate in GTEPS on each graph, for each engine"}
	f.note("Mark: harmonic mean over the roots. Depth: mean of the largest levels.")
	var rows []rateRow
	for i, r := range named {
		if i == 0 || named[i-1].Source != r.Source {
			rows = append(rows, rateRow{name: r.graphCell(), text: r.sizeText()})
		}
		rate := r.Rates().TEPS.Mean / 1e9
		row := rateRow{r.Label, rate, units.Significant(rate, 3), look[r.Label]}
		if r.Verdict().Grade >= Bad {
			row.text, row.look.Hollow = row.text+" (not complete)", true
		}
		if rows = append(rows, row); i+1 == len(named) || named[i+1].Source != r.Source {
			rows = append(rows, publishedOn(&f, r, references)...)
		}
	}
	rows = limited(&f, rows, maxGraphRows, "rows; the table of rates has all runs")
	f.Panels = []Panel{ratePanel(rows)}
	return f
}

// ratePanel draws the rows, the first at the top, with a line above each heading.
func ratePanel(rows []rateRow) Panel {
	panel, values := Panel{Height: 0.24*float64(len(rows)) + 0.65}, newSpan()
	var names []string
	width := 0 // of the longest text, in characters
	for _, r := range rows {
		names = append(names, r.name)
		if values.add(r.rate); r.rate > 0 {
			width = max(width, utf8.RuneCountInString(r.text))
		}
	}
	panel.X, panel.Y = valueAxis("Search rate (GTEPS)", values), rowAxis(names)
	const room = 0.02 // for a character, as a share of the axis
	if x := &panel.X; x.Log {
		x.Max *= math.Pow(x.Max/x.Min, room*float64(width))
	} else {
		x.Max *= 1 + room*float64(width)
	}
	for i, r := range rows {
		place := float64(len(rows) - 1 - i)
		at := Point{r.rate, place}
		if r.rate == 0 {
			at.X = panel.X.Min
			line := []Point{{panel.X.Min, place + 0.5}, {panel.X.Max, place + 0.5}}
			panel.Shapes = append(panel.Shapes, Line{line, Grid(), 0.8, false})
		} else {
			panel.Shapes = append(panel.Shapes, Mark{at, r.look.Glyph, r.look.Color, 3.2, r.look.Hollow})
		}
		panel.Shapes = append(panel.Shapes, Text{At: at, Text: r.text, Color: Ink(), Size: 8, Left: true, DX: 6, DY: -3})
	}
	return panel
}

// sizeText is the size of a run's graph, and how deep its searches were.
func (r Run) sizeText() string {
	if r.Graph == nil {
		return ""
	}
	text := units.Integer(r.Graph.Vertices) + " vertices, " + units.Integer(r.Graph.Tuples) + " tuples"
	if depth := r.MeanDepth(); Finite(depth) {
		text += ", depth " + units.Integer(int64(depth+0.5))
	}
	return text
}

// publishedOn are the rows of published rates on the graph of a run, or on one of its kind and size.
func publishedOn(f *Figure, run Run, references []Reference) (out []rateRow) {
	for _, reference := range references {
		for _, row := range reference.Rows {
			if row.GTEPS == 0 || !row.isOf(run) {
				continue
			}
			rate := row.GTEPS / row.PerTuple
			text := exactly(row.GTEPS)
			f.note("Gray, hollow: published by others for their machines, on this graph or one of its kind and size.")
			if row.PerTuple > 1 {
				text = units.Significant(rate, 3) + " (" + text + " / " + exactly(row.PerTuple) + ")"
				f.note("In brackets: the published rate, and how many edges the source counts for a tuple.")
			}
			out = append(out, rateRow{reference.Short + ": " + vendors.Replace(row.System), rate, text,
				Look{Color: Faint(), Glyph: Circle, Hollow: true}})
		}
	}
	return out
}

// isOf reports whether the row is of the graph of a run: made by the same generator, or from a file of that name that
// has as many tuples. Self-loops, which some publications leave out, may make a third of them.
func (r ReferenceRow) isOf(run Run) bool {
	if r.Source == run.Source {
		return true
	}
	begin := plainName(cmp.Or(r.File, r.Graph))
	if begin == "" || run.Graph == nil || r.Edges == 0 || !strings.HasPrefix(plainName(run.Source), begin) {
		return false
	}
	ratio := float64(run.Graph.Tuples) * r.PerTuple / r.Edges
	return ratio > 0.75 && ratio < 4.0/3
}

// plainName is the name of a file or of a graph without punctuation: europe_osm and europe.osm are the same.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, filepath.Base(name))
}
