package reports

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

const mostLevels = 200 // drawn of one search; a path has as many levels as vertices

// levelCounts draws a quantity of every level on a log axis. Levels with none, or with none counted, have no mark.
type levelCounts struct {
	look    look
	measure measure
	values  []float64
}

func (l levelCounts) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	stroke := func() {
		if len(line) > 1 {
			c.StrokeLines(draw.LineStyle{Color: l.look.line, Width: 1.2, Dashes: l.look.dashes}, line)
		}
		line = nil
	}
	for i, v := range l.values {
		if v <= 0 {
			stroke()
			continue
		}
		at := vg.Point{X: x(float64(i)), Y: y(l.measure.at(v))}
		line = append(line, at)
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.look.line, Radius: 3, Shape: l.look.glyph}, at)
	}
	stroke()
}

// levelBands colours the ground behind every level by its direction, so that it can be seen without times too.
type levelBands struct{ levels []plugins.Level }

func (l levelBands) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for i, level := range l.levels {
		left, right := x(float64(i)-0.5), x(float64(i)+0.5)
		c.FillPolygon(directionLook(level.Direction).area, []vg.Point{{X: left, Y: c.Min.Y}, {X: right, Y: c.Min.Y}, {X: right, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	}
}

// levelTimes draws a bar for the time of every level, in the colour of its direction, with its share of the search above
// where the levels are few.
type levelTimes struct {
	levels []plugins.Level
	whole  float64 // seconds of the search
	pen    pen
}

func (l levelTimes) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := min((x(1)-x(0))*0.32, 16)
	for i, level := range l.levels {
		middle, top := x(float64(i)), y(level.Elapsed.Seconds()*1e3)
		style := directionLook(level.Direction)
		c.FillPolygon(style.line, []vg.Point{{X: middle - half, Y: c.Min.Y}, {X: middle + half, Y: c.Min.Y}, {X: middle + half, Y: top}, {X: middle - half, Y: top}})
		if len(l.levels) <= 16 && finite(l.whole) && l.whole > 0 {
			text := l.pen.text(8, faint)
			text.XAlign = draw.XCenter
			c.FillText(text, vg.Point{X: middle, Y: top + 2}, share(level.Elapsed.Seconds(), l.whole))
		}
	}
}

// directionLook keeps the colours of the two directions apart from those of the first two series.
func directionLook(d graph.Direction) look {
	if d == graph.BottomUp {
		return looks(4)
	}
	return looks(5)
}

// overLevels draws one search level by level: above, the vertices expanded and the adjacency entries looked at; below,
// the time of each level and its direction. Nil when the root has no levels.
func overLevels(p pen, label string, scale int, root harness.RootRecord) *figure {
	levels := root.Levels
	if len(levels) == 0 {
		return nil
	}
	f := &figure{
		title: fmt.Sprintf("The search from vertex %d by %s at scale %d, level by level", root.Root, label, scale),
		width: figureWidth, height: 4.2 * vg.Inch, pen: p,
	}
	f.notes = append(f.notes, fmt.Sprintf("%s, scale %d: the root with the median rate, vertex %d, %s in all. Colours: direction of the level. Percentages: of the search.", label, scale, root.Root, duration(root.Time)))
	if len(levels) > mostLevels {
		f.notes = append(f.notes, fmt.Sprintf("The first %d of %d levels.", mostLevels, len(levels)))
		levels = levels[:mostLevels]
	}
	frontier, edges := make([]float64, len(levels)), make([]float64, len(levels))
	highest, slowest := 1.0, 0.0
	anyEdges := false
	seen := map[graph.Direction]bool{}
	for i, level := range levels {
		frontier[i] = float64(level.Frontier)
		if n, known := level.Edges.Get(); known {
			edges[i], anyEdges = float64(n), true
		}
		highest = max(highest, frontier[i], edges[i])
		slowest = max(slowest, level.Elapsed.Seconds()*1e3)
		seen[level.Direction] = true
	}

	m := measure{log: true, min: 0.7, max: highest * 2}
	counts := p.plot("", "Frontier")
	if anyEdges {
		counts.Y.Label.Text = "Count"
	}
	m.fit(&counts.Y)
	counts.Add(levelBands{levels}, gridLines{y: true}, levelCounts{looks(0), m, frontier})
	if anyEdges {
		counts.Add(levelCounts{looks(1), m, edges})
		f.legend = append(f.legend, series{label: "frontier (vertices expanded)", look: looks(0)}.legendEntry(),
			series{label: "adjacency entries looked at", look: looks(1)}.legendEntry())
	}
	f.plots = append(f.plots, counts)

	if slowest > 0 { // an engine may not time its levels
		times := p.plot("", "Time (ms)")
		t := measure{max: slowest * 1.15}
		t.fit(&times.Y)
		times.Add(gridLines{y: true}, levelTimes{levels, root.Time, p})
		f.plots = append(f.plots, times)
	} else {
		f.height /= 2
	}
	for _, d := range []graph.Direction{graph.TopDown, graph.BottomUp} {
		if seen[d] {
			f.legend = append(f.legend, entry{d.String(), func(c draw.Canvas) {
				c.FillPolygon(directionLook(d).line, []vg.Point{{X: c.Min.X + 4, Y: c.Min.Y}, {X: c.Max.X - 4, Y: c.Min.Y}, {X: c.Max.X - 4, Y: c.Max.Y - 1}, {X: c.Min.X + 4, Y: c.Max.Y - 1}})
			}})
		}
	}
	for _, out := range f.plots {
		out.X.Min, out.X.Max = -0.5, float64(len(levels))-0.5
		out.X.Tick.Marker = levelTicks(len(levels))
	}
	f.plots[len(f.plots)-1].X.Label.Text = "Level"
	return f
}

func levelTicks(n int) plot.ConstantTicks {
	every := (n-1)/20 + 1
	var ticks plot.ConstantTicks
	for i := 0; i < n; i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return ticks
}
