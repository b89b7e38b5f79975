// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// A level of several GPUs has the mean and the maximum of their times, and the sums of what they sent; its time is that
// of its phases.
func TestLevelsOfSeveralGPUsAreCombined(t *testing.T) {
	ranks := []*deviceLevel{
		{BottomUp: 1, Frontier: 7, Examined: 50, Nanoseconds: 112, Phase: [numPhases]uint64{100, 0, 0, 10, 2},
			Bytes: [2]uint64{0, 64}, Messages: [2]uint64{0, 1}},
		{BottomUp: 1, Frontier: 7, Examined: 50, Nanoseconds: 110, Phase: [numPhases]uint64{60, 0, 0, 30, 20},
			Bytes: [2]uint64{8, 32}, Messages: [2]uint64{1, 2}},
	}
	scan := plugins.Phase{Name: "scan", Elapsed: 80, Slowest: 100}
	expand := plugins.Phase{Name: "expand", Elapsed: 20, Slowest: 30, Bytes: plugins.Counted(96),
		Messages: plugins.Counted(3)}
	reduce := plugins.Phase{Name: "reduce", Elapsed: 11, Slowest: 20}
	want := plugins.Level{Direction: graph.BottomUp, Frontier: 7, Edges: plugins.Counted(50), Elapsed: 111,
		Bytes: plugins.Counted(104), Messages: plugins.Counted(4), Phases: []plugins.Phase{scan, expand, reduce}}
	equal := cmp.Comparer(func(a, b plugins.Count) bool { return a == b })
	if diff := cmp.Diff(want, combined(ranks, false), equal); diff != "" {
		t.Errorf("without a grid: want (-), got (+):\n%s", diff)
	}
	fold := plugins.Phase{Name: "fold", Bytes: plugins.Counted(8), Messages: plugins.Counted(1)}
	want.Phases = []plugins.Phase{scan, fold, {Name: "update"}, expand, reduce}
	if diff := cmp.Diff(want, combined(ranks, true), equal); diff != "" {
		t.Errorf("on a grid: want (-), got (+):\n%s", diff)
	}
	sum := deviceLevel{}
	for _, r := range ranks {
		sum.add(r)
	}
	if got := sum.phases(false)[0].Elapsed; got != 160*time.Nanosecond {
		t.Errorf("two levels together: got a scan of %v, want 160ns", got)
	}
}
