package sweep

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// metering is inside with a meter that is declared, and an engine whose loop may fail.
type metering struct {
	inside
}

func (m *metering) Meters(ctx context.Context, specifications []string) ([]power.Meter, []power.Absence, error) {
	return power.Find(ctx, power.Config{Meters: specifications})
}

// looping fails in its energy loop as long as sick says so.
type looping struct {
	plugins.Engine
	sick  *bool
	loops *int
}

func (l looping) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (int64, error) {
	*l.loops++
	if *l.sick {
		return 0, errors.New("the device is on fire")
	}
	return l.Engine.(plugins.Repeater).Repeat(ctx, roots, duration)
}

func TestASweepMeasuresEnergyAndTellsOfLoopsThatFailed(t *testing.T) {
	sick, loops := true, 0
	host := &metering{}
	host.wrap = func(_ harness.EngineSpec, e plugins.Engine) plugins.Engine { return looping{e, &sick, &loops} }
	plan := someSweep()
	plan.Plan.Energy, plan.Plan.Meters = 50*time.Millisecond, []string{"declared:wall=100"}
	plan.Engines, plan.Plan.Scales, plan.Repeats = plan.Engines[:1], plan.Plan.Scales[:1], 1
	dir := filepath.Join(t.TempDir(), "store")
	s := prepared(t, host, plan, dir)
	if err := s.Calibrate(t.Context(), host, time.Minute, harness.Silent{}); err != nil || loops != 0 {
		t.Errorf("calibrating did %d loops: %v", loops, err)
	}
	if err := s.Run(t.Context(), host, &quiet{}); err != nil {
		t.Fatal(err)
	}
	cells := len(s.Entries)
	for _, e := range s.Entries {
		if e.State != Failed || !strings.Contains(e.Why, "on fire") {
			t.Errorf("%s is %s because %q", describe(e.Cell), e.State, e.Why)
		}
	}
	sick = false
	if err := s.Retry(); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), host, &quiet{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries {
		if e.State != Done || e.Run.Energy == nil || len(e.Run.Energy.Figures) != 1 {
			t.Errorf("%s is %s because %q", describe(e.Cell), e.State, e.Why)
		}
	}
	if loops != 2*cells {
		t.Errorf("%d loops for %d cells", loops, cells)
	}
	plan.Plan.Meters = []string{"coal"}
	if _, err := Prepare(t.Context(), host, plan, NewStore(dir), nil, someSoftware, someMachine); !errors.Is(err, harness.ErrUsage) || !strings.Contains(err.Error(), "coal") {
		t.Errorf("a meter that cannot be: %v", err)
	}
}
