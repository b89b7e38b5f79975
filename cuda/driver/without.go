// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package driver

import (
	"context"
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// Missing explains in one sentence why this program cannot use a GPU.
func Missing() string {
	return "this program was built without CUDA; on a machine with a CUDA toolkit, run: bash cuda/build.sh"
}

// Devices returns nothing.
func Devices() ([]plugins.Device, error) { return nil, nil }

// Build is kernel 1 of every engine: an error.
func Build(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
	return plugins.Built{}, fmt.Errorf("%w: %s", plugins.ErrUnavailable, Missing())
}
