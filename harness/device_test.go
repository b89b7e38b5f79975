package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// slow is an accelerator that asks package graph, and can fail or lie.
type slow struct {
	plugins.Engine // nil: a host opens engines
	validator      *validate.Validator
	validated      int
	lent           []graph.Edge
	lends          int // of a list

	noTuples, wrongTuple, noLoad bool
	failsAfter                   int // searches; 0: never
	lie                          func(*validate.Tree, error) error
	fault                        func(ctx context.Context, call string) error // comes first
}

func (s *slow) fails(ctx context.Context, call string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(ctx, call)
}

func (s *slow) Generate(ctx context.Context, k graph.Kronecker, dst []graph.Edge, first int64) error {
	if err := s.fails(ctx, "generate"); err != nil {
		clear(dst)
		return err
	}
	if s.noTuples {
		return errors.New("the bus is gone")
	}
	err := k.Generate(ctx, dst, first, 0)
	if s.wrongTuple {
		for i := range dst {
			dst[i] = graph.MakeEdge(1, 2)
		}
	}
	return err
}

func (s *slow) Load(ctx context.Context, tuples []graph.Edge, vertices int64) (err error) {
	if err := s.fails(ctx, "load"); err != nil {
		return err
	}
	if s.noLoad {
		return plugins.ErrMemory
	}
	s.validator, err = validate.New(slices.Clone(tuples), vertices, 0)
	return err
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

func (s *slow) LoadRecipe(ctx context.Context, k graph.Kronecker) (err error) {
	if err := s.fails(ctx, "load"); err != nil {
		return err
	}
	s.validator, err = validate.NewFromSource(ctx, k, make([]graph.Edge, 1000), 0)
	return err
}

func (s *slow) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error) {
	if err := s.fails(ctx, "validate"); err != nil {
		return validate.Tree{}, err
	}
	if s.validated++; s.failsAfter > 0 && s.validated > s.failsAfter {
		return validate.Tree{}, errors.New("the device has disappeared")
	}
	tree, err := s.validator.Validate(ctx, root, parent)
	if s.lie != nil {
		err = s.lie(&tree, err)
	}
	return tree, err
}

func (s *slow) Close() error { return nil }

// TestHostDeviceFaults has a device fail in every call that it is given. The run has all searches, valid, and one note.
func TestHostDeviceFaults(t *testing.T) {
	execute := func(t *testing.T, device *slow, regenerate bool, timeout time.Duration) (record.Run, []string) {
		e := &serial{describe: func(d *plugins.Description) { d.MakesTuples = true }}
		h := hostOf(map[string]*serial{"serial": e})
		plan := planOf(8, "serial")
		plan.Regenerate, plan.Timeout = regenerate, timeout
		if device != nil {
			h.engines["device"] = func() (plugins.Engine, error) {
				return device, device.fails(t.Context(), "open")
			}
			plan.HostDevice = &record.EngineSpec{Name: "device"}
		}
		result, notes := noted(t, h, plan)
		return result.Runs[0], notes
	}
	const minute = time.Minute
	without, _ := execute(t, nil, false, minute)
	for _, call := range []string{"open 1", "generate 1", "load 1", "validate 1", "validate 2", "validate 40",
		"validate 64"} {
		for name, fault := range map[string]func(context.Context) error{
			"disappears":          func(context.Context) error { return errors.New("GPU is lost") },
			"has too little room": func(context.Context) error { return fmt.Errorf("%w: GPU is lost", plugins.ErrMemory) },
			"hangs": func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("GPU is lost: %w", ctx.Err())
			},
		} {
			for _, regenerate := range []bool{false, true} {
				timeout := minute
				if name == "hangs" {
					timeout = 2 * time.Second
				}
				if name == "hangs" && (regenerate || !slices.Contains([]string{"generate 1", "load 1", "validate 2"}, call)) {
					continue // which take two seconds each; opening has a limit of its own
				}
				t.Run(fmt.Sprintf("%s in %s, regenerate %v", name, call, regenerate), func(t *testing.T) {
					t.Parallel()
					calls := map[string]int{}
					device := &slow{fault: func(ctx context.Context, c string) error {
						if calls[c]++; fmt.Sprint(c, " ", calls[c]) == call {
							return fault(ctx)
						}
						return nil
					}}
					got, notes := execute(t, device, regenerate, timeout)
					if got.State != record.Complete || !got.Valid || got.Compliance.Compliant == regenerate {
						t.Errorf("%v, valid %v, compliant %v: %s", got.State, got.Valid, got.Compliance.Compliant, got.Failure)
					}
					if len(notes) != 1 || !strings.Contains(notes[0], "GPU is lost") ||
						strings.Contains(notes[0], "timeout of 2s") != (name == "hangs") {
						t.Errorf("notes %q", notes)
					}
					for i, r := range got.Roots {
						if w := without.Roots[i]; r.Root != w.Root || *r.NEdge != *w.NEdge || *r.Depth != *w.Depth || !r.Validated {
							t.Errorf("got %+v, want %+v", r, w)
						}
					}
				})
			}
		}
	}
}

