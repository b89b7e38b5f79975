// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"math"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

func directions(runs []reports.Summary, _ []reports.Reference) reports.Part {
	shares := directionShares(runs)
	return reports.Part{
		Title: "Top-down and bottom-up", Table: directionsTable(shares),
		Figures: []reports.Figure{directionsFigure(shares)},
		Explanation: "A search begins top-down. It goes bottom-up where most vertices are unvisited, because each then " +
			"needs to find only one parent.",
	}
}

// directionShare has the time and entries of a search, top-down (index 0) and bottom-up (1): means over the searches
// with levels.
type directionShare struct {
	reports.Summary
	time    float64 // seconds of a search
	seconds [2]float64
	levels  [2]float64
	entries [2]float64 // adjacency entries that were read
	counted bool       // entries were counted in every level of every search
	tuples  float64    // of the component; NaN unless every search counted them
}

// outside is the time of a search that no level accounts for: clearing, output, waiting.
func (d directionShare) outside() float64 { return max(0, d.time-d.seconds[0]-d.seconds[1]) }

func directionShares(runs []reports.Summary) (out []directionShare) {
	for _, r := range runs {
		if d, timed := sumDirections(r); timed && r.Rates() != nil {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b directionShare) int { return byGraph(a.Summary, b.Summary) })
	return out
}

func sumDirections(r reports.Summary) (directionShare, bool) {
	d := directionShare{Summary: r, counted: true}
	var all []record.RootRecord
	for _, root := range r.Roots {
		if drawable(r, root) && root.Time > 0 {
			all = append(all, root)
		}
	}
	n := float64(len(all))
	for _, root := range all {
		d.time += root.Time / n
		for _, level := range root.Levels {
			k := directionOf(level)
			entries, known := level.Edges.Get()
			d.seconds[k] += max(0, level.Elapsed.Seconds()) / n
			d.levels[k] += 1 / n
			d.entries[k] += float64(entries) / n
			d.counted = d.counted && known
		}
		tuples := math.NaN()
		if root.NEdge != nil {
			tuples = float64(*root.NEdge)
		}
		d.tuples += tuples / n
	}
	return d, d.seconds[0]+d.seconds[1] > 0
}

// directionOf is the index of a level's direction: 0 top-down, 1 bottom-up.
func directionOf(level plugins.Level) int {
	if level.Direction == graph.BottomUp {
		return 1
	}
	return 0
}

func directionKeys() []reports.Key {
	return blocks(directionColors(), "top-down", "bottom-up", "outside levels")
}

// directionColors differ from those of the first series.
func directionColors() []reports.Color {
	return []reports.Color{reports.Series()[5], reports.Series()[4], reports.Outside()}
}

func directionsFigure(rows []directionShare) reports.Figure {
	f := reports.Figure{
		Name: "directions", Title: "Share of the search time in top-down and bottom-up levels, for each engine and graph",
	}
	f.Note("Means over the searches of a run. Outside levels: clearing, output and whatever an engine does not count as " +
		"a level.")
	if len(rows) == 0 {
		return f
	}
	rows = limited(&f, rows, maxRows, "runs; the table has all")
	var bars []row
	for _, r := range rows {
		parts := []float64{r.seconds[0], r.seconds[1], r.outside()}
		whole := parts[0] + parts[1] + parts[2]
		for k := range parts {
			parts[k] *= 100 / whole
		}
		bar := barRow(r.RowName(), "", parts, directionColors()...)
		drawBars := bar.draw
		bar.draw = func(place float64) []reports.Shape {
			shapes, sum := drawBars(place), 0.0
			for _, part := range parts {
				shapes = append(shapes, reports.Text{At: xy(sum+part/2, place), Text: fmt.Sprintf("%.0f %%", part),
					Color: reports.OnBar(), Size: 8, Room: max(part, 0.1), DY: -3})
				sum += part
			}
			return shapes
		}
		bars = append(bars, bar)
	}
	f.Panels = []reports.Panel{rowPanel(linearAxis("Share of the time of a search (%)", 100), barHeight, bars)}
	f.Legend = directionKeys()
	return f
}

// directionsTable has the times of the figure, and the entries that each direction looked at.
func directionsTable(rows []directionShare) reports.Table {
	t := reports.NewRunTable(rows,
		"engine|graph|#levels|#bottom-up levels|#time in top-down levels|#in bottom-up levels|"+
			"#outside levels|#entries looked at, top-down|#bottom-up|#per tuple",
		"Means of a search. Entries are those of adjacency lists that were looked at, where an engine counts them. A "+
			"search of only top-down steps would look at 2 for every tuple of the component, or fewer where duplicates are "+
			"dropped.")
	for _, d := range rows {
		down, up, perTuple := reports.Missing, reports.Missing, reports.Missing
		if d.counted {
			down, up = units.Integer(int64(d.entries[0]+0.5)), units.Integer(int64(d.entries[1]+0.5))
			perTuple = reports.Quotient(d.entries[0]+d.entries[1], d.tuples)
		}
		t.Add(d.Label, d.GraphCell(), units.Significant(d.levels[0]+d.levels[1], 3),
			units.Significant(d.levels[1], 3), units.Seconds(d.seconds[0]), units.Seconds(d.seconds[1]),
			units.Seconds(d.outside()), down, up, perTuple)
	}
	t.DropEmpty()
	return t
}
