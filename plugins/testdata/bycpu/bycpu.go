// SPDX-License-Identifier: Apache-2.0

// Package bycpu has an accelerator for tests, which needs no device.
package bycpu

import (
	"context"
	"errors"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

// Accelerator is a plugins.Accelerator that asks package graph.
type Accelerator struct{ validator *validate.Validator }

func (*Accelerator) Describe(context.Context) (plugins.Description, error) {
	return plugins.Description{Name: "test", Version: "1", Summary: "Works on the CPU."}, nil
}

func (*Accelerator) Generate(ctx context.Context, in plugins.Input) error {
	return errors.Join(in.Recipe.Generate(ctx, in.Tuples, in.First, 0),
		graph.Weights(ctx, *in.Recipe, 0, 0, in.Weights, in.First, 0))
}

func (a *Accelerator) Load(ctx context.Context, in plugins.Input, vertices int64) (err error) {
	if in.Recipe != nil {
		a.validator, err = validate.NewFromSource(ctx, *in.Recipe, make([]graph.Edge, 1000), 0)
	} else if a.validator, err = validate.New(slices.Clone(in.Tuples), vertices, 0); err == nil && in.Weights != nil {
		err = a.validator.SetWeights(slices.Clone(in.Weights))
	}
	return err
}

// Lend copies nothing: the handle is the text of the first tuple.
func (*Accelerator) Lend(_ context.Context, tuples []graph.Edge) (*plugins.DeviceTuples, error) {
	if len(tuples) == 0 {
		return nil, nil
	}
	return &plugins.DeviceTuples{Handle: []byte(tuples[0].String()), Count: int64(len(tuples))}, nil
}

func (a *Accelerator) Validate(ctx context.Context, root graph.Vertex, out plugins.Output) (validate.Tree, error) {
	if a.validator == nil {
		return validate.Tree{}, plugins.ErrNotConstructed
	}
	return a.validator.Validate(ctx, root, out.Parent, out.Distance)
}

func (*Accelerator) Close() error { return nil }
