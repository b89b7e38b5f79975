package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/power/meters"
	"github.com/tepsbench/teps/record"
)

// steady is a meter that always shows 100 W.
type steady struct{}

func (steady) Info() power.Info {
	return power.Info{
		Name: "steady", Scope: power.Wall, Method: power.Measured, Quantity: power.Power, Period: time.Millisecond,
	}
}
func (steady) Close() error { return nil }

func (steady) Read(context.Context) ([]power.Reading, error) {
	return []power.Reading{{Time: time.Now(), Value: 100}}, nil
}

// metering is inside with a steady meter, and an engine whose loop may fail.
type metering struct {
	inside
}

func (m *metering) Meters(ctx context.Context, specifications []string) ([]power.Meter, []power.Absence, error) {
	source := meters.Source{Name: "steady", Open: func(context.Context, meters.Request) ([]power.Meter, error) {
		return []power.Meter{steady{}}, nil
	}}
	return meters.Find(ctx, meters.Config{Specs: specifications, Sources: []meters.Source{source}})
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

func TestSweepMeasuresEnergyAndRetriesFailedLoops(t *testing.T) {
	sick, loops := true, 0
	host := &metering{}
	host.wrap = func(_ record.EngineSpec, e plugins.Engine) plugins.Engine { return looping{e, &sick, &loops} }
	plan := someSweep()
	plan.Plan.Energy, plan.Plan.Meters = 50*time.Millisecond, []string{"steady"}
	plan.Engines, plan.Plan.Scales, plan.Repeats = plan.Engines[1:], plan.Plan.Scales[:1], 1
	dir := filepath.Join(t.TempDir(), "store")
	s := prepared(t, host, plan, dir)
	measured(t, s, host)
	if j := s.Jobs[0]; len(s.Jobs) != 1 || j.State != Failed || !strings.Contains(j.Reason, "on fire") {
		t.Errorf("%s is %s because %q", describe(j), j.State, j.Reason)
	}
	sick = false
	must(t, os.RemoveAll(filepath.Join(dir, s.Jobs[0].Folder)))
	s, err := Prepare(t.Context(), host, plan, dir)
	must(t, err)
	measured(t, s, host)
	if j := s.Jobs[0]; j.State != Done || j.Run.Energy == nil || len(j.Run.Energy.Figures) != 1 {
		t.Errorf("%s is %s because %q", describe(j), j.State, j.Reason)
	}
	if loops != 2 {
		t.Errorf("%d loops, want 2", loops)
	}
	plan.Plan.Meters = []string{"coal"}
	_, err = Prepare(t.Context(), host, plan, dir)
	if !errors.Is(err, record.ErrUsage) || !strings.Contains(err.Error(), "coal") {
		t.Errorf("an unknown meter: %v", err)
	}
}
