package reports

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Traffic is what searches with a number of ranks send, per search: messages and bytes as counted, and the seconds that
// a model gives them in a network.
type Traffic struct {
	Series   string // the cut
	Ranks    int
	Messages float64
	Bytes    float64
	Modelled float64 // seconds
}

// overRanks draws a positive quantity of a series over the number of ranks, both on log axes.
type overRanks struct {
	look    look
	measure measure
	dashed  bool
	ranks   []int
	values  []float64
}

func (o overRanks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	for i, v := range o.values {
		if v > 0 && finite(v) {
			line = append(line, vg.Point{X: x(math.Log2(float64(o.ranks[i]))), Y: y(o.measure.at(v))})
		}
	}
	style := draw.LineStyle{Color: o.look.line, Width: 1.3, Dashes: o.look.dashes}
	if o.dashed {
		style.Dashes = []vg.Length{4, 3}
	}
	if len(line) > 1 {
		c.StrokeLines(style, line)
	}
	for _, at := range line {
		mark(c, o.look, at, o.dashed)
	}
}

// traffic draws messages, bytes and modelled transfer times over the number of ranks, one below the other: what was
// counted in full lines, what was modelled in broken ones with open marks.
func traffic(p pen, scale int, model string, points []Traffic) *figure {
	f := &figure{
		name: "messages", title: fmt.Sprintf("Messages and bytes of a search at scale %d over the number of ranks, counted, and their modelled transfer time", scale),
		width: figureWidth, height: 6 * vg.Inch, pen: p,
		notes: []string{
			"Messages and bytes are counted in searches by in-process ranks, those of all ranks together; means of a search.",
			"Transfer times (broken lines, open marks) are not measured: a model gives " + model + ", the busiest rank of every phase counts.",
		},
	}
	var names []string
	for _, t := range points {
		if !slices.Contains(names, t.Series) {
			names = append(names, t.Series)
		}
	}
	for k, quantity := range []struct {
		title  string
		of     func(Traffic) float64
		dashed bool
	}{
		{"Messages", func(t Traffic) float64 { return t.Messages }, false},
		{"Bytes", func(t Traffic) float64 { return t.Bytes }, false},
		{"Modelled transfer (ms)", func(t Traffic) float64 { return t.Modelled * 1e3 }, true},
	} {
		out := p.plot("", quantity.title)
		lowest, highest := math.Inf(1), 0.0
		first, last := math.Inf(1), 0.0
		for _, t := range points {
			if v := quantity.of(t); v > 0 && finite(v) {
				lowest, highest = min(lowest, v), max(highest, v)
			}
			first, last = min(first, math.Log2(float64(t.Ranks))), max(last, math.Log2(float64(t.Ranks)))
		}
		if highest == 0 {
			lowest, highest = 1, 10
		}
		m := measure{log: true, min: lowest / 1.6, max: highest * 1.6}
		m.fit(&out.Y)
		out.Add(gridLines{y: true})
		for i, name := range names {
			series := overRanks{look: looks(i), measure: m, dashed: quantity.dashed}
			for _, t := range points {
				if t.Series == name {
					series.ranks, series.values = append(series.ranks, t.Ranks), append(series.values, quantity.of(t))
				}
			}
			out.Add(series)
			if k == 0 {
				f.legend = append(f.legend, seriesEntry(name, looks(i)))
			}
		}
		out.X.Min, out.X.Max = first-0.2, last+0.2
		out.X.Tick.Marker = rankTicks(points)
		f.plots = append(f.plots, out)
	}
	f.plots[len(f.plots)-1].X.Label.Text = "Ranks"
	return f
}

func seriesEntry(name string, l look) entry { return series{label: name, look: l}.legendEntry() }

func rankTicks(points []Traffic) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	seen := map[int]bool{}
	for _, t := range points {
		if !seen[t.Ranks] {
			seen[t.Ranks] = true
			ticks = append(ticks, plot.Tick{Value: math.Log2(float64(t.Ranks)), Label: strconv.Itoa(t.Ranks)})
		}
	}
	return ticks
}

// WriteTraffic draws points into dir, which must exist, as messages.svg and messages.png. model says in words what the
// modelled times assume. The error wraps that of the file system and names the file.
func WriteTraffic(dir string, scale int, model string, points []Traffic) error {
	p, err := newPen()
	if err != nil {
		return err
	}
	_, err = writeFigure(dir, traffic(p, scale, model, points))
	return err
}

// writeFigure writes a figure as SVG and as PNG and returns the paths of what it wrote.
func writeFigure(dir string, f *figure) (paths []string, err error) {
	for _, form := range []struct {
		extension string
		draw      func() ([]byte, error)
	}{{".svg", f.svg}, {".png", f.png}} {
		data, err := form.draw()
		if err != nil {
			return paths, err
		}
		path := filepath.Join(dir, f.name+form.extension)
		if err := writeFile(path, data); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
