// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// agreeOnPaths compares the results of all parts with those of a Validator, and returns its error.
func (all parts) agreeOnPaths(t failer, v *Validator, w weighted) error {
	t.Helper()
	ctx, parents, distances := context.Background(), divide(w.parent, len(all)), divide(w.distance, len(all))
	tree, err := v.Validate(ctx, w.root, w.parent, w.distance)
	all.compare(t, w.name, tree, err, func(rank int) (Tree, error) {
		return all[rank].Validate(ctx, w.root, parents[rank], distances[rank])
	})
	return err
}

// Weights are drawn from few, so that sums are equal, and some are lost in rounding.
func TestPartsAgreeWithTheValidatorOnShortestPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	few := []float32{0, 0.25, 0.5, 1, 0x1p-27, 1e-42, 0.1, 0.7}
	odd := []float32{graph.UnwrittenDistance(), -1, float32(math.Copysign(0, -1)), graph.Infinity()}
	rules := map[Rule]int{}
	for i, s := range generated(t) {
		if s.vertices > 2000 || testing.Short() && (s.vertices > 500 || i%2 == 0) {
			continue
		}
		w := weighted{sample: s, weights: make([]float32, len(s.edges))}
		for k := range w.weights {
			w.weights[k] = few[rng.IntN(len(few))]
		}
		csr, err := graph.NewWeightedCSR(w.edges, w.weights, w.vertices)
		if err == nil {
			w.parent, w.distance, err = csr.ShortestPaths(w.root)
		}
		v := mustValidator(t, s.edges, s.vertices, 2)
		if err = errors.Join(err, v.SetWeights(w.weights)); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{partCounts[i%len(partCounts)], 1 + rng.IntN(33)} {
			all, _ := newParts(t, s.edges, s.vertices, size, 1+i%3)
			for _, p := range all {
				must.Do(p.SetWeights(w.weights[p.first:][:len(p.pairs)]))
			}
			must.Do(all.agreeOnPaths(t, v, w))
			for range min(30, 2+3000/s.vertices) {
				m := w
				m.parent, m.distance = slices.Clone(w.parent), slices.Clone(w.distance)
				for range 1 + rng.IntN(2) {
					u, other := rng.Int64N(s.vertices), graph.Vertex(rng.Int64N(s.vertices))
					if reached := slices.Index(m.parent, other); rng.IntN(4) > 0 && reached >= 0 {
						u = int64(reached)
					}
					switch d := m.distance[u]; rng.IntN(8) {
					case 0:
						m.parent[u] = other
					case 1:
						m.parent[u] = []graph.Vertex{-1, graph.Unwritten, graph.Vertex(s.vertices), graph.Vertex(u)}[rng.IntN(4)]
					case 2:
						m.parent[u], m.distance[u] = graph.Unreached, graph.Infinity()
					case 3:
						m.parent[u], m.distance[u] = other, few[rng.IntN(len(few))]
					case 4:
						m.distance[u] = odd[rng.IntN(len(odd))]
					default:
						m.distance[u] = math.Nextafter32(d, d+[]float32{1, -1}[rng.IntN(2)])
					}
				}
				if violation := new(Violation); errors.As(all.agreeOnPaths(t, v, m), &violation) {
					rules[violation.Rule]++
				}
			}
		}
	}
	if len(rules) < 5 {
		t.Errorf("mutants by rule: %v", rules)
	}
}

func TestPartRefusesWeights(t *testing.T) {
	all, _ := newParts(t, []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2)}, 3, 1, 1)
	for want, weights := range map[string][]float32{"want as many": {1}, "tuple 1 is -0.5": {0, -0.5}} {
		must.Fail(t, all[0].SetWeights(weights), want)
	}
	_, err := all[0].Validate(t.Context(), 0, make([]graph.Vertex, 3), make([]float32, 3))
	if err == nil || errors.As(err, new(*Violation)) || !strings.Contains(err.Error(), "no weights") {
		t.Errorf("without weights: %v", err)
	}
}
