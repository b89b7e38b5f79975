// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// ablations are the full engine and engines without one technique.
var ablations = []struct {
	name    string
	options string
	lists   layout.Options
}{
	{name: "nothing"},
	{name: "numbering by degree", lists: layout.Options{ByLabel: true}},
	{name: "groups", options: "hubs=64"},
	{name: "leaves", lists: layout.Options{NoLeaves: true}},
	{name: "output template"}, // parents are written vertex by vertex
	{name: "bottom-up steps, and their bitmaps", options: "direction=topdown"},
	{name: "plain lists (packed instead)", options: "adjacency=packed"},
}

// constructAll runs kernel 1 for every ablation.
func constructAll(t testing.TB, tuples []graph.Edge, threads string) (all []*instance) {
	t.Helper()
	for _, a := range ablations {
		settings, err := plugins.Resolve(options(), optionsOf("threads="+threads+" "+a.options, " "))
		if err != nil {
			t.Fatal(err)
		}
		e, err := construct(t.Context(), tuples, settings, a.lists)
		if err != nil {
			t.Fatal(err)
		}
		if a.name == "output template" {
			e.search.templateShare = math.MaxInt64
		}
		t.Cleanup(func() { _ = e.free() })
		all = append(all, e)
	}
	return all
}

func TestEveryAblationSearchesRight(t *testing.T) {
	tuples := kronecker(t, 10)
	for i, e := range constructAll(t, tuples, "3") {
		validator, err := validate.New(tuples, int64(e.graph.Labels), 1)
		if err != nil {
			t.Fatal(err)
		}
		parent := make([]graph.Vertex, e.graph.Labels)
		for root := range graph.Vertex(20) {
			validator.Overwrite(parent)
			if _, err := e.traverse(t.Context(), root, parent); err != nil {
				t.Fatal(err)
			}
			if _, err := validator.Validate(t.Context(), root, parent); err != nil {
				t.Errorf("without %s, root %d: %v", ablations[i].name, root, err)
			}
		}
	}
}

// BenchmarkAblation prints what each technique is worth: the speed of searches without it, relative to the full engine,
// from passes in turn. The flags of BenchmarkSearch set the graph.
func BenchmarkAblation(b *testing.B) {
	tuples := kronecker(b, *flagScale)
	engines := constructAll(b, tuples, "0")
	roots := chooseRoots(b, tuples, 1<<*flagScale)
	arena := memory.New()
	b.Cleanup(arena.ReleaseAll)
	parent := memory.Allocate[graph.Vertex](arena, "parents", 1<<*flagScale)
	if err := arena.Err(); err != nil {
		b.Fatal(err)
	}
	rates := make([][]float64, len(engines)) // searches a second
	for range b.N {
		for range *flagPasses {
			for i, e := range engines {
				time.Sleep(20 * time.Millisecond) // until the workers before have parked
				var sum time.Duration
				for n, root := range append(roots[:1:1], roots...) {
					found, err := e.traverse(context.Background(), root, parent[:e.graph.Labels])
					if err != nil {
						b.Fatal(err)
					}
					if n > 0 { // the first search is not timed
						sum += found.Elapsed
					}
				}
				rates[i] = append(rates[i], float64(len(roots))/sum.Seconds())
			}
		}
	}
	for i, a := range ablations {
		fmt.Printf("without %s: %.0f us a search, speed %.2f\n", a.name, 1e6/units.Median(rates[i]),
			medianRatio(rates[i], rates[0]))
	}
}

// BenchmarkConstruct is kernel 1 alone, with its peak of memory above the tuples.
func BenchmarkConstruct(b *testing.B) {
	tuples := kronecker(b, *flagScale)
	for _, set := range benchmarkOptions() {
		b.Run(fmt.Sprint(set), func(b *testing.B) {
			peak := int64(0)
			for b.Loop() {
				e := construction(b, tuples, set)
				peak = e.memory.Peak()
				if err := e.free(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/1e6, "peakMB")
		})
	}
}
