// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestEngineKeepsItsLookWhenOthersFail(t *testing.T) {
	r := samples.Result([]string{"first", "second"}, 16)
	rated := func(run reports.Summary) bool { return run.Rates() != nil }
	both := seriesOf(all(r).All, rated)
	r.Runs[0].Statistics = nil
	alone := seriesOf(all(r).All, rated)
	if len(both) != 2 || len(alone) != 1 {
		t.Fatalf("%d and %d series", len(both), len(alone))
	}
	must.Equal(t, alone[0].look, both[1].look, "the look of second without first")
}

func TestScaleAxisLabelsSomeOfManyScales(t *testing.T) {
	for last, want := range map[int]string{14: "2¹⁰ 2¹¹ 2¹² 2¹³ 2¹⁴", 42: "2¹⁰ 2¹³ 2¹⁶ 2¹⁹ 2²² 2²⁵ 2²⁸ 2³¹ 2³⁴ 2³⁷ 2⁴⁰"} {
		var labels []string
		for _, tick := range scaleAxis(span{10, float64(last)}).Ticks {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		must.Equal(t, strings.Join(labels, " "), want)
	}
}

func TestUnknownFigureIsRejectedWithTheKnownOnes(t *testing.T) {
	if _, err := Figure(all(samples.Result([]string{"cpu"}, 16)), "rates"); err == nil ||
		!strings.Contains(err.Error(), `no figure "rates"; they have gteps-over-scale, roots`) {
		t.Errorf("got %v", err)
	}
	if _, err := Figure(all(record.Result{}), "rates"); err == nil || !strings.Contains(err.Error(),
		"nothing to draw") {
		t.Errorf("without runs: %v", err)
	}
}

// Levels that do not fit the time of their search or its tree are left out of figures and tables, and the facts say so.
func TestLevelsThatDoNotFitAreLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(*record.RootRecord)
		want   string
	}{
		"frontiers": {func(r *record.RootRecord) { r.Levels[3].Frontier *= 10 }, "its frontiers have 3"},
		"depth":     {func(r *record.RootRecord) { r.Depth = new(4) }, "it has 7 levels and a tree of depth 4"},
		"time":      {func(r *record.RootRecord) { r.Levels[1].Elapsed *= 1e6 }, "its levels take"},
		"entries":   {func(r *record.RootRecord) { r.Levels[3].Edges = plugins.Counted(1 << 50) }, "level 3 looks at"},
		"negative":  {func(r *record.RootRecord) { r.Levels[2].Elapsed = -1 }, "level 2 has a negative number"},
	} {
		r := samples.FewRoots([]string{"cpu"}, 16)
		if len(LevelFigures(all(r).All)) != 1 || reports.LevelFaults(all(r).All[0]) != "" {
			t.Fatal("levels that fit are left out")
		}
		for i := range r.Runs[0].Roots {
			c.damage(&r.Runs[0].Roots[i])
		}
		runs := all(r).All
		if len(LevelFigures(runs)) != 0 || len(Levels(runs[0]).Rows) != 0 || len(directions(runs, nil).Table.Rows) != 0 {
			t.Errorf("%s: levels are shown", name)
		}
		want := "those of 3 of 3 searches; search 0: " + c.want
		if got := reports.LevelFaults(runs[0]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the facts say %q, want %q", name, got, want)
		}
	}
}
