// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// hostDevice is the accelerator of a plan for the host's own work: it makes tuples and validates parents. It is open
// from the generation of the tuples to the last search of the first engine, and then while roots are searched. While
// an engine builds its graph, the device holds at most the list for kernel 1. It is closed during the energy loop,
// where it would take power. The CPU confirms its work by samples.
//
// A device that fails is closed, with one note, and the CPU does the rest.
type hostDevice struct {
	name     string
	plan     record.Plan
	progress Progress
	open     plugins.Accelerator // nil: there is none, or it has failed
}

// openDevice opens the plan's device. The caller closes it, even if it has failed.
func openDevice(ctx context.Context, host Host, plan record.Plan, progress Progress) *hostDevice {
	d := &hostDevice{plan: plan, progress: progress}
	if plan.HostDevice == nil {
		return d
	}
	d.name = plan.HostDevice.Name
	opened, err := host.Open(ctx, *plan.HostDevice)
	if err == nil {
		var ok bool
		if d.open, ok = opened.(plugins.Accelerator); !ok {
			err = errors.Join(errors.New("it is an engine"), opened.Close())
		}
	}
	if err != nil {
		d.fail(ctx, err)
	}
	return d
}

// fail closes the device for the rest of the run, with a note.
func (d *hostDevice) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		d.progress.Note(fmt.Sprintf("host device %s: %v; the CPU does its work", d.name, err))
	}
	d.close()
}

func (d *hostDevice) close() {
	if d != nil && d.open != nil {
		_ = d.open.Close() // its work is done
		d.open = nil
	}
}

// try makes a call of the device, and reports whether it succeeded.
func (d *hostDevice) try(ctx context.Context, call func(context.Context, plugins.Accelerator) error) bool {
	if d == nil || d.open == nil {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, d.plan.Timeout)
	defer cancel()
	err := call(limited, d.open)
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("it exceeded the timeout of %v: %w", d.plan.Timeout, err)
	}
	if err != nil {
		d.fail(ctx, err)
	}
	return err == nil
}

// onDevice is a generator whose tuples a device makes.
type onDevice struct {
	graph.Kronecker
	device *hostDevice // nil: the CPU makes them
	step   Step        // to which the tuples are added; or nil
}

// Generate is Source.Generate. The CPU makes a random sample of every part again.
func (o onDevice) Generate(ctx context.Context, dst []graph.Edge, first int64, threads int) error {
	if o.step != nil {
		defer o.step.Add(int64(len(dst)))
	}
	done := o.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) error {
		if err := a.Generate(ctx, o.Kronecker, dst, first); err != nil {
			return err
		}
		sample := make([]graph.Edge, min(len(dst), 1<<10))
		at := rand.IntN(len(dst) - len(sample) + 1)
		if err := o.Kronecker.Generate(ctx, sample, first+int64(at), 1); err != nil {
			return err
		}
		if !slices.Equal(sample, dst[at:at+len(sample)]) {
			return fmt.Errorf("tuples %d to %d are not those of the generator", first+int64(at),
				first+int64(at+len(sample)-1))
		}
		return nil
	})
	if done {
		return nil
	}
	return o.Kronecker.Generate(ctx, dst, first, threads)
}

// lend copies the tuples to the device for kernel 1, and returns nil where that is not possible.
func (s *localSession) lend(ctx context.Context) (lent *plugins.DeviceTuples) {
	if s.plan.HostDevice == nil || len(s.tuples) == 0 {
		return nil
	}
	if s.local.device == nil || s.local.device.open == nil {
		s.local.device = openDevice(ctx, s.host, s.plan, s.progress)
	}
	s.local.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) (err error) {
		lent, err = a.Lend(ctx, s.tuples)
		if errors.Is(err, plugins.ErrMemory) || errors.Is(err, plugins.ErrUnavailable) {
			return nil
		}
		return err
	})
	return lent
}

// takeBack ends lend.
func (s *localSession) takeBack(ctx context.Context) {
	s.local.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) error {
		_, err := a.Lend(ctx, nil)
		return err
	})
}

// StartValidating opens the device for validating searches by kernel 2.
func (s *localSession) StartValidating(ctx context.Context) {
	if s.kernel == record.SSSP { // which the CPU validates
		s.local.device.close()
		return
	}
	s.device, s.local.device = s.local.device, nil
	if s.device == nil || s.device.open == nil {
		s.device = openDevice(ctx, s.host, s.plan, s.progress)
	}
	s.device.plan, s.device.progress = s.plan, s.progress
	s.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) error {
		if s.graph.Regenerated {
			return a.LoadRecipe(ctx, s.graph.Recipe)
		}
		return a.Load(ctx, s.tuples, s.graph.Vertices)
	})
}

// StopValidating closes the device.
func (s *localSession) StopValidating() {
	s.device.close()
	s.local.device.close() // that made the tuples, if no search was validated
}

// judge validates the parents of a search, on the device if there is one. The CPU explains what is wrong with parents
// that break a rule, and the two must agree.
func (s *localSession) judge(ctx context.Context, root graph.Vertex, how Validation) (v Verdict, err error) {
	var violation *validate.Violation
	done := s.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) (err error) {
		if v.Tree, err = a.Validate(ctx, root, s.parents); errors.As(err, &violation) {
			return nil
		}
		return err
	})
	if !done {
		v.Tree, err = s.validator.Validate(ctx, root, s.parents)
		return v, err
	}
	v.By = s.device.name
	if violation == nil && how != Confirmed {
		return v, nil
	}
	v.Confirmed = true
	device := verdictText(v.Tree, violation)
	v.Tree, err = s.validator.Validate(ctx, root, s.parents)
	return v, cmp.Or(s.compare(device, v.Tree, err), err)
}

// errDisagree ends the run of an engine. No search that the device has validated counts.
var errDisagree = errors.New("the host's device and the CPU disagree")

// compare returns an error if the CPU's verdict is not the device's, or if it has none.
func (s *localSession) compare(device string, tree validate.Tree, err error) error {
	var violation *validate.Violation
	if err != nil && !errors.As(err, &violation) {
		return err
	}
	if cpu := verdictText(tree, violation); device != cpu {
		return fmt.Errorf("%w: %s says %s, the CPU %s; run without the device", errDisagree, s.device.name, device, cpu)
	}
	return nil
}

// verdictText is the same for two verdicts that agree: whatever a violation's text says.
func verdictText(t validate.Tree, v *validate.Violation) string {
	if v != nil {
		return fmt.Sprintf("%v is broken by %v", v.Rule, v.Vertices)
	}
	return fmt.Sprintf("%+v", t)
}
