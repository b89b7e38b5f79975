// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/testdata/bycpu"
	"github.com/tepsbench/teps/record"
)

// slow is an accelerator that can fail or lie.
type slow struct {
	plugins.Engine // nil: a host opens engines
	cpu            bycpu.Accelerator
	validated      int
	lent           []graph.Edge
	lends          int // of a list

	wrongTuple, wrongWeight bool
	lie                     func(*validate.Tree, error) error
	fault                   func(ctx context.Context, call string) error // comes first
}

func (s *slow) fails(ctx context.Context, call string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(ctx, call)
}

func (s *slow) Generate(ctx context.Context, in plugins.Input) error {
	call := "generate"
	if in.Weights != nil {
		call = "generate weights"
	}
	if err := s.fails(ctx, call); err != nil {
		clear(in.Tuples)
		return err
	}
	err := s.cpu.Generate(ctx, in)
	if s.wrongTuple {
		for i := range in.Tuples {
			in.Tuples[i] = graph.MakeEdge(1, 2)
		}
	}
	if s.wrongWeight {
		clear(in.Weights)
	}
	return err
}

func (s *slow) Load(ctx context.Context, in plugins.Input, vertices int64) error {
	if err := s.fails(ctx, "load"); err != nil {
		return err
	}
	return s.cpu.Load(ctx, in, vertices)
}

func (s *slow) Lend(ctx context.Context, tuples []graph.Edge) (*plugins.DeviceTuples, error) {
	s.lent = nil
	if len(tuples) == 0 {
		return nil, nil
	}
	s.lends++
	if err := s.fails(ctx, "lend"); err != nil {
		return nil, err
	}
	s.lent = slices.Clone(tuples)
	return &plugins.DeviceTuples{Handle: []byte("the list"), Count: int64(len(tuples))}, nil
}

func (s *slow) Validate(ctx context.Context, root graph.Vertex, out plugins.Output) (validate.Tree, error) {
	if err := s.fails(ctx, "validate"); err != nil {
		return validate.Tree{}, err
	}
	s.validated++
	tree, err := s.cpu.Validate(ctx, root, out)
	if s.lie != nil {
		err = s.lie(&tree, err)
	}
	return tree, err
}

func (s *slow) Close() error { return nil }

// deviceRun executes the plan of an engine with a device, if there is one. It returns the run, its notes, and how many
// searches the device validated and the CPU confirmed.
func deviceRun(t *testing.T, device *slow, plan record.Plan, after hook) (
	run record.Run, notes []string, by, confirmed int) {
	t.Helper()
	e := &serial{after: after, describe: func(d *plugins.Description) { d.MakesTuples = true }}
	h := hostOf(map[string]*serial{"serial": e})
	if device != nil {
		h.engines["device"] = func() (plugins.Engine, error) { return device, device.fails(t.Context(), "open") }
	}
	result, notes := noted(t, h, plan)
	by, confirmed = validatedBy(result.Runs[0])
	return result.Runs[0], notes, by, confirmed
}

func validatedBy(run record.Run) (device, confirmed int) {
	for _, r := range run.Roots {
		if r.ValidatedBy == "device" {
			device++
		}
		if r.Confirmed {
			confirmed++
		}
	}
	return device, confirmed
}

