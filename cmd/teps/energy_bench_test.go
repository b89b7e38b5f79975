package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// BenchmarkRepeat compares three ways to search from the roots of a run: with a validation after every search, as a run
// does; one search after the other; and by the engine's own loop, which returns no parents. The last two take the same
// time if the loop does whole searches; the first one is slower because validation empties the caches.
//
//	go test ./cmd/teps -run '^$' -bench Repeat -benchtime 5x
func BenchmarkRepeat(b *testing.B) {
	for _, scale := range []int{18, 20} {
		recipe := record.DefaultPlan().Recipe(scale)
		tuples := make([]graph.Edge, recipe.Tuples())
		if err := recipe.Generate(b.Context(), tuples, 0, 0); err != nil {
			b.Fatal(err)
		}
		validator, err := validate.New(tuples, recipe.Vertices(), 0)
		if err != nil {
			b.Fatal(err)
		}
		roots, _ := harness.DrawRoots(recipe.Vertices(), recipe.Seed1, recipe.Seed2, validator.Joined(), record.OfficialRoots)
		for _, name := range []string{"cpu", "distributed"} {
			b.Run(fmt.Sprintf("s%d/%s", scale, name), func(b *testing.B) {
				engine := builtins().find(name)()
				defer engine.Close()
				if _, err := engine.Construct(b.Context(), plugins.Input{Tuples: tuples}); err != nil {
					b.Fatal(err)
				}
				parent := make([]graph.Vertex, recipe.Vertices())
				const long = 300 * time.Millisecond
				// around returns the mean time of a search by the engine's clock, over that time at least.
				around := func(validated bool) float64 {
					var sum time.Duration
					n := 0
					for ; sum < long || n%len(roots) != 0; n++ {
						root := roots[n%len(roots)]
						t, err := engine.Search(b.Context(), root, parent)
						if err == nil && validated {
							_, err = validator.Validate(b.Context(), root, parent)
						}
						if err != nil {
							b.Fatal(err)
						}
						sum += t.Elapsed
					}
					return sum.Seconds() / float64(n)
				}
				var run, alone, loop []float64
				for b.Loop() {
					run, alone = append(run, around(true)), append(alone, around(false))
					start := time.Now()
					n, err := engine.(plugins.Repeater).Repeat(b.Context(), roots, long)
					if err != nil {
						b.Fatal(err)
					}
					loop = append(loop, time.Since(start).Seconds()/float64(n))
				}
				median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
				b.ReportMetric(median(run)*1e6, "us-validated")
				b.ReportMetric(median(alone)*1e6, "us-search")
				b.ReportMetric(median(loop)*1e6, "us-repeat")
				b.ReportMetric(median(loop)/median(alone), "repeat/search")
			})
		}
	}
}
