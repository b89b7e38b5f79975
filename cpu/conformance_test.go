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

// The whole suite with the default options, and searches of its smaller graphs with sets of options that together have
// every pair of values of two options.
func TestConformance(t *testing.T) {
	enginetest.Test(t, opener)
	sets := append(slices.Clone(pairwise), "threads=1 direction=bottomup hubs=3")
	for _, set := range sets {
		if testing.Short() && !strings.Contains(set, "threads=3 adj") {
			continue // one worker has no races
		}
		enginetest.TestQuick(t, opener, []string{"graph/*"}, optionsOf(set, " "))
	}
}

func opener(context.Context) (plugins.Engine, error) { return New(), nil }

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
