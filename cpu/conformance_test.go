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

var flagProduct = flag.Bool("cpu.product", false, "run the conformance suite over every combination of options as well (minutes)")

// The whole suite over a few sets, in which every value of every option that takes a path of its own occurs.
func TestConformance(t *testing.T) {
	sets := []map[string]string{
		nil,
		{optionThreads: "3", optionAdjacency: "packed", optionParents: "32", optionAlpha: "0", optionSequential: "0", optionHubs: "2"},
		{optionThreads: "1", optionAlpha: "1e9", optionBeta: "1e9", optionHubs: "3"},
	}
	if testing.Short() {
		sets = sets[:1]
	}
	enginetest.Test(t, opener, sets...)
}

func opener(context.Context) (plugins.Engine, error) { return New(), nil }

// Two more runs with -cpu.product: every combination on the suite's small graphs, and on all of its cases so many combinations
// that every two values of two options meet in one.
func TestConformanceOfEveryCombination(t *testing.T) {
	if !*flagProduct {
		t.Skip("takes minutes; run with -cpu.product")
	}
	t.Run("pairs", func(t *testing.T) {
		for _, set := range meetings(product()) {
			conform(t, set, affordable)
		}
	})
	t.Run("product", func(t *testing.T) {
		for _, set := range product() {
			conform(t, set, small)
		}
	})
}

// conform runs the cases that are wanted with a set of options.
func conform(t *testing.T, set map[string]string, wanted func(enginetest.Case, map[string]string) bool) {
	t.Run(strings.NewReplacer("map[", "", "]", "", " ", ",").Replace(fmt.Sprint(set)), func(t *testing.T) {
		for _, c := range enginetest.Cases() {
			if !wanted(c, set) {
				continue
			}
			if o := c.Run(t.Context(), opener, set); o.Err != nil {
				t.Errorf("%v\nThe case: %s", o.Err, c.About)
			}
		}
	})
}

// values of every option for the product: all there are, or those of a number that take a path of their own.
var values = []struct {
	name   string
	values []string
}{
	{optionThreads, []string{"1", "3"}},
	{optionAdjacency, []string{"csr", "packed"}},
	{optionParents, []string{"64", "32"}},
	{optionAlpha, []string{"0", "20", "1e9"}},
	{optionBeta, []string{"0", "16384"}},
	{optionSequential, []string{"0", "4096"}},
	{optionHubs, []string{"0", "2"}},
	{optionReorder, []string{reorderHub, reorderLabel, reorderNeighbour, reorderKolganov}},
}

// product returns every combination of the values; beta says nothing to a search that never goes bottom-up.
func product() (sets []map[string]string) {
	sets = []map[string]string{{}}
	for _, option := range values {
		var longer []map[string]string
		for _, set := range sets {
			for i, value := range option.values {
				if option.name == optionBeta && set[optionAlpha] == "0" && i > 0 {
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

// meetings returns some of the sets, in which every two values meet that meet in any of all sets: again and again the
// set with the most meetings that are still missing.
func meetings(all []map[string]string) (some []map[string]string) {
	type meeting struct{ name, value, other, otherValue string }
	of := func(set map[string]string) (pairs []meeting) {
		for i, a := range values {
			for _, b := range values[:i] {
				pairs = append(pairs, meeting{a.name, set[a.name], b.name, set[b.name]})
			}
		}
		return pairs
	}
	missing := map[meeting]bool{}
	for _, set := range all {
		for _, pair := range of(set) {
			missing[pair] = true
		}
	}
	count := func(set map[string]string) (n int) {
		for _, pair := range of(set) {
			if missing[pair] {
				n++
			}
		}
		return n
	}
	for len(missing) > 0 {
		best := slices.MaxFunc(all, func(a, b map[string]string) int { return count(a) - count(b) })
		some = append(some, best)
		for _, pair := range of(best) {
			delete(missing, pair)
		}
	}
	return some
}

// affordable leaves out the searches of some 70,000 levels where each of them goes through all vertices.
func affordable(c enginetest.Case, set map[string]string) bool {
	return set[optionAlpha] != "1e9" || c.Name != "graph/path-deeper" && c.Name != "cancel/during-search"
}

// small says whether a case searches a graph whose oracle takes no more than some milliseconds.
func small(c enginetest.Case, _ map[string]string) bool {
	if !strings.HasPrefix(c.Name, "graph/") {
		return false
	}
	switch strings.TrimPrefix(c.Name, "graph/") {
	case "path-deeper", "high-labels", "grid", "tree", "star-wide", "kronecker-11", "kronecker-12", "kronecker-12-seeds", "kronecker-15":
		return false
	}
	return true
}

func TestEveryTwoValuesMeet(t *testing.T) {
	sets := product()
	if len(sets) != 2*2*2*(1+2*2)*2*2*4 {
		t.Errorf("the product has %d sets", len(sets))
	}
	some := meetings(sets)
	for _, a := range values {
		for _, b := range values {
			for _, x := range a.values {
				for _, y := range b.values {
					if a.name == b.name || a.name == optionAlpha && x == "0" || b.name == optionAlpha && y == "0" {
						continue
					}
					if !slices.ContainsFunc(some, func(set map[string]string) bool { return set[a.name] == x && set[b.name] == y }) {
						t.Errorf("no set has %s=%s and %s=%s", a.name, x, b.name, y)
					}
				}
			}
		}
	}
	if len(some) > 30 {
		t.Errorf("%d sets where two values meet; some 15 should do", len(some))
	}
}
