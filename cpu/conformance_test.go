package cpu

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestConformance(t *testing.T) {
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	sets := combinations()
	if testing.Short() {
		sets = sets[:1]
	}
	enginetest.Test(t, open, sets...)
}
