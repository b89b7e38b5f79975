// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

var flagProduct = flag.Bool("cpu.product", false, "also run the conformance suite with all combinations of options")

// The suite with a few sets of options, which together take every path of the engine.
func TestConformance(t *testing.T) {
	enginetest.Test(t, opener)
	if testing.Short() {
		return
	}
	enginetest.Test(t, opener, map[string]string{
		"threads": "3", "adjacency": "packed", "alpha": "0", "sequential": "0", "hubs": "2",
	})
	conform(t, map[string]string{"threads": "1", "direction": "bottomup", "hubs": "3"}, affordable)
}

func opener(context.Context) (plugins.Engine, error) { return New(), nil }

// Two more runs with -cpu.product: all cases of the suite with a few sets that contain every pair of values of two
// options, and the cases with small graphs with every combination.
func TestConformanceOfEveryCombination(t *testing.T) {
	if !*flagProduct {
		t.Skip("takes a minute; run with -cpu.product")
	}
	t.Run("pairs", func(t *testing.T) {
		for _, set := range pairwise(product()) {
			conform(t, set, affordable)
		}
	})
	t.Run("product", func(t *testing.T) {
		for _, set := range product() {
			conform(t, set, small)
		}
	})
}

// conform runs the wanted cases with a set of options.
func conform(t *testing.T, set map[string]string, wanted func(enginetest.Case, map[string]string) bool) {
	t.Run(strings.NewReplacer("map[", "", "]", "", " ", ",").Replace(fmt.Sprint(set)), func(t *testing.T) {
		for _, c := range enginetest.Cases() {
			if !wanted(c, set) {
				continue
			}
			if o := c.Run(t.Context(), opener, set, enginetest.Limit); o.Err != nil {
				t.Errorf("%v\nThe case: %s", o.Err, c.About)
			}
		}
	})
}

// values has the values of every option for the product: all of a choice, and the numbers that take different paths.
var values = []struct {
	name   string
	values []string
}{
	{"threads", []string{"1", "3"}},
	{"adjacency", []string{"csr", "packed"}},
	{"alpha", []string{"0", "20", "1e9"}},
	{"beta", []string{"0", "16384"}},
	{"sequential", []string{"0", "4096"}},
	{"hubs", []string{"0", "2"}},
}

// product returns every combination of the values, but only one beta for searches that never go bottom-up.
func product() (sets []map[string]string) {
	sets = []map[string]string{{}}
	for _, option := range values {
		var longer []map[string]string
		for _, set := range sets {
			for i, value := range option.values {
				if option.name == "beta" && set["alpha"] == "0" && i > 0 {
					continue
				}
				more := map[string]string{option.name: value}
				for name, value := range set {
					more[name] = value
				}
				longer = append(longer, more)
			}
		}
		sets = longer
	}
	return sets
}

// pair is two values of different options.
type pair struct{ name, value, other, otherValue string }

func pairsOf(set map[string]string) (pairs []pair) {
	for i, a := range values {
		for _, b := range values[:i] {
			pairs = append(pairs, pair{a.name, set[a.name], b.name, set[b.name]})
		}
	}
	return pairs
}

// pairwise returns some of the sets, which contain every pair that occurs in any of them: again and again the set with
// the largest number of missing pairs.
func pairwise(all []map[string]string) (some []map[string]string) {
	missing := map[pair]bool{}
	for _, set := range all {
		for _, p := range pairsOf(set) {
			missing[p] = true
		}
	}
	count := func(set map[string]string) (n int) {
		for _, p := range pairsOf(set) {
			if missing[p] {
				n++
			}
		}
		return n
	}
	for len(missing) > 0 {
		best := slices.MaxFunc(all, func(a, b map[string]string) int { return count(a) - count(b) })
		some = append(some, best)
		for _, p := range pairsOf(best) {
			delete(missing, p)
		}
	}
	return some
}

// affordable leaves out searches of some 70,000 levels in which every level goes through all vertices.
func affordable(c enginetest.Case, set map[string]string) bool {
	shallow := c.Name != "graph/path-deeper" && c.Name != "cancel/during-search"
	return set["direction"] != "bottomup" && set["alpha"] != "1e9" || shallow
}

// small selects the cases with a graph that the oracle searches in a few milliseconds.
func small(c enginetest.Case, _ map[string]string) bool {
	name, ok := strings.CutPrefix(c.Name, "graph/")
	large := []string{
		"path-deeper", "high-labels", "grid", "tree", "star-wide",
		"kronecker-12", "kronecker-15",
	}
	return ok && !slices.Contains(large, name)
}

func TestPairwiseCoversEveryPairOfValues(t *testing.T) {
	sets := product()
	if want := 2 * 2 * (1 + 2*2) * 2 * 2; len(sets) != want {
		t.Errorf("the product has %d sets, want %d", len(sets), want)
	}
	some := pairwise(sets)
	for _, a := range values {
		for _, b := range values {
			for _, x := range a.values {
				for _, y := range b.values {
					if a.name == b.name || a.name == "alpha" && x == "0" || b.name == "alpha" && y == "0" {
						continue
					}
					has := func(set map[string]string) bool { return set[a.name] == x && set[b.name] == y }
					if !slices.ContainsFunc(some, has) {
						t.Errorf("no set has %s=%s and %s=%s", a.name, x, b.name, y)
					}
				}
			}
		}
	}
	if len(some) > 30 {
		t.Errorf("%d sets cover all pairs; some 10 should be enough", len(some))
	}
}
