// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// The whole suite with the default options, and searches of its graphs with sets of options that together have every
// pair of values of two options.
func TestConformance(t *testing.T) {
	enginetest.Test(t, opener)
	for _, set := range append(pairwise, "threads=1 direction=bottomup hubs=3") {
		deep := !strings.Contains(set, "bottomup") && !strings.Contains(set, "1e9") // else a level costs a pass over all
		conform(t, set, func(name string) bool {
			slow := name == "graph/kronecker-15" || name == "graph/high-labels" || name == "graph/path-deeper" && !deep
			return strings.HasPrefix(name, "graph/") && !slow && (small(name) || !testing.Short())
		})
	}
}

func opener(context.Context) (plugins.Engine, error) { return New(), nil }

// conform runs the wanted cases with a set of options.
func conform(t *testing.T, set string, wanted func(name string) bool) {
	t.Run(set, func(t *testing.T) {
		for _, c := range enginetest.Cases() {
			if !wanted(c.Name) {
				continue
			}
			if o := c.Run(t.Context(), opener, optionsOf(set, " "), enginetest.Limit); o.Err != nil {
				t.Errorf("%v\nThe case: %s", o.Err, c.About)
			}
		}
	})
}

// values has the values of every option for pairwise: all of a choice, and numbers that take different paths.
var values = map[string][]string{
	"threads": {"1", "3"}, "adjacency": {"csr", "packed"}, "alpha": {"0", "20", "1e9"}, "beta": {"0", "16384"},
	"sequential": {"0", "4096"}, "hubs": {"0", "2"},
}

// pairwise has every pair of values, except for beta with searches that never go bottom-up.
var pairwise = []string{
	"threads=3 adjacency=packed alpha=1e9 beta=0 sequential=0 hubs=2",
	"threads=1 adjacency=csr alpha=1e9 beta=16384 sequential=4096 hubs=0",
	"threads=1 adjacency=packed alpha=20 beta=0 sequential=4096 hubs=2",
	"threads=3 adjacency=csr alpha=20 beta=16384 sequential=0 hubs=0",
	"threads=3 adjacency=packed alpha=0 beta=0 sequential=4096 hubs=0",
	"threads=1 adjacency=csr alpha=0 beta=0 sequential=0 hubs=2",
	"threads=1 adjacency=packed alpha=1e9 beta=16384 sequential=0 hubs=2",
}

func TestPairwiseCoversEveryPairOfValues(t *testing.T) {
	for a, first := range values {
		for b, second := range values {
			for _, x := range first {
				for _, y := range second {
					has := func(set string) bool { o := optionsOf(set, " "); return o[a] == x && o[b] == y }
					neverBottomUp := a == "alpha" && x == "0" && b == "beta" || b == "alpha" && y == "0" && a == "beta"
					if a != b && !neverBottomUp && !slices.ContainsFunc(pairwise, has) {
						t.Errorf("no set has %s=%s and %s=%s", a, x, b, y)
					}
				}
			}
		}
	}
}

// small selects the cases with a graph that the oracle searches in a few milliseconds.
func small(name string) bool {
	large := []string{"path-deeper", "high-labels", "grid", "tree", "star-wide", "kronecker-12", "kronecker-15"}
	name, ok := strings.CutPrefix(name, "graph/")
	return ok && !slices.Contains(large, name)
}
