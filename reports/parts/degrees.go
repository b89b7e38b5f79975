// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tepsbench/teps/graph/stats"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

// Degrees draws the number of vertices of a graph over their degree. Both axes are logarithmic.
func Degrees(name string, s stats.Graph) reports.Figure {
	f := reports.Figure{Name: "degrees", Title: "Vertices over degree of " + reports.Name(name)}
	f.Note("A bar from one tick to the next has the vertices with a degree from the first number to below the second. " +
		"Duplicates count, self-loops count twice.")
	counts := newSpan()
	panel := reports.Panel{Height: 3.2}
	const low = 0.5 // so that one vertex has a bar
	tick := func(i int, degree int64) {
		label := strconv.FormatInt(degree, 10)
		if i > 10 {
			label = "2" + reports.Superscript(i-1)
		}
		if len(s.Degrees) <= 20 || i%2 == 0 {
			panel.X.Ticks = append(panel.X.Ticks, reports.Tick{At: float64(i) - 0.5, Label: label})
		}
	}
	for i, d := range s.Degrees {
		tick(i, d.First)
		if d.Vertices > 0 {
			counts.add(float64(d.Vertices))
			panel.Shapes = append(panel.Shapes,
				reports.Bar{At: float64(i), Half: 0.42, From: low, To: float64(d.Vertices), Color: reports.Looks(0).Color,
					About: reports.About{Text: fmt.Sprintf("degree %d to %d: %s vertices", d.First, d.Last,
						units.Integer(d.Vertices))}})
		}
	}
	if n := len(s.Degrees); n > 0 {
		tick(n, s.Degrees[n-1].Last+1)
	}
	panel.X.Title, panel.X.Min, panel.X.Max = "Degree", -0.7, float64(len(s.Degrees))-0.3
	panel.Y = reports.Axis{Title: "Vertices, log scale", Min: low, Max: math.Max(counts.high, 2) * 1.5, Log: true,
		Grid: true}
	f.Panels = []reports.Panel{panel}
	return f
}
