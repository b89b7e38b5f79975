// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// suspend executes plan on host, and moves the clock of the suspension by what sleep is given.
func suspend(t *testing.T, host *inside, plan record.Plan, prepare func(sleep func(time.Duration))) record.Run {
	t.Helper()
	store := createStore(t, plan)
	r := newRun(host, store, Silent{})
	now := r.suspensions.now
	var slept atomic.Int64
	r.suspensions.now = func() time.Time { return now().Add(time.Duration(slept.Load())) }
	prepare(func(d time.Duration) { slept.Add(int64(d)) })
	must.Do(r.graphs(t.Context()))
	result := must.Get(store.Finish())
	return result.Runs[0]
}

// The clock of the engine may count the time of a suspension. The host then repeats the call.
func TestSuspensionRepeatsTheCall(t *testing.T) {
	e, constructions := &serial{}, 0
	run := suspend(t, hostOf(map[string]*serial{"a": e}), planOf(8, "a"), func(sleep func(time.Duration)) {
		e.build = func(c *plugins.Construction) error {
			if constructions++; constructions == 1 {
				sleep(time.Hour)
				c.Elapsed += time.Hour
			}
			return nil
		}
		e.after = report(4, func(t *plugins.Traversal) {
			sleep(time.Hour)
			t.Elapsed += time.Hour
		})
	})
	if !run.Valid || !run.Compliance.Compliant || constructions != 2 || e.searches != 66 {
		t.Errorf("state %s, %q, %d constructions, %d searches", run.State, run.Failure, constructions, e.searches)
	}
}

// The searches of a run count if the machine was suspended during the energy loop; the energy does not.
func TestSuspensionVoidsTheEnergyLoop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		engine := &looping{serial: &serial{}}
		host := metering(engine, counter("node", power.Node, 70))
		run := suspend(t, host, energyPlan(loopTime), func(sleep func(time.Duration)) {
			engine.repeat = func(_ context.Context, _ []graph.Vertex, d time.Duration) (int64, error) {
				sleep(time.Hour)
				time.Sleep(d)
				return 5, nil
			}
		})
		if !run.Valid || run.Energy == nil || !strings.Contains(run.Energy.Failure, "teps was suspended") {
			t.Errorf("valid %v, energy %+v", run.Valid, run.Energy)
		}
	})
}
