package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// Prepare looks before the run leaps. It checks the plan, asks every engine what it is, checks the options that were
// set on it, and compares the memory of every scale with what the machine has, all before anything big is allocated or
// written. An ErrUsage says what to change; any other error that this run cannot succeed here. An engine that does not
// start is no error while another does: its part of the run will fail, and say why.
func Prepare(ctx context.Context, host Host, plan Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	var failures []error
	needs := map[string]plugins.Memory{}
	for _, spec := range plan.Engines {
		d, err := Describe(ctx, host, spec)
		if err == nil && d.Unavailable != "" {
			err = fmt.Errorf("%w: %s", plugins.ErrUnavailable, d.Unavailable)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failures = append(failures, fmt.Errorf("engine %s: %w", spec.Name, err))
			continue
		}
		if _, err := settle(spec, d); err != nil {
			return err
		}
		needs[spec.Name] = d.Memory
	}
	if len(needs) == 0 {
		return errors.Join(failures...)
	}
	if err := CheckMeters(ctx, host, plan); err != nil {
		return err
	}
	return fits(ctx, plan, needs)
}

// Describe opens an engine just to ask what it is.
func Describe(ctx context.Context, host Host, spec EngineSpec) (plugins.Description, error) {
	engine, err := host.Open(ctx, spec)
	if err != nil {
		return plugins.Description{}, err
	}
	d, err := engine.Describe(ctx)
	return d, errors.Join(err, engine.Close())
}
