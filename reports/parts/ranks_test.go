// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// Every phase of the engines with ranks has its color.
func TestPhasesHaveDistinctColors(t *testing.T) {
	run, colors := rankedRun{}, map[reports.Color]string{}
	for p := distributed.Phase(0); p <= distributed.Output; p++ {
		run.phases = append(run.phases, rankedPhase{name: p.String(), seconds: 1})
	}
	f := phaseFigure([]rankedRun{run})
	for _, key := range f.Legend {
		if other, taken := colors[key.Look.Color]; taken {
			t.Errorf("%s and %s have the same color", other, key.Label)
		}
		colors[key.Look.Color] = key.Label
	}
	var drawn []string
	for _, shape := range f.Panels[0].Shapes {
		if bar, ok := shape.(reports.Bar); ok {
			drawn = append(drawn, colors[bar.Color])
		}
	}
	must.Equal(t, strings.Join(drawn, " "), "expand scan fold update reduce clear predecessors output")
}

// A figure with no room for all runs has a note; the table has all runs.
func TestFiguresNameWhatTheyLeaveOut(t *testing.T) {
	for runs, drawn := range map[int]int{2: 2, 25: 16} {
		r := samples.Result(nil, 16)
		for i := range runs {
			r.Runs = append(r.Runs, samples.WithRanks(samples.Run("engine-"+strconv.Itoa(i), i, 16, 4), 4, "2d"))
		}
		part := ranks(all(r).All, nil)
		f := part.Figures[0]
		if says := strings.Contains(strings.Join(f.Notes, " "), "The first 16 of 25 runs"); says != (runs > drawn) ||
			len(part.Table.Rows) != runs || len(f.Panels[0].Y.Ticks) != drawn {
			t.Errorf("%d runs: %d are drawn, %d in the table, the figure says %q", runs, len(f.Panels[0].Y.Ticks),
				len(part.Table.Rows), f.Notes)
		}
	}
}
