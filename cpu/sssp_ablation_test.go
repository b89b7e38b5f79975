// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// pathAblations are kernel 3 and what it is without one technique.
var pathAblations = []struct {
	name   string
	remove func(t testing.TB, e *instance)
}{
	{"nothing", func(testing.TB, *instance) {}},
	{"push between hubs", func(_ testing.TB, e *instance) { e.paths.core = nil }},
	{"relay weights in bounds", func(t testing.TB, e *instance) {
		g := e.paths.g
		for v := range g.Relays {
			g.Relays[v] = layout.Relay{Via: layout.None}
		}
		for v := range uint32(g.Vertices) {
			list := g.List(v)
			slices.Sort(list) // by weight
			for i, h := range []*layout.Head{&g.Heads[v], &g.Seconds[v][0], &g.Seconds[v][1]} {
				if i+1 < len(list) {
					_, next := layout.Split(list[i+1])
					h.Next = next * layout.Slack
				}
				if i < len(list) {
					h.Neighbor, h.Weight = layout.Split(list[i])
				}
			}
		}
		e.paths = must.Get(newPaths(t.Context(), g, e.team, e.memory))
	}},
	{"classes of degrees", func(_ testing.TB, e *instance) {
		c := &e.paths.g.Classes
		c[1], c[2], c[3] = c[0], c[0], c[0] // all vertices that pull are in the last one
	}},
}

func constructPathAblations(t testing.TB, tuples []graph.Edge, weights []float32, threads string) (all []*instance) {
	t.Helper()
	settings := must.Get(plugins.Resolve(options(), map[string]string{"threads": threads}))
	for _, a := range pathAblations {
		e := must.Get(construct(t.Context(), tuples, settings, layout.Options{Weighted: true}))
		t.Cleanup(func() { _ = e.free() })
		must.Do(e.constructPaths(t.Context(), tuples, weights))
		a.remove(t, e)
		all = append(all, e)
	}
	return all
}

func officialWeights(t testing.TB, scale, tuples int) []float32 {
	weights := make([]float32, tuples)
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	must.Do(graph.Weights(t.Context(), recipe, 2, 3, weights, 0, 0))
	return weights
}

func TestEveryAblationFindsShortestPaths(t *testing.T) {
	tuples := kronecker(t, 12)
	weights := officialWeights(t, 12, len(tuples))
	for i, e := range constructPathAblations(t, tuples, weights, "2") {
		n := e.graph.Labels
		host := must.Get(validate.New(tuples, int64(n), 1))
		must.Do(host.SetWeights(weights))
		parent, distance := make([]graph.Vertex, n), make([]float32, n)
		for root := range graph.Vertex(10) {
			host.OverwritePaths(parent, distance)
			must.Get(e.traversePaths(t.Context(), root, parent, distance))
			if _, err := host.ShortestPaths(t.Context(), root, parent, distance); err != nil {
				t.Errorf("without %s, root %d: %v", pathAblations[i].name, root, err)
			}
		}
	}
}

// BenchmarkPathAblation is BenchmarkAblation for kernel 3. It also prints entries and steps of a search.
func BenchmarkPathAblation(b *testing.B) {
	tuples := kronecker(b, *flagScale)
	engines := constructPathAblations(b, tuples, officialWeights(b, *flagScale, len(tuples)), "0")
	roots := chooseRoots(b, tuples, 1<<*flagScale)
	n := engines[0].graph.Labels
	parent, distance := make([]graph.Vertex, n), make([]float32, n)
	rates := make([][]float64, len(engines)) // searches a second
	entries, steps := make([]int64, len(engines)), make([]int, len(engines))
	for range b.N * *flagPasses {
		for i, e := range engines {
			time.Sleep(20 * time.Millisecond) // until the workers before have parked
			var sum time.Duration
			for n, root := range append(roots[:1:1], roots...) {
				found := must.Get(e.traversePaths(b.Context(), root, parent, distance))
				if n == 0 {
					continue // not timed
				}
				sum += found.Elapsed
				steps[i] += len(found.Levels)
				for _, l := range found.Levels {
					looked, _ := l.Edges.Get()
					entries[i] += looked
				}
			}
			rates[i] = append(rates[i], float64(len(roots))/sum.Seconds())
		}
	}
	searches := b.N * *flagPasses * len(roots)
	for i, a := range pathAblations {
		fmt.Printf("without %s: %.0f us a search, speed %.2f, %.4f m entries, %d steps\n", a.name,
			1e6/units.Median(rates[i]), medianRatio(rates[i], rates[0]),
			float64(entries[i])/float64(searches*len(tuples)), steps[i]/searches)
	}
}
