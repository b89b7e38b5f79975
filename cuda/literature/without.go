//go:build !cuda

package literature

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

func build(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
	return plugins.Built{}, fmt.Errorf("%w: %s", plugins.ErrUnavailable, driver.Missing())
}
