// SPDX-License-Identifier: Apache-2.0

package team

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

func TestProcessesTakeGPUsInTurn(t *testing.T) {
	for device, want := range map[string][]int{"0": {0, 1, 2}, "2": {2, 3, 4}, "3,1": {3, 1, 3}, "0,0": {0, 0, 0}} {
		all := must.Get(devices(device))
		for place := range want {
			if got := (Grid{Devices: all}).Device(place); got != want[place] {
				t.Errorf("device=%s, place %d: got %v, want %v", device, place, got, want[place])
			}
		}
	}
	for _, device := range []string{"", "-1", "two", "0,", ",", "0,1024", strings.Repeat("0,", MaxRanks) + "0"} {
		if got, err := devices(device); !errors.Is(err, plugins.ErrOption) {
			t.Errorf("device=%q: got %v and %v, want ErrOption", device, got, err)
		}
	}
}

func TestPartitionMakesAGrid(t *testing.T) {
	for _, test := range []struct {
		partition         string
		rows, ranks, want int // rows
	}{
		{"1d-dest", 0, 4, 4}, {"1d-source", 0, 4, 1}, {"2d", 0, 1, 1}, {"2d", 0, 2, 2}, {"2d", 0, 4, 2}, {"2d", 0, 6, 3},
		{"2d", 0, 7, 7}, {"2d", 0, 16, 4}, {"2d", 1, 4, 1}, {"2d", 4, 4, 4},
	} {
		if got := gridRows(test.partition, test.rows, test.ranks); got != test.want {
			t.Errorf("%+v: got %d rows", test, got)
		}
	}
}

// A level of one of several GPUs has the time of its phases, and the sums of what the GPU sent.
func TestLevelOfARank(t *testing.T) {
	rank := Spent{Phase: [NumPhases]uint64{100, 0, 0, 10, 2}, Bytes: [2]uint64{8, 64}, Messages: [2]uint64{1, 2}}
	describe := func(grid bool) (l plugins.Level) {
		rank.Describe(&l, grid)
		return l
	}
	scan, reduce := plugins.Phase{Name: "scan", Elapsed: 100}, plugins.Phase{Name: "reduce", Elapsed: 2}
	expand := plugins.Phase{Name: "expand", Elapsed: 10, Bytes: plugins.Counted(64), Messages: plugins.Counted(2)}
	want := plugins.Level{Elapsed: 112,
		Bytes: plugins.Counted(72), Messages: plugins.Counted(3), Phases: []plugins.Phase{scan, expand, reduce}}
	equal := cmp.Comparer(func(a, b plugins.Count) bool { return a == b })
	if diff := cmp.Diff(want, describe(false), equal); diff != "" {
		t.Errorf("without a grid: want (-), got (+):\n%s", diff)
	}
	fold := plugins.Phase{Name: "fold", Bytes: plugins.Counted(8), Messages: plugins.Counted(1)}
	want.Phases = []plugins.Phase{scan, fold, {Name: "update"}, expand, reduce}
	if diff := cmp.Diff(want, describe(true), equal); diff != "" {
		t.Errorf("on a grid: want (-), got (+):\n%s", diff)
	}
	sum := rank
	if sum.Add(&rank); sum.Phases(false)[0].Elapsed != 200 {
		t.Errorf("two levels together: got a scan of %v, want 200ns", sum.Phases(false)[0].Elapsed)
	}
}
