// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

// publishedValue is a published mean, or a range from low to high, with tuples counted once.
type publishedValue struct {
	reports.ReferenceRow
	label           string // publication and system
	mean, low, high float64
	stated          float64 // the mean as published
}

// vendors shortens the names of systems: legends are narrow, and the table has them.
var vendors = strings.NewReplacer("NVIDIA ", "", "Intel ", "", "IBM ", "")

// publishedBy are the values of the quantity that the publications have.
func (q quantity) publishedBy(references []reports.Reference) (out []publishedValue) {
	for _, r := range references {
		for _, row := range r.Rows {
			mean, low, high := q.published(row)
			if n := row.PerTuple; mean+high > 0 {
				out = append(out, publishedValue{row, r.Short + ": " + vendors.Replace(row.System), mean / n, low / n, high / n,
					mean})
			}
		}
	}
	return out
}

// addPublished draws published values of graphs with a scale: a mean, or the ends of a range with a broken line between
// them. It widens the spans of the axes. The room from -half to half around a scale is left to measured values.
func addPublished(f *reports.Figure, panel *reports.Panel, all []publishedValue, half float64, scales, values *span) {
	atScale, placed := map[int]int{}, map[int]int{}
	for _, v := range all {
		atScale[v.Scale]++
	}
	if delete(atScale, 0); len(atScale) == 0 {
		return
	}
	panel.Height += 1.2
	f.Note("Gray, hollow, broken lines: published by others for their machines, a mean or the slowest and fastest root, " +
		"numbered as in the legend; not measured here.")
	var labels []string
	for _, v := range all {
		if v.Scale == 0 {
			continue
		}
		if v.EdgeFactor != 16 {
			v.label += fmt.Sprintf(", edge factor %d", v.EdgeFactor)
		}
		if v.PerTuple > 1 {
			v.label += ", divided by " + reports.Exactly(v.PerTuple)
			f.Note("Divided: the source counts that many edges for a tuple, which counts once here.")
		}
		number := slices.Index(labels, v.label)
		if number < 0 {
			number = len(labels)
			labels = append(labels, v.label)
		}
		key := reports.Key{Label: strconv.Itoa(number+1) + "  " + v.label,
			Look: reports.Look{Color: reports.Faint(), Glyph: reports.Looks(number).Glyph, Broken: true, Hollow: true}}
		if !slices.Contains(f.Legend, key) {
			f.Legend = append(f.Legend, key)
		}
		about := reports.About{Key: key.Label, Text: v.label + ": " + units.Significant(max(v.mean, v.high), 4)}
		at := float64(v.Scale) + publishedOffset(placed[v.Scale], atScale[v.Scale], half)
		placed[v.Scale]++
		scales.add(float64(v.Scale))
		values.add(v.mean, v.low, v.high)
		hollow := func(y, radius float64) reports.Mark {
			return reports.Mark{At: xy(at, y), Look: key.Look, Radius: radius, About: about}
		}
		if v.high > 0 {
			panel.Shapes = append(panel.Shapes, reports.Line{Points: []reports.Point{xy(at, v.low), xy(at, v.high)},
				Color: reports.Faint(), Width: 0.7, Broken: true, About: about}, hollow(v.low, 2), hollow(v.high, 2))
		}
		if v.mean > 0 {
			panel.Shapes = append(panel.Shapes, hollow(v.mean, 3.2))
		}
		panel.Shapes = append(panel.Shapes, reports.Text{At: xy(at, max(v.mean, v.high)), Text: strconv.Itoa(number + 1),
			Color: reports.Faint(), Size: 7, DY: 4})
	}
}

// publishedOffset is the distance of the i-th of n published values from its scale.
func publishedOffset(i, n int, half float64) float64 {
	side := (n + 1) / 2 // on the left
	step := min(0.17, (0.45-half)/float64(side))
	if i < side {
		return -half - step*(float64(side-i)-0.5)
	}
	return half + step*(float64(i-side)+0.5)
}

// publishedOn are the rows of published means on the graph of a run, or on one of its kind and size.
func publishedOn(f *reports.Figure, run reports.Summary, all []publishedValue) (out []row) {
	for _, v := range all {
		if v.mean == 0 || !isOf(v.ReferenceRow, run) {
			continue
		}
		text := reports.Exactly(v.stated)
		f.Note("Gray, hollow: published by others for their machines, on this graph or one of its kind and size.")
		if v.PerTuple > 1 {
			text = units.Significant(v.mean, 3) + " (" + text + " / " + reports.Exactly(v.PerTuple) + ")"
			f.Note("In brackets: the published value, and how many edges the source counts for a tuple.")
		}
		out = append(out, markRow(v.label, v.mean, text,
			reports.Look{Color: reports.Faint(), Glyph: reports.Circle, Hollow: true}))
	}
	return out
}

// isOf reports whether the row is of the graph of a run: of the same generator, or from a file of that name whose
// number of tuples differs by at most a third, because some publications leave out self-loops.
func isOf(r reports.ReferenceRow, run reports.Summary) bool {
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
