//go:build !cuda

package cuda

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

func missing() string {
	return "this program was built without CUDA; on a machine with a CUDA toolkit, run: bash cuda/build.sh"
}

func describeDevices() ([]plugins.Device, error) { return nil, nil }

func build(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
	return plugins.Built{}, fmt.Errorf("%w: %s", plugins.ErrUnavailable, missing())
}
