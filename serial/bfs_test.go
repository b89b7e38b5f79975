package serial

import (
	"context"
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
