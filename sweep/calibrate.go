package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/tepsbench/teps/harness"
)

// Calibrate measures every engine of which the model knows nothing for a moment, so that there is an estimate at all: two
// searches at scale 16 or below, one of them validated, recorded nowhere. It stops when budget is spent. An engine that
// fails is left to the sweep, which says why.
func (s *Schedule) Calibrate(ctx context.Context, host harness.Host, budget time.Duration, progress harness.Progress) (err error) {
	const largest = 16
	scale := 0
	var unknown []harness.EngineSpec
	seen := map[string]bool{}
	for _, e := range s.ToDo() {
		if name := e.Engine().Name; !seen[name] && !s.Model.Knows(name) {
			seen[name] = true
			unknown = append(unknown, e.Engine())
			scale = max(scale, min(e.Scale(), largest))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	plan := s.Sweep.Plan
	plan.Scales, plan.Roots, plan.Validate, plan.WarmUps = []int{scale}, 2, 1, 1
	plan.Energy, plan.Meters = 0, nil
	step := progress.Step("calibrate the estimate", int64(len(unknown)))
	start := time.Now()
	in, err := harness.NewInput(ctx, host, plan.Recipe(scale), plan.Roots, harness.Silent{})
	if err != nil {
		step.Fail(err)
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	for _, spec := range unknown {
		if time.Since(start) > budget {
			break
		}
		plan.Engines = []harness.EngineSpec{spec}
		run := harness.Unrecorded(harness.NewManifest(s.Command, plan, s.Software, s.Machine))
		began := time.Now()
		r, err := harness.ExecuteOn(ctx, host, run, in, harness.Silent{})
		if err != nil {
			step.Fail(err)
			return err
		}
		if r.Runs[0].State == harness.Complete {
			s.Model.learnWall(r, time.Since(began).Seconds())
		}
		step.Add(1)
	}
	step.Done(counted(len(unknown), "engine", "engines") + " in " + time.Since(start).Round(10*time.Millisecond).String())
	return nil
}
