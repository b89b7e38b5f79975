// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// A level of one of several GPUs has the time of its phases, and the sums of what the GPU sent.
func TestLevelOfARank(t *testing.T) {
	rank := deviceLevel{BottomUp: 1, Frontier: 7, Examined: 50, Nanoseconds: 112,
		Phase: [numPhases]uint64{100, 0, 0, 10, 2}, Bytes: [2]uint64{8, 64}, Messages: [2]uint64{1, 2}}
	scan, reduce := plugins.Phase{Name: "scan", Elapsed: 100}, plugins.Phase{Name: "reduce", Elapsed: 2}
	expand := plugins.Phase{Name: "expand", Elapsed: 10, Bytes: plugins.Counted(64), Messages: plugins.Counted(2)}
	want := plugins.Level{Direction: graph.BottomUp, Frontier: 7, Edges: plugins.Counted(50), Elapsed: 112,
		Bytes: plugins.Counted(72), Messages: plugins.Counted(3), Phases: []plugins.Phase{scan, expand, reduce}}
	equal := cmp.Comparer(func(a, b plugins.Count) bool { return a == b })
	if diff := cmp.Diff(want, rank.ofRank(false), equal); diff != "" {
		t.Errorf("without a grid: want (-), got (+):\n%s", diff)
	}
	fold := plugins.Phase{Name: "fold", Bytes: plugins.Counted(8), Messages: plugins.Counted(1)}
	want.Phases = []plugins.Phase{scan, fold, {Name: "update"}, expand, reduce}
	if diff := cmp.Diff(want, rank.ofRank(true), equal); diff != "" {
		t.Errorf("on a grid: want (-), got (+):\n%s", diff)
	}
	sum := rank
	if sum.add(&rank); sum.phases(false)[0].Elapsed != 200 {
		t.Errorf("two levels together: got a scan of %v, want 200ns", sum.phases(false)[0].Elapsed)
	}
}
