// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

// publishedValue is a published mean, or a range from low to high, that can be drawn over scales.
type publishedValue struct {
	label           string // publication and system
	scale           int
	mean, low, high float64
	divided         bool // by ReferenceRow.PerTuple
}

// vendors shortens the names of systems: legends are narrow, and the table has them.
var vendors = strings.NewReplacer("NVIDIA ", "", "Intel ", "", "IBM ", "")

// published picks the values of Kronecker graphs with a scale. of returns the mean, minimum and maximum of a row.
func published(references []reports.Reference,
	of func(reports.ReferenceRow) (mean, low, high float64)) (out []publishedValue) {
	for _, r := range references {
		for _, row := range r.Rows {
			v := publishedValue{label: r.Short + ": " + vendors.Replace(row.System), scale: row.Scale}
			if row.EdgeFactor != 16 {
				v.label += fmt.Sprintf(", edge factor %d", row.EdgeFactor)
			}
			v.mean, v.low, v.high = of(row)
			if n := row.PerTuple; n > 1 {
				v.mean, v.low, v.high = v.mean/n, v.low/n, v.high/n
				v.label, v.divided = v.label+", divided by "+reports.Exactly(n), true
			}
			if v.scale > 0 && v.mean+v.high > 0 {
				out = append(out, v)
			}
		}
	}
	return out
}

// addPublished draws published values in gray with hollow marks and the number of their system in the legend: a mean,
// or the ends of a range with a broken line between them. Values at the same scale stand next to each other. It widens
// the spans of the axes. The room from -half to half around a scale is left to measured values.
func addPublished(f *reports.Figure, panel *reports.Panel, all []publishedValue, half float64, scales, values *span) {
	if len(all) == 0 {
		return
	}
	panel.Height += 1.2
	f.Note("Gray, hollow, broken lines: published by others for their machines, a mean or the slowest and fastest root, " +
		"numbered as in the legend; not measured here.")
	atScale, placed := map[int]int{}, map[int]int{}
	for _, v := range all {
		atScale[v.scale]++
		if v.divided {
			f.Note("Divided: the source counts that many edges for a tuple, which counts once here.")
		}
	}
	var labels []string
	for _, v := range all {
		about := reports.About{Text: v.label + ": " + units.Significant(max(v.mean, v.high), 4)}
		number := slices.Index(labels, v.label)
		if number < 0 {
			number = len(labels)
			labels = append(labels, v.label)
			f.Legend = append(f.Legend, reports.Key{Label: strconv.Itoa(number+1) + "  " + v.label,
				Look: reports.Look{Color: reports.Faint(), Glyph: reports.Looks(number).Glyph, Broken: true, Hollow: true}})
		}
		about.Key = strconv.Itoa(number+1) + "  " + v.label
		at := float64(v.scale) + publishedOffset(placed[v.scale], atScale[v.scale], half)
		placed[v.scale]++
		scales.add(float64(v.scale))
		values.add(v.mean, v.low, v.high)
		hollow := func(y, radius float64) {
			panel.Shapes = append(panel.Shapes, reports.Mark{At: xy(at, y), Glyph: reports.Looks(number).Glyph,
				Color: reports.Faint(), Radius: radius, Hollow: true, About: about})
		}
		if v.high > 0 {
			panel.Shapes = append(panel.Shapes, reports.Line{Points: []reports.Point{xy(at, v.low), xy(at, v.high)},
				Color: reports.Faint(), Width: 0.7, Broken: true, About: about})
			hollow(v.low, 2)
			hollow(v.high, 2)
		}
		if v.mean > 0 {
			hollow(v.mean, 3.2)
		}
		panel.Shapes = append(panel.Shapes, reports.Text{At: xy(at, max(v.mean, v.high)), Text: strconv.Itoa(number + 1),
			Color: reports.Faint(), Size: 7, DY: 4})
	}
}

// publishedOffset is the distance of the i-th of n published values from its scale: they stand on both sides of the
// measured values, which reach from -half to half.
func publishedOffset(i, n int, half float64) float64 {
	side := (n + 1) / 2 // on the left
	step := min(0.17, (0.45-half)/float64(side))
	if i < side {
		return -half - step*(float64(side-i)-0.5)
	}
	return half + step*(float64(i-side)+0.5)
}
