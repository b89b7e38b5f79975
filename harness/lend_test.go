package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

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
