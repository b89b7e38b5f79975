package cuda

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// Without a GPU the suite runs what an engine must do that says it is unavailable; gpu_test.go has the rest.
func TestConformanceOfTheAbsentEngine(t *testing.T) {
	open := func(context.Context) (plugins.Engine, error) {
		return &absent{why: "there is no GPU in this test"}, nil
	}
	enginetest.Test(t, open)
}
