// SPDX-License-Identifier: Apache-2.0

package harness

import (
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

// hostDevice is the accelerator of a plan for the host's own work: it makes tuples and weights, and validates searches.
// It is open from when it makes either to the last search of the first engine, and then while roots are searched. While
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

// useDevice opens the plan's device unless it is open.
func (l *local) useDevice(ctx context.Context, progress Progress) {
	if l.device != nil && l.device.open != nil {
		return
	}
	d := &hostDevice{plan: l.plan, progress: progress}
	if l.device = d; l.plan.HostDevice == nil {
		return
	}
	d.name = l.plan.HostDevice.Name
	opened, err := l.host.Open(ctx, *l.plan.HostDevice)
	if err == nil {
		var ok bool
		if d.open, ok = opened.(plugins.Accelerator); !ok {
			err = errors.Join(errors.New("it is an engine"), opened.Close())
		}
	}
	if err != nil {
		d.fail(ctx, err)
	}
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

// onDevice is a generator whose tuples and weights a device makes.
type onDevice struct {
	graph.Kronecker
	device *hostDevice // nil: the CPU makes them
	step   Step        // to which the tuples are added; or nil
}

// Generate is Source.Generate.
func (o onDevice) Generate(ctx context.Context, dst []graph.Edge, first int64, threads int) error {
	if o.step != nil {
		defer o.step.Add(int64(len(dst)))
	}
	return fillOnDevice(ctx, o.device, dst, first, func(ctx context.Context, a plugins.Accelerator) error {
		return a.Generate(ctx, plugins.Input{Recipe: &o.Kronecker, Tuples: dst, First: first})
	}, func(dst []graph.Edge, first int64) error { return o.Kronecker.Generate(ctx, dst, first, threads) })
}

// weights fills dst with the weights of the tuples first, first+1, ...
func (o onDevice) weights(ctx context.Context, dst []float32, first int64) error {
	return fillOnDevice(ctx, o.device, dst, first, func(ctx context.Context, a plugins.Accelerator) error {
		return a.Generate(ctx, plugins.Input{Recipe: &o.Kronecker, Weights: dst, First: first})
	}, func(dst []float32, first int64) error { return graph.Weights(ctx, o.Kronecker, 0, 0, dst, first, 0) })
}

// fillOnDevice fills dst with the values of the tuples first, first+1, ... by a call of a device, or else by the CPU,
// which makes a random sample of the device's values again.
func fillOnDevice[E comparable](ctx context.Context, device *hostDevice, dst []E, first int64,
	call func(context.Context, plugins.Accelerator) error, cpu func(dst []E, first int64) error) error {
	done := device.try(ctx, func(ctx context.Context, a plugins.Accelerator) error {
		if err := call(ctx, a); err != nil {
			return err
		}
		sample := make([]E, min(len(dst), 1<<10))
		at := rand.IntN(len(dst) - len(sample) + 1)
		if err := cpu(sample, first+int64(at)); err != nil {
			return err
		}
		if !slices.Equal(sample, dst[at:at+len(sample)]) {
			return fmt.Errorf("tuples or weights %d to %d are not those of the generator", first+int64(at),
				first+int64(at+len(sample)-1))
		}
		return nil
	})
	if done {
		return nil
	}
	return cpu(dst, first)
}

// lend copies the tuples to the device for kernel 1, and returns nil where that is not possible.
func (s *localSession) lend(ctx context.Context) (lent *plugins.DeviceTuples) {
	if s.plan.HostDevice == nil || len(s.tuples) == 0 {
		return nil
	}
	s.local.useDevice(ctx, s.progress)
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

// StartValidating opens the device for validating searches, unless it has.
func (s *localSession) StartValidating(ctx context.Context) {
	if s.device != nil {
		return
	}
	s.local.useDevice(ctx, s.progress)
	s.device, s.local.device = s.local.device, nil
	s.device.plan, s.device.progress = s.plan, s.progress
	s.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) error {
		return a.Load(ctx, s.input(), s.graph.Vertices)
	})
}

// StopValidating closes the device.
func (s *localSession) StopValidating() {
	s.device.close()
	s.device = nil
	s.local.device.close() // that made the tuples, if no search was validated
}

// judge validates the result of a search, on the device if there is one. The CPU finds what is wrong with a result that
// breaks a rule, and the two must agree.
func (s *localSession) judge(ctx context.Context, root graph.Vertex, how Validation) (v Verdict, err error) {
	var violation *validate.Violation
	done := s.device.try(ctx, func(ctx context.Context, a plugins.Accelerator) (err error) {
		if v.Tree, err = a.Validate(ctx, root, s.out); errors.As(err, &violation) {
			return nil
		}
		return err
	})
	if !done {
		v.Tree, err = s.validator.Validate(ctx, root, s.out.Parent, s.out.Distance)
		return v, err
	}
	v.By = s.device.name
	if violation == nil && how != Confirmed {
		return v, nil
	}
	v.Confirmed = true
	device := v.Tree
	v.Tree, err = s.validator.Validate(ctx, root, s.out.Parent, s.out.Distance)
	wrong := errors.As(err, new(*validate.Violation))
	switch {
	case err != nil && !wrong: // the CPU has no verdict
		return v, err
	case wrong && violation != nil, !wrong && violation == nil && v.Tree == device:
		return v, err
	}
	return v, fmt.Errorf("%w: %s says %s, the CPU %s; run without the device", errDisagree, s.device.name,
		verdictText(device, violation != nil), verdictText(v.Tree, wrong))
}

// errDisagree ends the run of an engine. No search that the device has validated counts.
var errDisagree = errors.New("the host's device and the CPU disagree")

func verdictText(t validate.Tree, wrong bool) string {
	if wrong {
		return "that a rule is broken"
	}
	return fmt.Sprintf("%+v", t)
}
