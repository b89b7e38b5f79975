package reports

import (
	"math"

	"github.com/tepsbench/teps/internal/units"
)

func constructionPart(runs []Run, _ []Reference) Part {
	return Part{
		Title: "Kernel 1: time and memory", Figures: []Figure{constructionFigure(runs)}, Table: constructionTable(runs),
		Explanation: "Kernel 1 builds the engine’s graph from the tuples. It is timed once, and its work is what makes " +
			"searches fast.",
		Wide: true,
	}
}

// constructionFigure draws the time of kernel 1 and the memory that the engine holds for searching, both by input
// tuple, so that graphs of all sizes can be compared.
func constructionFigure(runs []Run) Figure {
	f := Figure{Name: "kernel-1",
		Title: "Time of kernel 1 and memory held for searching, by input tuple"}
	f.note("Kernel 1 on the engine’s clock. Memory is what the engine reports to hold between kernel 1 and its last " +
		"search. " + inputs(runs) + ".")
	var times, memory []row
	add := func(rows *[]row, r Run, value float64) {
		value /= float64(r.Graph.Tuples)
		*rows = append(*rows, barRow(r.rowName(), units.Significant(value, 3), []float64{value}, looks(0).Color))
	}
	for _, r := range runs {
		if r.Construction == nil || r.Construction.Elapsed <= 0 || r.Graph == nil || r.Graph.Tuples <= 0 ||
			r.Verdict().Grade == Wrong {
			continue
		}
		add(&times, r, float64(r.Construction.Elapsed.Nanoseconds()))
		if r.Construction.Bytes > 0 { // an engine need not report its memory
			add(&memory, r, float64(r.Construction.Bytes))
		}
	}
	for i, rows := range [][]row{times, memory} {
		if len(rows) > 0 {
			title := []string{"Kernel 1 (ns per tuple)", "Memory held (bytes per tuple)"}[i]
			f.Panels = append(f.Panels, barPanel(title, limited(&f, rows, maxRows, "runs; the table has all")))
		}
	}
	return f
}

// constructionTable has what the figure of kernel 1 shows, by tuple and by search.
func constructionTable(runs []Run) Table {
	t := NewRunTable(runs, Run.On, "#generation|#kernel 1|#million tuples/s|#in median searches|#memory held|"+
		"#bytes per tuple|#adjacency entries",
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
		t.Add(r.Label, r.graphCell(), generation, units.Seconds(seconds), ratio(tuples/1e6, seconds),
			ratio(seconds, median), units.Bytes(c.Bytes), ratio(float64(c.Bytes), tuples), Count(c.Entries))
	}
	return t
}
