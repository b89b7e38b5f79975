// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
)

// An engine's own speed counts, in proportion to the tuples, and the energy loop as long as it is.
func TestEstimateOfTheRestOfARun(t *testing.T) {
	plan := record.DefaultPlan()
	plan.Scales, plan.Energy = []int{10, 11, 12}, time.Minute
	plan.Engines = []record.EngineSpec{{Name: "a"}, {Name: "b"}}
	var runs []record.Run
	for _, id := range plan.GraphIDs() {
		for _, e := range plan.Engines {
			runs = append(runs, record.Run{Engine: e, GraphID: id})
		}
	}
	complete := func(i int, kernel1 float64) {
		runs[i].State, runs[i].ConstructWall = record.Complete, kernel1
		runs[i].Graph = &record.GraphRecord{Tuples: 16 << 10, Generation: 2}
		runs[i].Roots = []record.RootRecord{{Wall: 1, Validation: 3}, {Wall: 1}}
	}
	must.Equal(t, timeLeft(plan, runs), 0)
	complete(0, 1)
	must.Equal(t, timeLeft(plan, runs), 0) // nothing is known about b
	complete(1, 4)
	runs[2].Energy = &record.EnergyRecord{}
	const second = time.Second
	must.Equal(t, timeLeft(plan, runs), (2+4)*(1+1+5+1+4+5)*second+3*time.Minute)
	plan.Graphs = []record.GraphSpec{{Name: "roads.mtx", Path: "roads.mtx"}} // of a size that is unknown
	runs = append(runs, record.Run{Engine: plan.Engines[0], GraphID: plan.GraphIDs()[len(plan.Scales)]})
	must.Equal(t, timeLeft(plan, runs), 0)
}
