package reports

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"
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
	var counts []int
	for _, t := range points {
		counts = append(counts, t.Ranks)
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
			series := overCounts{look: looks(i), measure: m, dashed: quantity.dashed}
			for _, t := range points {
				if t.Series == name {
					series.counts, series.values = append(series.counts, t.Ranks), append(series.values, quantity.of(t))
				}
			}
			out.Add(series)
			if k == 0 {
				f.legend = append(f.legend, seriesEntry(name, looks(i)))
			}
		}
		out.X.Min, out.X.Max = first-0.2, last+0.2
		out.X.Tick.Marker = workerTicks(counts)
		f.plots = append(f.plots, out)
	}
	f.plots[len(f.plots)-1].X.Label.Text = "Ranks"
	return f
}

func seriesEntry(name string, l look) entry { return series{label: name, look: l}.legendEntry() }

// WriteTraffic draws points into dir, which must exist, as messages.svg, messages.png and messages.pdf. model says in words what the
// modelled times assume. The error wraps that of the file system and names the file.
func WriteTraffic(dir string, scale int, model string, points []Traffic) error {
	p, err := newPen()
	if err != nil {
		return err
	}
	f := traffic(p, scale, model, points)
	for _, extension := range forms() {
		if err := writeFigure(filepath.Join(dir, f.name+extension), f); err != nil {
			return err
		}
	}
	return nil
}