// TestHostDevice runs the protocol with devices that work, fail and lie. Nothing is lost with a device that fails.
func TestHostDevice(t *testing.T) {
	for name, c := range map[string]struct {
		device               *slow
		regenerate           bool
		breaks               bool // the engine returns wrong parents
		note, failure        string
		byDevice, confirmed  int
		generated, withoutIt bool
	}{
		"works":           {device: &slow{}, byDevice: 64, confirmed: 2, generated: true},
		"keeps no tuples": {device: &slow{}, regenerate: true, byDevice: 64, confirmed: 1, generated: true},
		"keeps no tuples and disappears": {device: &slow{failsAfter: 3}, regenerate: true, note: "disappeared", byDevice: 3,
			confirmed: 1, generated: true},
		"keeps no tuples and is not there": {regenerate: true, note: "no engine", withoutIt: true},
		"finds wrong parents without tuples": {device: &slow{}, regenerate: true, breaks: true, byDevice: 64, confirmed: 64,
			generated: true},
		"wrong parents":      {device: &slow{}, breaks: true, byDevice: 64, confirmed: 64, generated: true},
		"is not there":       {note: "no engine", withoutIt: true},
		"makes no tuples":    {device: &slow{noTuples: true}, note: "the bus is gone", byDevice: 64, confirmed: 2},
		"makes wrong tuples": {device: &slow{wrongTuple: true}, note: "not those of the", byDevice: 64, confirmed: 2},
		"is too small":       {device: &slow{noLoad: true}, note: "not enough memory", generated: true},
		"disappears":         {device: &slow{failsAfter: 1}, note: "disappeared", byDevice: 1, confirmed: 1, generated: true},
		"miscounts": {device: &slow{lie: func(t *validate.Tree, err error) error { t.Tuples++; return err }},
			failure: "disagree", generated: true},
		"accepts wrong parents": {device: &slow{lie: func(*validate.Tree, error) error { return nil }}, breaks: true,
			failure: "disagree", generated: true},
		"refuses right parents": {device: &slow{lie: func(*validate.Tree, error) error {
			return &validate.Violation{Rule: validate.RuleSpan, Vertices: []graph.Vertex{1, 2}}
		}}, failure: "disagree", generated: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := &serial{}
			if c.breaks {
				e.after = loseRoot(0)
			}
			if c.regenerate {
				e.describe = func(d *plugins.Description) { d.MakesTuples = true }
			}
			h := hostOf(map[string]*serial{"serial": e})
			if c.device != nil {
				h.engines["device"] = func() (plugins.Engine, error) { return c.device, nil }
			}
			plan := planOf(9, "serial")
			plan.HostDevice, plan.Regenerate = &record.EngineSpec{Name: "device"}, c.regenerate
			result, notes := noted(t, h, plan)
			run := result.Runs[0]
			if c.failure != "" {
				if run.State != record.Failed || !run.Void || !strings.Contains(run.Failure, c.failure) {
					t.Fatalf("the run is %v, void %v: %s", run.State, run.Void, run.Failure)
				}
				return
			}
			if run.State != record.Complete || run.Valid == c.breaks {
				t.Fatalf("the run is %v, valid %v: %s", run.State, run.Valid, run.Failure)
			}
			if c.regenerate && (run.Compliance.Compliant || !run.Graph.Regenerated || run.Graph.Tuples != 16<<9) {
				t.Errorf("%+v, compliant %v", run.Graph, run.Compliance.Compliant)
			}
			byDevice, confirmed := 0, 0
			for _, r := range run.Roots {
				if r.ValidatedBy == "device" {
					byDevice++
				}
				if r.Confirmed {
					confirmed++
				}
			}
			if byDevice != c.byDevice || confirmed != c.confirmed {
				t.Errorf("%d validated by the device and %d by both, want %d and %d", byDevice, confirmed, c.byDevice,
					c.confirmed)
			}
			if got := run.Graph.GeneratedBy == "device"; got != c.generated {
				t.Errorf("generated by the device: %v", got)
			}
			found, want := 0, 0
			if c.note != "" {
				want = 1
			}
			if c.withoutIt {
				want = 2 // for the tuples and for the searches
			}
			for _, note := range notes {
				if strings.HasPrefix(note, "host device device: ") && strings.Contains(note, c.note) && c.note != "" {
					found++
				}
			}
			if found != want {
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
