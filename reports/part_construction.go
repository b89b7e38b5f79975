package reports

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
)

func constructionPart(runs []Run, _ []Reference) Part {
	part := Part{
		Title: "Kernel 1: time and memory", Table: constructionTable(runs), Wide: true, Together: true,
		Explanation: "Kernel 1 builds the engine’s graph from the tuples. It is timed once, and its work is what makes " +
			"searches fast.",
	}
	if f, ok := constructionFigure(runs); ok {
		part.Figures = []Figure{f}
	}
	return part
}

// constructionFigure draws the time of kernel 1 and the memory that the engine holds for searching, one below the
// other: over scales, or as bars by name where all runs have one scale.
func constructionFigure(runs []Run) (Figure, bool) {
	all := seriesOf(runs, func(r Run) bool {
		return r.Construction != nil && r.Construction.Elapsed > 0 && r.Verdict().Word != invalid
	})
	if len(all) == 0 {
		return Figure{}, false
	}
	f := Figure{Name: "kernel-1", Width: fullWidth,
		Title: "Time of kernel 1 and memory held for searching, over the size of the graph, for each engine"}
	f.note("Kernel 1 on the engine’s clock. Memory is what the engine reports to hold between kernel 1 and its last " +
		"search. " + inputs(runs) + "." + recordsNote(runs))
	scales := scalesOf(all)
	for _, quantity := range []struct {
		title string
		of    func(Run) float64
	}{
		{"Kernel 1 (s)", func(r Run) float64 { return r.Construction.Elapsed.Seconds() }},
		{"Memory held (GiB)", func(r Run) float64 { return float64(r.Construction.Bytes) / (1 << 30) }},
	} {
		var curves []curve
		var bars []barRow
		values := newSpan()
		for _, s := range all {
			curves = append(curves, s.overScales(quantity.of))
			for _, r := range s.runs {
				v := quantity.of(r)
				values.add(v)
				bars = append(bars, barRow{Shorten(s.label, 24), []float64{v}, units.Significant(v, 3)})
			}
		}
		switch {
		case values.empty(): // an engine need not report its memory
		case scales.low < scales.high:
			f.Panels = append(f.Panels, curvePanel(2.3, scaleAxis(scales), quantity.title, valueAxis, curves))
			f.Legend = legend(curves)
		default:
			f.Title = fmt.Sprintf("Time of kernel 1 and memory held for searching at scale %g, for each engine", scales.low)
			bars = limited(&f, bars, maxRows, "runs; the table has all")
			f.Panels = append(f.Panels, barPanel(quantity.title, bars, looks(0).Color))
		}
	}
	return f, true
}

// constructionTable has what the figure of kernel 1 shows, by tuple and by search.
func constructionTable(runs []Run) Table {
	t := newTable("engine|#scale|#generation|#kernel 1|#million tuples/s|#in median searches|#memory held|#bytes per "+
		"tuple|#adjacency entries",
		"Generation is not timed by the benchmark. Memory is what the engine reports to hold for searching.")
	for _, r := range runs {
		c := r.Construction
		if c == nil {
			continue
		}
		seconds, tuples, generation, median := c.Elapsed.Seconds(), math.NaN(), Missing, math.NaN()
		if r.Graph != nil {
			tuples, generation = float64(r.Graph.Tuples), measured(r.Graph.Generation)
		}
		if s := r.Rates(); s != nil {
			median = s.Time.Median
		}
		t.add(r.Label, strconv.Itoa(r.Scale), generation, units.Seconds(seconds), ratio(tuples/1e6, seconds),
			ratio(seconds, median), units.Bytes(c.Bytes), ratio(float64(c.Bytes), tuples), Count(c.Entries))
	}
	return t
}
