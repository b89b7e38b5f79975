// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package cuda

import (
	"context"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/plugins"
)

func build(ctx context.Context, in plugins.Input, set plugins.Settings, _ *team.World) (plugins.Built, error) {
	return driver.Build(ctx, in, set)
}
