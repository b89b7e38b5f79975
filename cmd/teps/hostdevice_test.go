package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"unsafe"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/serial"
)

// testDevice does the host's work on the CPU, in a process of its own. The variable HOSTDEVICE_DIES names the call in
// which it dies, the tenth of them for validate, and HOSTDEVICE_MISSING makes it say that it is not there.
type testDevice struct {
	validator *graph.Validator
	validated int
}

func serveHostDevice() { rpc.ServeAccelerator(&testDevice{}) }

func (*testDevice) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{
		Name: "test", Version: "1", Summary: "Works on the CPU.", Unavailable: os.Getenv("HOSTDEVICE_MISSING"),
	}, nil
}

func (*testDevice) Generate(ctx context.Context, k graph.Kronecker, dst []graph.Edge, first int64) error {
	clear(dst)
	dies("generate")
	return k.Generate(ctx, dst, first, 0)
}

func dies(call string) {
	if os.Getenv("HOSTDEVICE_DIES") == call {
		os.Exit(7)
	}
}

// Lend puts the tuples into a file, whose path is their handle.
func (*testDevice) Lend(_ context.Context, tuples []graph.Edge) (*plugins.DeviceTuples, error) {
	path := os.Getenv("HOSTDEVICE_MEMORY")
	if path == "" {
		return nil, plugins.ErrUnavailable
	}
	if len(tuples) == 0 {
		return nil, os.Remove(path)
	}
	dies("lend")
	var list bytes.Buffer
	err := errors.Join(graph.WriteEdges(&list, tuples), os.WriteFile(path, list.Bytes(), 0o600))
	return &plugins.DeviceTuples{Handle: []byte(path), Count: int64(len(tuples))}, err
}

func (d *testDevice) Load(_ context.Context, tuples []graph.Edge, vertices int64) (err error) {
	dies("load")
	d.validator, err = graph.NewValidator(slices.Clone(tuples), vertices, 0)
	return err
}

func (d *testDevice) LoadRecipe(ctx context.Context, k graph.Kronecker) (err error) {
	d.validator, err = graph.NewSourceValidator(ctx, k, make([]graph.Edge, 1<<16), 0)
	return err
}

func (d *testDevice) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (graph.Tree, error) {
	if d.validated++; d.validated == 10 {
		dies("validate")
	}
	return d.validator.Validate(ctx, root, parent)
}

func (*testDevice) Close() error { return nil }

// maker is an engine that makes tuples from their recipe where there is no list, and reads those of a testDevice.
type maker struct{ plugins.Engine }

func serveMaker() { rpc.Serve(maker{serial.New()}) }

func (m maker) Describe(ctx context.Context) (plugins.Description, error) {
	d, err := m.Engine.Describe(ctx)
	d.Name, d.MakesTuples, d.TakesDeviceTuples = "maker", true, true
	return d, err
}

func (m maker) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	if len(in.Tuples) == 0 && in.Recipe != nil {
		in.Tuples = make([]graph.Edge, in.Recipe.Tuples())
		if err := in.Recipe.Generate(ctx, in.Tuples, 0, 0); err != nil {
			return plugins.Construction{}, err
		}
	}
	if lent := in.DeviceTuples; lent != nil {
		list, err := os.ReadFile(string(lent.Handle))
		if err != nil {
			return plugins.Construction{}, err
		}
		if os.Getenv("MAKER_CANNOT") != "" {
			return plugins.Construction{}, plugins.ErrMemory
		}
		in.Tuples = unsafe.Slice((*graph.Edge)(unsafe.Pointer(unsafe.SliceData(list))), lent.Count)
	}
	return m.Engine.Construct(ctx, in)
}