// TestHostDeviceFaults has a device fail in every call that it is given. The run has all searches, valid, and one note.
func TestHostDeviceFaults(t *testing.T) {
	plan := planOf(8, "serial")
	var without record.Run
	inBubble(t, func(t *testing.T) { without, _, _, _ = deviceRun(t, nil, plan, nil) })
	plan.HostDevice = &record.EngineSpec{Name: "device"}
	for call, byDevice := range map[string]int{
		"open 1": 64, "generate 1": 64, "load 1": 0, "validate 1": 0, "validate 2": 1, "validate 40": 39, "validate 64": 63,
	} {
		for name, fault := range map[string]func(context.Context) error{
			"disappears":          func(context.Context) error { return errors.New("GPU is lost") },
			"has too little room": func(context.Context) error { return fmt.Errorf("%w: GPU is lost", plugins.ErrMemory) },
			"hangs": func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("GPU is lost: %w", ctx.Err())
			},
		} {
			for _, regenerate := range []bool{false, true} {
				hangs := name == "hangs"
				if hangs && call == "open 1" {
					continue // which has a limit of its host
				}
				t.Run(fmt.Sprintf("%s in %s, regenerate %v", name, call, regenerate), func(t *testing.T) {
					inBubble(t, func(t *testing.T) {
						plan := plan
						plan.Regenerate = regenerate
						calls := map[string]int{}
						device := &slow{fault: func(ctx context.Context, c string) error {
							if calls[c]++; fmt.Sprint(c, " ", calls[c]) == call {
								return fault(ctx)
							}
							return nil
						}}
						got, notes, by, _ := deviceRun(t, device, plan, nil)
						if got.State != record.Complete || !got.Valid || got.Compliance.Compliant == regenerate || by != byDevice {
							t.Errorf("%v, valid %v, compliant %v, %d by the device: %s", got.State, got.Valid,
								got.Compliance.Compliant, by, got.Failure)
						}
						if len(notes) != 1 || !strings.Contains(notes[0], "GPU is lost") ||
							strings.Contains(notes[0], "timeout of 10m") != hangs {
							t.Errorf("notes %q", notes)
						}
						for i, r := range got.Roots {
							if w := without.Roots[i]; r.Root != w.Root || *r.NEdge != *w.NEdge || *r.Depth != *w.Depth || !r.Validated {
								t.Errorf("got %+v, want %+v", r, w)
							}
						}
					})
				})
			}
		}
	}
}

