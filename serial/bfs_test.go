package serial

import (
	"context"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func open(context.Context) (plugins.Engine, error) { return New(), nil }

func TestConformance(t *testing.T) { enginetest.Test(t, open) }

// The quadratic search takes minutes for all roots of the path of 70,000 vertices.
func TestConformanceOfQuadraticWork(t *testing.T) {
	for _, c := range enginetest.Cases() {
		if c.Name == "graph/path-deeper" {
			continue
		}
		if o := c.Run(t.Context(), open, map[string]string{"work": "quadratic"}, enginetest.Limit); o.Err != nil {
			t.Errorf("%v\nThe case: %s", o.Err, c.About)
		}
	}
}

func TestConformanceOfHybrid(t *testing.T) {
	enginetest.Test(t, open, map[string]string{"work": "hybrid"},
		map[string]string{"work": "hybrid", "direction": "topdown"},
		map[string]string{"work": "hybrid", "local": "on", "global": "on", "renumber": "on"},
		map[string]string{"work": "hybrid", "renumber": "on"})
}

// Bottom-up steps alone take minutes on long paths, as quadratic work does.
func TestBottomUpSteps(t *testing.T) {
	for _, c := range enginetest.Cases() {
		if !strings.HasPrefix(c.Name, "graph/") || strings.HasPrefix(c.Name, "graph/path-deep") {
			continue
		}
		set := map[string]string{"work": "hybrid", "direction": "bottomup"}
		if o := c.Run(t.Context(), open, set, enginetest.Limit); o.Err != nil {
			t.Errorf("%v\nThe case: %s", o.Err, c.About)
		}
	}
}
