// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// weighted is a result of kernel 3 for a sample.
type weighted struct {
	sample
	weights  []float32
	parent   []graph.Vertex
	distance []float32
}

// judge checks the rules of kernel 3 one by one and slowly. It returns the broken rule, or 0, and the tuple or the
// vertex that the error names.
func (w weighted) judge() (rule Rule, at int) {
	if verdict := judge(w.sample, w.parent); verdict.rule == RuleTree || verdict.rule == RuleTreeLevel {
		return RulePathTree, int(verdict.vertex)
	}
	for v, d := range w.distance {
		reached := w.parent[v] != graph.Unreached
		switch {
		case reached && (math.IsNaN(float64(d)) || math.IsInf(float64(d), 0) || math.Signbit(float64(d))),
			graph.Vertex(v) == w.root && d != 0, !reached && !math.IsInf(float64(d), 1):
			return RulePathDistance, v
		}
	}
	split, tight := -1, map[[2]graph.Vertex]bool{}
	for i, e := range w.edges {
		a, b := e.Ends()
		for _, ends := range [][2]graph.Vertex{{a, b}, {b, a}} {
			from, to := ends[0], ends[1]
			sum := w.distance[from] + w.weights[i]
			switch in, out := w.parent[from] != graph.Unreached, w.parent[to] == graph.Unreached; {
			case in && out:
				if split < 0 {
					split = i
				}
			case in && sum < w.distance[to]:
				return RulePathLength, i
			case in && sum == w.distance[to] && from != to:
				tight[[2]graph.Vertex{from, to}] = true
			}
		}
	}
	if split >= 0 {
		return RulePathSpan, split
	}
	for v, p := range w.parent {
		if p != graph.Unreached && graph.Vertex(v) != w.root && !tight[[2]graph.Vertex{p, graph.Vertex(v)}] {
			return RulePathTuple, v
		}
	}
	return 0, 0
}

// check compares the validator with the slow checker, and a valid result with the search of package graph.
func (w weighted) check(t interface{ Fatalf(string, ...any) }) {
	csr, _ := graph.NewWeightedCSR(w.edges, w.weights, w.vertices)
	_, unique, _ := csr.ShortestPaths(w.root)
	rule, at := w.judge()
	same := slices.EqualFunc(unique, w.distance, func(a, b float32) bool {
		return math.Float32bits(a) == math.Float32bits(b)
	})
	if rule == 0 && !same {
		t.Fatalf("%+v: no rule is broken, but the distances are %v", w, unique)
	}
	for _, threads := range []int{1, 2} {
		v, err := New(w.edges, w.vertices, threads)
		if err == nil {
			err = v.SetWeights(w.weights)
		}
		must.Do(err)
		v.vertexGrain, v.tupleGrain = 64, 5
		tree, err := v.Validate(context.Background(), w.root, w.parent, w.distance)
		var broken *Violation
		switch {
		case rule == 0:
			want := judge(weighted{sample: w.sample, parent: w.parent}.levels())
			if err != nil || tree.Tuples != want.tree.Tuples || tree.SelfLoops != want.tree.SelfLoops ||
				tree.Reached != want.tree.Reached {
				t.Fatalf("%+v: %v, %+v, want %+v", w, err, tree, want)
			}
		case !errors.As(err, &broken) || broken.Rule != rule || !strings.Contains(err.Error(), "of kernel 3"):
			t.Fatalf("%+v: %v; want rule %v at %d", w, err, rule, at)
		case (rule == RulePathLength || rule == RulePathSpan) &&
			!strings.HasPrefix(broken.Text, fmt.Sprintf("tuple %d ", at)),
			rule != RulePathLength && rule != RulePathSpan && broken.Vertices[0] != graph.Vertex(at):
			t.Fatalf("%+v: %v; want rule %v at %d", w, err, rule, at)
		}
	}
}

// levels returns the sample with the parents of a breadth-first search, for the counts of the component.
func (w weighted) levels() (sample, []graph.Vertex) {
	csr, _ := graph.NewCSR(w.edges, w.vertices)
	parent, _, _ := csr.Search(w.root)
	return w.sample, parent
}