// TestHostDevice runs the protocol with devices that work and lie, or without the device of the plan.
func TestHostDevice(t *testing.T) {
	for name, c := range map[string]struct {
		device              *slow
		regenerate          bool
		breaks              bool // the engine returns wrong parents
		note, failure       string
		byDevice, confirmed int
		generated           bool
	}{
		"works":       {device: &slow{}, byDevice: 64, confirmed: 2, generated: true},
		"regenerates": {device: &slow{}, regenerate: true, byDevice: 64, confirmed: 1, generated: true},
		"finds wrong parents without tuples": {device: &slow{}, regenerate: true, breaks: true, byDevice: 64, confirmed: 64,
			generated: true},
		"wrong parents":                {device: &slow{}, breaks: true, byDevice: 64, confirmed: 64, generated: true},
		"is not there":                 {note: "no engine"},
		"regenerates and is not there": {regenerate: true, note: "no engine"},
		"makes wrong tuples": {
			device: &slow{wrongTuple: true}, note: "not those of the", byDevice: 64, confirmed: 2,
		},
		"miscounts": {device: &slow{lie: func(t *validate.Tree, err error) error { t.Tuples++; return err }},
			failure: "disagree", generated: true},
		"accepts wrong parents": {device: &slow{lie: func(*validate.Tree, error) error { return nil }}, breaks: true,
			failure: "disagree", generated: true},
		"refuses right parents": {device: &slow{lie: func(*validate.Tree, error) error {
			return new(validate.Violation)
		}}, failure: "disagree", generated: true},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planOf(9, "serial")
			plan.HostDevice, plan.Regenerate = &record.EngineSpec{Name: "device"}, c.regenerate
			var after hook
			if c.breaks {
				after = loseRoot(0)
			}
			run, notes, byDevice, confirmed := deviceRun(t, c.device, plan, after)
			if c.failure != "" {
				if run.State != record.Failed || !run.Void || !strings.Contains(run.Failure, c.failure) {
					t.Fatalf("the run is %v, void %v: %s", run.State, run.Void, run.Failure)
				}
				return
			}
			if run.State != record.Complete || run.Valid == c.breaks || run.Graph.Regenerated != c.regenerate ||
				run.Graph.Tuples != 16<<9 || c.regenerate && run.Compliance.Compliant {
				t.Fatalf("the run is %v, valid %v: %s; %+v", run.State, run.Valid, run.Failure, run.Graph)
			}
			if byDevice != c.byDevice || confirmed != c.confirmed || (run.Graph.GeneratedBy == "device") != c.generated {
				t.Errorf("%d validated by the device and %d by both, want %d and %d; generated by %q", byDevice, confirmed,
					c.byDevice, c.confirmed, run.Graph.GeneratedBy)
			}
			want := 0
			switch {
			case c.device == nil:
				want = 2 // for the tuples and for the searches
			case c.breaks:
				want = maxNotes // about wrong searches
			case c.note != "":
				want = 1
			}
			if all := strings.Join(notes, ""); len(notes) != want || !strings.Contains(all, c.note) ||
				strings.Contains(all, "host device device: ") != (c.note != "") {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// onGPU is an engine that reads tuples in the memory of a device, unless it fails.
type onGPU struct {
	*serial
	device *slow
	takes  bool
	fault  error
	inputs []string // of kernel 1
}

func (e *onGPU) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := e.serial.Describe(ctx)
	d.TakesDeviceTuples = e.takes
	return d, err
}

func (e *onGPU) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	e.inputs = append(e.inputs, fmt.Sprintf("%d in the host, lent %v", len(in.Tuples), in.DeviceTuples != nil))
	if in.DeviceTuples != nil {
		switch {
		case e.fault != nil:
			return plugins.Construction{}, e.fault
		case string(in.DeviceTuples.Handle) != "the list" || in.DeviceTuples.Count != int64(len(e.device.lent)):
			return plugins.Construction{}, errors.New("the device has another list")
		}
		in.Tuples = e.device.lent
	} else if e.device.lent != nil {
		return plugins.Construction{}, errors.New("the device still has its list")
	}
	return e.serial.Construct(ctx, in)
}

// TestDeviceTuples gives kernel 1 its tuples in the memory of the host's device. Where that fails, it gets those in the
// host's memory instead.
func TestDeviceTuples(t *testing.T) {
	lost := errors.New("GPU is lost")
	const inHost, onDevice = "4096 in the host, lent false", "0 in the host, lent true"
	for name, c := range map[string]struct {
		lend, construct error // of a call with a list on the device
		takes           bool
		inputs          []string
		lends           int
		notes           string
	}{
		"lent":                    {takes: true, lends: 1, inputs: []string{onDevice}},
		"not asked for":           {inputs: []string{inHost}},
		"too long for the device": {lend: plugins.ErrMemory, takes: true, lends: 1, inputs: []string{inHost}},
		"memory cannot be shared": {lend: plugins.ErrUnavailable, takes: true, lends: 1, inputs: []string{inHost}},
		"the device is lost":      {lend: lost, takes: true, lends: 1, inputs: []string{inHost}, notes: "GPU is lost"},
		"the engine cannot read it": {construct: plugins.ErrUnavailable, takes: true, lends: 1,
			inputs: []string{onDevice, inHost}},
		"no room for the graph": {construct: plugins.ErrMemory, takes: true, lends: 1,
			inputs: []string{onDevice, inHost}},
	} {
		t.Run(name, func(t *testing.T) {
			device := &slow{fault: func(_ context.Context, call string) error {
				if call == "lend" {
					return c.lend
				}
				return nil
			}}
			engine := &onGPU{serial: &serial{}, device: device, takes: c.takes, fault: c.construct}
			plan := planOf(8, "gpu")
			plan.HostDevice = &record.EngineSpec{Name: "device"}
			result, notes := noted(t, hostOf(map[string]plugins.Engine{"device": device, "gpu": engine}), plan)
			run := result.Runs[0]
			if run.State != record.Complete || !run.Valid || !run.Compliance.Compliant {
				t.Fatalf("the run is %v, valid %v, compliant %v: %s", run.State, run.Valid, run.Compliance.Compliant, run.Failure)
			}
			if fmt.Sprint(engine.inputs) != fmt.Sprint(c.inputs) || device.lends != c.lends {
				t.Errorf("inputs %q, want %q; %d lists on the device, want %d", engine.inputs, c.inputs, device.lends, c.lends)
			}
			lent := c.inputs[len(c.inputs)-1] == onDevice
			said := strings.Contains(fmt.Sprint(run.Compliance.Rules), "in the memory of the GPU")
			if run.DeviceTuples != lent || said != lent {
				t.Errorf("recorded %v, stated %v, want %v", run.DeviceTuples, said, lent)
			}
			if got := strings.Join(notes, "; "); !strings.Contains(got, c.notes) || c.notes == "" && got != "" {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
			if device.lent != nil {
				t.Error("the device still has its list")
			}
		})
	}
}
