// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"strings"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports"
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
