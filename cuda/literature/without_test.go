// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package literature

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// The suite checks what an engine must do that describes itself as unavailable; gpu_test.go has the rest.
func TestConformanceWithoutCUDA(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(), nil })
}
