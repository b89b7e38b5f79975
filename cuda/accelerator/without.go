// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package accelerator

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

type device struct{}

func missing() error { return fmt.Errorf("%w: %s", plugins.ErrUnavailable, driver.Missing()) }

func (device) Generate(context.Context, plugins.Input) error { return missing() }

func (device) Lend(context.Context, []graph.Edge) (*plugins.DeviceTuples, error) {
	return nil, missing()
}

func (device) Load(context.Context, plugins.Input, int64) error { return missing() }

func (device) Validate(context.Context, graph.Vertex, plugins.Output) (validate.Tree, error) {
	return validate.Tree{}, missing()
}

func (device) Close() error { return nil }
