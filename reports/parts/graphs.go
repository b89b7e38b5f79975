// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"math"
	"slices"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

const maxGraphRows = 60 // of the figure

// graphsFigure draws a mark for each run on a graph without a scale, with published values on the same graph below.
func graphsFigure(f reports.Figure, runs []reports.Summary, references []reports.Reference, q quantity) reports.Figure {
	var named []reports.Summary // on graphs without a scale
	look := map[string]reports.Look{}
	for _, s := range seriesOf(runs, func(r reports.Summary) bool { return r.Source != "" && q.measured(r) > 0 }) {
		look[s.label] = s.look
		named = append(named, s.runs...)
	}
	if len(named) == 0 {
		return reports.Figure{}
	}
	order := map[string]int{} // of the graphs: as in the records
	for i, r := range slices.Backward(runs) {
		order[r.Source] = i
	}
	slices.SortStableFunc(named, func(a, b reports.Summary) int { return order[a.Source] - order[b.Source] })
	var rows []row
	for i, r := range named {
		if i == 0 || named[i-1].Source != r.Source {
			rows = append(rows, graphHeading(r))
		}
		value, mark := q.measured(r), look[r.Label]
		text := units.Significant(value, 3)
		if r.Verdict().Grade >= reports.Bad {
			text, mark.Hollow = text+" (not complete)", true
		}
		rows = append(rows, markRow(r.Label, value, text, mark))
		if i+1 == len(named) || named[i+1].Source != r.Source {
			rows = append(rows, publishedOn(&f, r, q.publishedBy(references))...)
		}
	}
	rows = limited(&f, rows, maxGraphRows, "rows; the table has all runs")
	values := newSpan()
	for _, r := range rows {
		values.add(r.end)
	}
	f.Panels = []reports.Panel{rowPanel(valueAxis(q.axis, values), 0.24, rows)}
	return f
}

func markRow(name string, value float64, text string, look reports.Look) row {
	return row{name: name, end: value, text: text, draw: func(place float64) []reports.Shape {
		return []reports.Shape{reports.Mark{At: xy(value, place), Look: look, Radius: 3.2,
			About: reports.About{Key: name, Text: name + ": " + text}}}
	}}
}

// graphHeading is a row with a line above it and the size of a run's graph.
func graphHeading(r reports.Summary) row {
	const end = math.MaxFloat64 // drawn at the end of the axis
	return row{name: r.GraphCell(), draw: func(place float64) []reports.Shape {
		return []reports.Shape{
			reports.Line{Points: []reports.Point{xy(-end, place+0.5), xy(end, place+0.5)}, Color: reports.Grid(), Width: 0.8},
			reports.Text{At: xy(-end, place), Text: sizeText(r), Color: reports.Faint(), Size: 8, Left: true, DX: 5, DY: -3},
		}
	}}
}

// sizeText is the size of a run's graph, and the depth of its searches.
func sizeText(r reports.Summary) string {
	if r.Graph == nil {
		return ""
	}
	text := units.Integer(r.Graph.Vertices) + " vertices, " + units.Integer(r.Graph.Tuples) + " tuples"
	if depth := r.MeanDepth(); !math.IsNaN(depth) {
		text += ", depth " + units.Integer(int64(depth+0.5))
	}
	return text
}
