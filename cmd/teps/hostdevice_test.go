// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/serial"
)

// testDevice does the host's work on the CPU, in a process of its own. With the variable HOSTDEVICE_DIES it dies in
// the tenth validation, and with HOSTDEVICE_MISSING it says that it is not there.
type testDevice struct {
	validator *validate.Validator
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
	return k.Generate(ctx, dst, first, 0)
}

func (*testDevice) Lend(context.Context, []graph.Edge) (*plugins.DeviceTuples, error) {
	return nil, plugins.ErrUnavailable
}

func (d *testDevice) Load(_ context.Context, tuples []graph.Edge, vertices int64) (err error) {
	d.validator, err = validate.New(slices.Clone(tuples), vertices, 0)
	return err
}

func (d *testDevice) LoadRecipe(ctx context.Context, k graph.Kronecker) (err error) {
	d.validator, err = validate.NewFromSource(ctx, k, make([]graph.Edge, 1<<16), 0)
	return err
}

func (d *testDevice) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error) {
	if d.validated++; d.validated == 10 && os.Getenv("HOSTDEVICE_DIES") != "" {
		os.Exit(7)
	}
	return d.validator.Validate(ctx, root, parent)
}

func (*testDevice) Close() error { return nil }

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
