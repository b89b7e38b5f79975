// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// The suite checks what an engine must do that describes itself as unavailable; gpu_test.go has the rest.
func TestConformanceWithoutCUDA(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(), nil })
}

func TestEngineWithoutCUDADescribesItself(t *testing.T) {
	d, err := New().Describe(t.Context())
	if err != nil || !strings.Contains(d.Unavailable, "cuda/build.sh") || len(d.Options) == 0 || d.Limits != limits() {
		t.Errorf("describe: got %+v, %v", d, err)
	}
	if _, err := build(t.Context(), plugins.Input{}, plugins.Settings{}, nil); !errors.Is(err, plugins.ErrUnavailable) {
		t.Errorf("build: got %v, want %v", err, plugins.ErrUnavailable)
	}
}
