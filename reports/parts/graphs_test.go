// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// onGraph is a run on a graph without a scale.
func onGraph(engine, source string, tuples int64, gteps float64) record.Run {
	run := samples.Run(engine, 0, 16, 2)
	run.GraphID = record.GraphID{Source: source}
	run.Graph = &record.GraphRecord{Vertices: 1000, Tuples: max(tuples, 1<<20), SHA256: "ab12"}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}

// Engines are compared in the levels of one root, which the first engine's median is. Others have it elsewhere or not.
func TestLevelsOfEnginesAreThoseOfOneRoot(t *testing.T) {
	ms := time.Millisecond
	run := func(label string, scale int, roots ...graph.Vertex) reports.Summary {
		r := samples.Run(label, 0, scale, len(roots))
		for i, root := range roots {
			r.Roots[i].Root, r.Roots[i].Time = root, float64(3+i)/1e3
			r.Roots[i].Levels = []plugins.Level{{Frontier: 1, Edges: plugins.Counted(int64(root)), Elapsed: ms},
				{Frontier: 2, Edges: plugins.Counted(0), Elapsed: 2 * ms}}
		}
		return reports.Summary{Run: r, Label: label}
	}
	small, first, second := run("first", 15, 9), run("first", 16, 7, 9), run("second", 16, 8, 7)
	figures := levelsTogether([]reports.Summary{small, first, second, run("third", 16, 9)})
	if len(figures) != 1 || figures[0].Name != "levels-s16" || len(figures[0].Legend) != 2 {
		t.Fatalf("got %d figures %+v, want one of scale 16 with two engines", len(figures), figures)
	}
	marks := 0
	for _, shape := range figures[0].Panels[0].Shapes {
		if mark, ok := shape.(reports.Mark); ok {
			marks++
			must.Equal(t, mark.At, xy(0, 7), "the 7 entries of root 7 in level 0")
		}
	}
	must.Equal(t, marks, 2, "marks of entries")
	if got := levelsTogether([]reports.Summary{first}); len(got) != 0 {
		t.Errorf("one engine: got %d figures, want none", len(got))
	}
}
