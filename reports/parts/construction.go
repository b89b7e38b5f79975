// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"math"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/reports"
)

func construction(runs []reports.Summary, _ []reports.Reference) reports.Part {
	return reports.Part{
		Title: "Kernel 1: time and memory", Table: constructionTable(runs), TableOnly: true,
		Explanation: "Kernel 1 builds the engine’s graph from the tuples. It is timed once, and its work is what makes " +
			"searches fast.",
	}
}

func constructionTable(runs []reports.Summary) reports.Table {
	t := reports.NewRunTable(runs,
		"engine|graph|#generation|#kernel 1|#million tuples/s|#in median searches|#memory held|"+
			"#bytes per tuple|#adjacency entries|#engine's peak|#host's peak",
		"Generation is not timed by the benchmark. Memory is what the engine reports to hold for searching. Peaks are the "+
			"most memory that the processes had, with the tuples and parents that they share.")
	for _, r := range runs {
		c := r.Construction
		if c == nil {
			continue
		}
		seconds, tuples, generation, median := c.Elapsed.Seconds(), math.NaN(), reports.Missing, math.NaN()
		if r.Graph != nil {
			tuples, generation = float64(r.Graph.Tuples), reports.Measured(r.Graph.Generation)
		}
		if s := r.Rates(); s != nil {
			median = s.Time.Median
		}
		t.Add(r.Label, r.GraphCell(), generation, units.Seconds(seconds), reports.Quotient(tuples/1e6, seconds),
			reports.Quotient(seconds, median), units.Bytes(c.Bytes), reports.Quotient(float64(c.Bytes), tuples),
			reports.Count(c.Entries), units.Bytes(r.Peak().Engine), units.Bytes(r.Peak().Host))
	}
	t.DropEmpty()
	return t
}
