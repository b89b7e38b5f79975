package reports

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tepsbench/teps/internal/units"
)

// GraphsFigure is the name of the figure of rates over graphs.
const GraphsFigure = "rates-over-graphs"

// graphsFigure draws a bar for each run on a graph without a scale, graph by graph, and published rates on the same
// graphs below it. A rate that counts both directions of an edge is halved.
func graphsFigure(runs []Run, references []Reference) Figure {
	var names []string // of graphs
	colors := map[string]Color{}
	rated := func(r Run) bool { return r.Source != "" && r.Rates() != nil }
	for _, s := range seriesOf(runs, rated) {
		colors[s.label] = s.look.Color
	}
	for _, r := range runs {
		if rated(r) && !slices.Contains(names, r.Source) {
			names = append(names, r.Source)
		}
	}
	if len(names) == 0 {
		return Figure{}
	}
	f := Figure{Name: GraphsFigure, Title: "Search rate in GTEPS on each graph, for each engine"}
	f.note("Bar: harmonic mean over the roots.")
	var rows []barRow
	var color []Color // of each row
	for _, name := range names {
		heading := true
		for _, r := range runs {
			if !rated(r) || r.Source != name {
				continue
			}
			if heading {
				rows, color = append(rows, barRow{name: r.GraphName(), label: r.sizeText()}), append(color, Ink())
				heading = false
			}
			rate := r.Rates().TEPS.Mean / 1e9
			text := units.Significant(rate, 3)
			if r.Verdict().Grade >= Bad {
				text += " (not complete)"
			}
			rows, color = append(rows, barRow{r.Label, []float64{rate}, text}), append(color, colors[r.Label])
		}
		for _, row := range publishedOn(name, references) {
			rows, color = append(rows, row.barRow), append(color, Faint())
			f.note("Gray: published by others for their machines, on this graph or one of the same kind and size.")
			if row.halved {
				f.note("Halved: the source counts both directions of an edge, and teps counts an edge once.")
			}
		}
	}
	color = color[:len(limited(&f, rows, maxGraphRows, "rows; the table of rates has all runs"))]
	f.Panels = []Panel{barPanel("Search rate (GTEPS)", rows[:len(color)], Ink())}
	recolor(&f.Panels[0], color)
	return f
}

// maxGraphRows is the number of rows of the figure.
const maxGraphRows = 60

// recolor gives the bars of a panel the colors of their rows, the first at the top.
func recolor(panel *Panel, color []Color) {
	for i, shape := range panel.Shapes {
		if bar, ok := shape.(Bar); ok {
			bar.Color = color[len(color)-1-int(bar.At)]
			panel.Shapes[i] = bar
		}
	}
}

// sizeText is the size of a run's graph, and how deep its searches were.
func (r Run) sizeText() string {
	if r.Graph == nil {
		return ""
	}
	text := units.Integer(r.Graph.Vertices) + " vertices, " + units.Integer(r.Graph.Tuples) + " tuples"
	if depth := r.MeanDepth(); Finite(depth) {
		text += ", depth " + strconv.FormatFloat(math.Round(10*depth)/10, 'f', -1, 64)
	}
	return text
}

// publishedRow is a published rate on a graph.
type publishedRow struct {
	barRow
	halved bool
}

// publishedOn are the published rates on the graph of this name, or on those that a reference says are like it.
func publishedOn(name string, references []Reference) (out []publishedRow) {
	for _, reference := range references {
		for _, row := range reference.Rows {
			if row.GTEPS == 0 || row.Source != name && (row.Graph == "" || plainName(row.Graph) != plainName(name)) {
				continue
			}
			rate, text := row.GTEPS, exactly(row.GTEPS)
			if reference.Directions == 2 {
				rate, text = rate/2, "half of "+text
			}
			out = append(out, publishedRow{
				barRow{fmt.Sprintf("%s: %s", reference.Short, vendors.Replace(row.System)), []float64{rate}, text},
				reference.Directions == 2,
			})
		}
	}
	return out
}

// plainName is the name of a graph without the extensions of its file and without punctuation: europe_osm.mtx.gz and
// europe.osm are the same.
func plainName(name string) string {
	for _, ext := range []string{".gz", ".zst", ".tuples", ".tuples16", ".el", ".txt", ".edges", ".snap", ".wel", ".mtx",
		".graph", ".metis", ".gr", ".e", ".v", ".sg", ".wsg", ".ungraph"} {
		name = strings.TrimSuffix(name, ext)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, filepath.Base(name))
}
