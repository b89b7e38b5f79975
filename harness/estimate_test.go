// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tepsbench/teps/record"
)

// Nothing is estimated before all kinds of work of all engines have been seen. Then an engine's own speed counts, in
// proportion to the tuples, and the energy loop as long as it is.
func TestEstimateOfTheRestOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := record.DefaultPlan()
		plan.Scales, plan.Roots, plan.Energy = []int{10, 11}, 4, time.Minute
		plan.Engines = []record.EngineSpec{{Name: "a"}, {Name: "b"}}
		var runs []record.Run
		for _, id := range plan.GraphIDs() {
			for _, e := range plan.Engines {
				runs = append(runs, record.Run{Engine: e, GraphID: id})
			}
		}
		runs[3].State = record.Complete
		p := newEstimate(plan, runs)
		ten, tuples := record.GraphID{Scale: 10}, int64(16<<10)
		did := func(kind, engine string, d time.Duration, want time.Duration) {
			t.Helper()
			start := time.Now()
			time.Sleep(d)
			p.did(ten, kind, engine, tuples, start)
			if got := p.left().Round(time.Millisecond); got != want {
				t.Errorf("after %s of %s: %v left, want %v", kind, engine, got, want)
			}
		}
		const second = time.Second
		did("input", "", 1*second, 0)
		did("construct", "a", 2*second, 0)
		did("search", "a", 3*second, 0)
		p.skip(ten, "a")
		did("construct", "b", 4*second, 0)
		// Left: b 3 searches, and at the next scale the input, and a, twice as long; two energy loops.
		did("search", "b", 1*second, (3+2+4+24)*second+2*time.Minute)
		p.skip(ten, "b")
		p.skip(record.GraphID{Scale: 11}, "")
		if got := p.left(); got != 0 {
			t.Errorf("at the end %v are left", got)
		}
	})
}

// The size of a file is not known before it is read.
func TestEstimateOfAFileIsUnknown(t *testing.T) {
	plan := record.DefaultPlan()
	plan.Scales, plan.Graphs = nil, []record.GraphSpec{{Name: "roads.mtx", Path: "roads.mtx"}}
	plan.Engines = []record.EngineSpec{{Name: "a"}}
	id := plan.GraphIDs()[0]
	p := newEstimate(plan, []record.Run{{Engine: plan.Engines[0], GraphID: id}})
	start := time.Now().Add(-time.Second)
	p.speed[[2]string{"search", "a"}] = [2]float64{1, 100}
	p.speed[[2]string{"construct", "a"}] = [2]float64{1, 100}
	p.speed[[2]string{"input", ""}] = [2]float64{1, 100}
	if got := p.left(); got != 0 {
		t.Errorf("%v left before the file is read", got)
	}
	if p.did(id, "input", "", 100, start); p.left() < 65*time.Second {
		t.Errorf("%v left of 64 searches and kernel 1 of a second each", p.left())
	}
}
