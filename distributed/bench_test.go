package distributed_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// BenchmarkSearch searches from 64 vertices in turn. Gtuples/s counts all tuples of the graph; nearly all are in one
// component, so it is close to the harness's TEPS.
func BenchmarkSearch(b *testing.B) {
	scales := []int{18, 20}
	if testing.Short() {
		scales = []int{14}
	}
	for _, scale := range scales {
		tuples := kronecker(b, scale, 16)
		for _, options := range []map[string]string{
			{"ranks": "1"},
			{"ranks": "1", "threads": "2"},
			{"ranks": "2"},
			{"ranks": "2", "partition": "2d"},
			{"ranks": "2", "partition": "1d"},
			{"ranks": "4"},
			{"ranks": "4", "partition": "2d"},
			{"ranks": "4", "partition": "1d"},
		} {
			partition, threads := cmp.Or(options["partition"], "1d-replicated"), cmp.Or(options["threads"], "1")
			name := fmt.Sprintf("s%d/%s/ranks=%s/threads=%s", scale, partition, options["ranks"], threads)
			b.Run(name, func(b *testing.B) {
				e := distributed.New()
				defer e.Close()
				if _, err := e.Construct(b.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
					b.Fatal(err)
				}
				parent := make([]graph.Vertex, 1<<scale)
				var roots []graph.Vertex
				for _, t := range tuples[:64] {
					u, _ := t.Ends()
					roots = append(roots, u)
				}
				phases := map[string]float64{}
				b.ResetTimer()
				k := 0
				for b.Loop() {
					t, err := e.Search(b.Context(), roots[k%len(roots)], parent)
					if err != nil {
						b.Fatal(err)
					}
					k++
					for _, level := range t.Levels {
						for _, p := range level.Phases {
							phases[p.Name] += p.Elapsed.Seconds()
						}
					}
					for _, p := range t.Phases {
						phases[p.Name] += p.Elapsed.Seconds()
					}
				}
				for name, seconds := range phases {
					b.ReportMetric(seconds*1e6/float64(k), "us-"+name)
				}
				b.ReportMetric(float64(len(tuples))*float64(k)/b.Elapsed().Seconds()/1e9, "Gtuples/s")
			})
		}
	}
}
