// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/opencl"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/plugins/testdata/bycpu"
	"github.com/tepsbench/teps/serial"
)

// withMore is the catalog of this program and more engines: queue, and two whose texts control a terminal. Adding an
// engine to teps takes a line like that of queue.
func withMore() catalog {
	return append(builtins(), catalog{
		{"queue", serial.New},
		{"painter", func() plugins.Engine { // in its description
			return unusable(plugins.Description{
				Name: "painter", Version: "1\x1b[2J", Summary: "clears\x1b[2Jthe screen\aand more\r",
				Unavailable: "no\x1b]0;title\a", Devices: []plugins.Device{{Kind: "cpu", Name: "\u009bred"}},
				Options: []plugins.Option{{Name: "color", Kind: plugins.Text, Meaning: "\x1b[31mred"}},
			}, nil)
		}},
		{"shouter", func() plugins.Engine { // in an error
			return unusable(plugins.Description{}, errors.New("no\x1b[2J device"))
		}},
	}...)
}

func unusable(d plugins.Description, err error) plugins.Engine {
	return plugins.New(func() (plugins.Description, error) { return d, err },
		func(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
			return plugins.Built{}, errors.New("never called")
		})
}

func TestAddedEngineIsListedAndRun(t *testing.T) {
	var out bytes.Buffer
	line := "run --engine queue --scale 8 --set queue.work=hybrid --roots 4 --out " + filepath.Join(t.TempDir(), "run")
	code := execute(t.Context(), withMore(), strings.Fields(line), &out, &out)
	if code != exitValid || !strings.Contains(out.String(), " 4/4 ") {
		t.Errorf("exit code %d:\n%s", code, &out)
	}
}

func TestWhatAnEngineSaysCannotControlATerminal(t *testing.T) {
	for line, want := range map[string]string{
		"engines": "\nqueue (built in)\n", "conform painter": "painter", "conform shouter": "shouter",
		"run --engine painter --scale 6": "painter", "run --engine shouter --scale 6": "shouter",
	} {
		var out bytes.Buffer
		execute(t.Context(), withMore(), strings.Fields(line), &out, &out)
		if !strings.Contains(out.String(), want) || strings.ContainsAny(out.String(), "\x1b\a\r\u009b") {
			t.Errorf("teps %s: want %q, and nothing that controls a terminal, in\n%q", line, want, out.String())
		}
	}
}

// testDevice does the host's work on the CPU, in another process. With the variable HOSTDEVICE_DIES it dies in
// the tenth validation, and with HOSTDEVICE_MISSING it says that it is not there.
type testDevice struct {
	bycpu.Accelerator
	validated int
}

func serveHostDevice() { rpc.ServeAccelerator(&testDevice{}) }

func (d *testDevice) Describe(ctx context.Context) (plugins.Description, error) {
	of, err := d.Accelerator.Describe(ctx)
	of.Unavailable = os.Getenv("HOSTDEVICE_MISSING")
	return of, err
}

func (*testDevice) Lend(context.Context, []graph.Edge) (*plugins.DeviceTuples, error) {
	return nil, plugins.ErrUnavailable
}

func (d *testDevice) Validate(ctx context.Context, root graph.Vertex, out plugins.Output) (validate.Tree, error) {
	if d.validated++; d.validated == 10 && os.Getenv("HOSTDEVICE_DIES") != "" {
		os.Exit(7)
	}
	return d.Accelerator.Validate(ctx, root, out)
}

// maker is an engine that makes tuples from their recipe where there is no list.
type maker struct{ plugins.Engine }

func serveMaker() { rpc.Serve(maker{serial.New()}) }

func (m maker) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := m.Engine.Describe(ctx)
	d.Name, d.MakesTuples = "maker", true
	return d, err
}

func (m maker) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	if len(in.Tuples) == 0 && in.Recipe != nil {
		in.Tuples = make([]graph.Edge, in.Recipe.Tuples())
		if err := in.Recipe.Generate(ctx, in.Tuples, 0, 0); err != nil {
			return plugins.Construction{}, err
		}
	}
	return m.Engine.Construct(ctx, in)
}

func TestARunWithoutEnginesHasAGPUThatOnlyOpenCLFinds(t *testing.T) {
	device := func(kind, name, fact, value string) plugins.Device {
		return plugins.Device{Kind: kind, Name: name, Details: []plugins.Fact{{Name: fact, Value: value}}}
	}
	devices := []plugins.Device{
		device("cpu", "a processor", "driver", "1"), device("gpu", "broken", opencl.Problem, "no compiler"),
		device("gpu", "A", plugins.DeviceUUID, "GPU-1"), device("gpu", "B", "driver", "2"), device("gpu", "C", "driver", "2"),
	}
	for _, c := range []struct {
		given []plugins.Device
		want  int
	}{
		{nil, 2},
		{[]plugins.Device{device("gpu", "A of CUDA", plugins.DeviceUUID, "GPU-1")}, 3},
		{[]plugins.Device{device("gpu", "A", plugins.DeviceUUID, "GPU-2"), device("gpu", "B", "driver", "3")}, 4},
		{devices, -1},
	} {
		must.Equal(t, otherGPU(devices, c.given), c.want, c.given)
	}
}