// Weights are drawn from few, so that sums are equal, and some are lost in rounding.
func TestShortestPathsAgreeWithTheSlowChecker(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	weight := rapid.SampledFrom([]float32{0, 0.25, 0.5, 1, 0x1p-27, 1e-42, negativeZero, 0.1, 0.7})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 10).Draw(t, "vertices")
		vertex := rapid.Custom(func(t *rapid.T) graph.Vertex {
			return graph.Vertex(rapid.Int64Range(0, n-1).Draw(t, "vertex"))
		})
		edge := rapid.Custom(func(t *rapid.T) graph.Edge { return graph.MakeEdge(vertex.Draw(t, "u"), vertex.Draw(t, "v")) })
		w := weighted{sample: sample{"", rapid.SliceOfN(edge, 0, 30).Draw(t, "tuples"), n, vertex.Draw(t, "root")}}
		w.weights = rapid.SliceOfN(weight, len(w.edges), len(w.edges)).Draw(t, "weights")
		csr, err := graph.NewWeightedCSR(w.edges, w.weights, n)
		if err == nil {
			w.parent, w.distance, err = csr.ShortestPaths(w.root)
		}
		must.Do(err)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			v := vertex.Draw(t, "changed")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				w.parent[v] = rapid.OneOf(vertex, rapid.SampledFrom([]graph.Vertex{-1, -2, graph.Vertex(n)})).Draw(t, "parent")
			case 1:
				w.distance[v] = rapid.SampledFrom([]float32{0, negativeZero, 0.25, 0.6, -1, 8, graph.Infinity(),
					-graph.Infinity(), graph.UnwrittenDistance(), math.Nextafter32(w.distance[v], 9)}).Draw(t, "distance")
			case 2:
				w.parent[v], w.distance[v] = graph.Unreached, graph.Infinity()
			}
		}
		w.check(t)
	})
}

// The reference accepts both: the parents are a cycle, but each tree edge is exactly long enough.
func TestCyclesWhereWeightsAreLost(t *testing.T) {
	for _, lost := range []float32{0, 0x1p-27} {
		w := weighted{
			sample:   sample{"", []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2)}, 3, 0},
			weights:  []float32{0.5, lost},
			parent:   []graph.Vertex{0, 2, 1},
			distance: []float32{0, 0.5, 0.5},
		}
		if rule, _ := w.judge(); rule != RulePathTree {
			t.Errorf("weight %v: %v", lost, rule)
		}
		w.check(t)
	}
}

func TestSetWeightsRefusesWeights(t *testing.T) {
	edges := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2)}
	v := must.Get(New(edges, 3, 1))
	for want, weights := range map[string][]float32{
		"want as many": {1}, "tuple 1 is -0.5": {0, -0.5}, "tuple 0 is NaN": {graph.UnwrittenDistance(), 1},
		"tuple 1 is +Inf": {1, graph.Infinity()}, "tuple 0 is 3.68934": {1 << 65, 0},
	} {
		must.Fail(t, v.SetWeights(weights), want)
	}
	parent, distance := make([]graph.Vertex, 3), make([]float32, 3)
	v.Overwrite(parent, distance)
	if parent[2] != graph.Unwritten || !math.IsNaN(float64(distance[2])) {
		t.Errorf("overwritten with %v, %v", parent, distance)
	}
	must.Do(v.SetWeights([]float32{1, 1 << 64}))
	if _, err := v.Validate(t.Context(), 0, parent, distance[:2]); err == nil || errors.As(err, new(*Violation)) {
		t.Errorf("with two distances: %v", err)
	}
}

// BenchmarkShortestPaths validates a correct result of kernel 3 on one thread.
func BenchmarkShortestPaths(b *testing.B) {
	k := graph.Kronecker{Scale: 18, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	edges, weights := make([]graph.Edge, k.Tuples()), make([]float32, k.Tuples())
	must.Do(k.Generate(b.Context(), edges, 0, 0), graph.Weights(b.Context(), k, 0, 0, weights, 0, 0))
	csr, _ := graph.NewWeightedCSR(edges, weights, k.Vertices())
	root, _ := edges[0].Ends()
	parent, distance, _ := csr.ShortestPaths(root)
	v, err := New(edges, k.Vertices(), 1)
	if err == nil {
		err = v.SetWeights(weights)
	}
	for b.Loop() {
		if err == nil {
			_, err = v.Validate(b.Context(), root, parent, distance)
		}
	}
	must.Do(err)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.Tuples()), "ns/tuple")
}

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

// All tuples of a star are on shortest paths: more than a part collects before it looks up their parents.
func TestPartsLookUpManyTreeEdges(t *testing.T) {
	const leaves = 8 * poolHits
	w := weighted{sample: sample{vertices: leaves + 1}, weights: slices.Repeat([]float32{1}, leaves)}
	for v := range graph.Vertex(leaves) {
		w.edges = append(w.edges, graph.MakeEdge(0, v+1))
	}
	w.parent, w.distance = make([]graph.Vertex, leaves+1), slices.Repeat([]float32{1}, leaves+1)
	w.distance[0] = 0
	all, _ := newParts(t, w.edges, w.vertices, 2, 1)
	for _, p := range all {
		must.Do(p.SetWeights(w.weights[p.first:][:len(p.pairs)]))
	}
	v := mustValidator(t, w.edges, w.vertices, 1)
	must.Do(v.SetWeights(w.weights))
	must.Do(all.agreeOnPaths(t, v, w))
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
