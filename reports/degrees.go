package reports

import (
	"fmt"
	"github.com/tepsbench/teps/internal/units"
	"math"
	"strconv"

	"github.com/tepsbench/teps/graph/stats"
)

// DegreesFigure draws how many vertices of a graph have which degree. Both axes are logarithmic.
func DegreesFigure(name string, s stats.Graph) Figure {
	f := Figure{Name: "degrees", Title: "Vertices over degree of " + Name(name)}
	f.note("A bar from one tick to the next has the vertices with a degree from the first number to below the second. " +
		"Duplicates count, self-loops count twice.")
	counts := newSpan()
	panel := Panel{Height: 3.2}
	const low = 0.5 // so that one vertex has a bar
	tick := func(i int, degree int64) {
		label := strconv.FormatInt(degree, 10)
		if i > 10 {
			label = "2" + Superscript(i-1)
		}
		if len(s.Degrees) <= 20 || i%2 == 0 {
			panel.X.Ticks = append(panel.X.Ticks, Tick{float64(i) - 0.5, label})
		}
	}
	for i, d := range s.Degrees {
		tick(i, d.First)
		if d.Vertices > 0 {
			counts.add(float64(d.Vertices))
			panel.Shapes = append(panel.Shapes,
				Bar{At: float64(i), Half: 0.42, From: low, To: float64(d.Vertices), Color: looks(0).Color,
					About: About{Text: fmt.Sprintf("degree %d to %d: %s vertices", d.First, d.Last, units.Integer(d.Vertices))}})
		}
	}
	if n := len(s.Degrees); n > 0 {
		tick(n, s.Degrees[n-1].Last+1)
	}
	panel.X.Title, panel.X.Min, panel.X.Max = "Degree", -0.7, float64(len(s.Degrees))-0.3
	panel.Y = Axis{Title: "Vertices, log scale", Min: low, Max: math.Max(counts.high, 2) * 1.5, Log: true, Grid: true}
	f.Panels = []Panel{panel}
	return f
}
