// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// TestPaths compares verdicts on kernel 3 with those of package graph, on right results and on results with random
// mutations of parents and distances, and again in kernel 2. Weights are random, or few, so that sums are equal, and
// some are lost in rounding.
func TestPaths(t *testing.T) {
	a := open(t)
	few := []float32{0, 0.25, 0.5, 1, 0x1p-27, 1e-42, 0.1, 0.7, float32(math.Copysign(0, -1))}
	largest := fmt.Sprintf("kron:%d", *flagScale)
	for _, name := range []string{"path:50", "path:2000", "star:40", "grid2d:30", "uniform:500:600", "kron:8", largest} {
		for _, random := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, random %v", name, random), func(t *testing.T) {
				source, tuples := enginetest.Generated(t, name)
				weights, rng := make([]float32, len(tuples)), rand.New(rand.NewPCG(3, uint64(len(tuples))))
				if random {
					must.Do(graph.Weights(t.Context(), source, 2, 3, weights, 0, 0))
				} else {
					for i := range weights {
						weights[i] = few[rng.IntN(len(few))]
					}
				}
				testPaths(t, a, tuples, weights, source.Vertices(), rng)
			})
		}
	}
}

func testPaths(t *testing.T, a *Accelerator, tuples []graph.Edge, weights []float32, vertices int64, rng *rand.Rand) {
	validator, err := validate.New(tuples, vertices, 0)
	if err == nil {
		err = validator.SetWeights(weights)
	}
	csr, failed := graph.NewWeightedCSR(tuples, weights, vertices)
	must.Do(errors.Join(err, failed, a.Load(t.Context(), plugins.Input{Tuples: tuples, Weights: weights}, vertices)))
	plain := must.Get(graph.NewCSR(tuples, vertices))
	var good result
	parent, distance, rules := make([]graph.Vertex, vertices), make([]float32, vertices), map[validate.Rule]int{}
	for i := range 1 + *flagMutations {
		if i%1000 == 0 {
			good.root, _ = tuples[rng.IntN(len(tuples))].Ends()
			if good.parent, good.distance, err = csr.ShortestPaths(good.root); err != nil {
				t.Fatal(err)
			}
			good.level = depths(good.root, good.parent)
		}
		copy(parent, good.parent)
		copy(distance, good.distance)
		for range min(i, 1+rng.IntN(2)) {
			if rng.IntN(3) == 0 {
				mutate(rng, plain, parent, good.level, good.root)
			} else {
				good.mutate(rng, plain, parent, distance)
			}
		}
		want := judged(validator.Validate(t.Context(), good.root, parent, distance))
		want.compare(t, judged(a.Validate(t.Context(), good.root, plugins.Output{Parent: parent, Distance: distance})))
		rules[want.rule]++
	}
	t.Log(rules)
	if *flagMutations >= 1000 && len(rules) < 4 {
		t.Errorf("the mutations break only the rules %v", rules)
	}
	inKernel2 := judged(validator.Validate(t.Context(), good.root, good.parent, nil))
	inKernel2.compare(t, judged(a.Validate(t.Context(), good.root, plugins.Output{Parent: good.parent})))
}

// TestListThatDoesNotFit validates where other processes leave room for half of the list.
func TestListThatDoesNotFit(t *testing.T) {
	defer func(before int) { *flagMutations = before }(*flagMutations)
	*flagMutations = min(*flagMutations, 100) // the CPU takes 10 ms for each
	source, tuples := enginetest.Generated(t, "kron:18")
	n, vertices := int64(len(tuples)), source.Vertices()
	for _, test := range []struct {
		name  string
		other int64 // bytes for what is not pairs
		run   func(t *testing.T, a *Accelerator)
	}{
		{"kernel 2", 15 * vertices, func(t *testing.T, a *Accelerator) { testValidate(t, a, "kron:18", false) }},
		{"kernel 3", 19*vertices + weightBytes*n, func(t *testing.T, a *Accelerator) {
			weights := make([]float32, n)
			must.Do(graph.Weights(t.Context(), source, 2, 3, weights, 0, 0))
			testPaths(t, a, tuples, weights, vertices, rand.New(rand.NewPCG(4, 5)))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := open(t)
			leaveRoom(t, a, test.other+pairBytes*n/2)
			if test.run(t, a); a.stored < n/4 || a.stored > n/4*3 {
				t.Errorf("%d of %d tuples are on the device", a.stored, n)
			}
		})
	}
}

// leaveRoom takes the memory of the device but for some bytes, as another process on it would.
func leaveRoom(t *testing.T, a *Accelerator, bytes int64) {
	t.Helper()
	if err := a.do(func() error {
		_, err := a.memory.OnDevice("memory of others", a.memory.Room()-bytes)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// result is a right result of kernel 3. level is the number of tuples on the path to a vertex; -1: unreached.
type result struct {
	root     graph.Vertex
	parent   []graph.Vertex
	distance []float32
	level    []int64
}

func depths(root graph.Vertex, parent []graph.Vertex) []int64 {
	level := make([]int64, len(parent))
	var chain []graph.Vertex
	for v := range parent {
		for u := graph.Vertex(v); level[u] == 0 && u != root; u = parent[u] {
			if chain = append(chain, u); parent[u] == graph.Unreached {
				break
			}
		}
		for ; len(chain) > 0; chain = chain[:len(chain)-1] {
			u := chain[len(chain)-1]
			if level[u] = -1; parent[u] != graph.Unreached {
				level[u] = level[parent[u]] + 1
			}
		}
	}
	return level
}

// mutate breaks a result in a random way; some changes leave a right one.
func (r *result) mutate(rng *rand.Rand, csr *graph.CSR, parent []graph.Vertex, distance []float32) {
	n := len(parent)
	v := graph.Vertex(rng.IntN(n))
	reached := rng.IntN(4) > 0
	for i := 0; i < n && (r.level[v] > 0) != reached; i++ {
		v = (v + 1) % graph.Vertex(n)
	}
	near := func(of float32) []float32 {
		return []float32{math.Nextafter32(of, -1), math.Nextafter32(of, 100), of / 2, of * 2, of + 1}
	}
	below := func(top graph.Vertex, do func(u graph.Vertex)) { // top and its descendants, on the way to the root
		for u := range graph.Vertex(n) {
			for at := u; r.level[at] >= r.level[top] && r.level[top] > 0; at = r.parent[at] {
				if at == top {
					do(u)
					break
				}
			}
		}
	}
	switch rng.IntN(10) {
	case 0:
		distance[v] = near(distance[v])[rng.IntN(5)]
	case 1:
		distance[v] = []float32{0, float32(math.Copysign(0, -1)), -1, graph.Infinity(), -graph.Infinity(),
			graph.UnwrittenDistance(), math.Float32frombits(0xffc00001), math.MaxFloat32, 1e-45}[rng.IntN(9)]
	case 2:
		distance[r.root] = near(0)[rng.IntN(5)]
	case 3: // a neighbor, of the right weight or not
		if list := csr.Neighbors(v); len(list) > 0 {
			parent[v] = list[rng.IntN(len(list))]
		}
	case 4: // a vertex at the same distance, as in a cycle of tuples of weight 0
		for _, u := range csr.Neighbors(v) {
			if distance[u] == distance[v] && u != v {
				parent[u], parent[v] = v, u
			}
		}
	case 5:
		parent[v], distance[v] = graph.Unreached, graph.Infinity()
	case 6:
		below(v, func(u graph.Vertex) { parent[u], distance[u] = graph.Unreached, graph.Infinity() })
	case 7:
		below(v, func(u graph.Vertex) { distance[u] += 0.125 })
	case 8: // an isolated vertex, or one of another component, claimed
		if r.level[v] < 0 {
			parent[v], distance[v] = r.root, []float32{0, 0.5, graph.Infinity()}[rng.IntN(3)]
		}
	case 9: // to another vertex, with the same distance
		parent[v] = graph.Vertex(rng.IntN(n))
	}
}

// TestWrongPaths has cases that random mutations seldom make. The reference accepts the cycles: each tree edge is
// exactly long enough.
func TestWrongPaths(t *testing.T) {
	a := open(t)
	edge, line := graph.MakeEdge, []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2)}
	for name, c := range map[string]struct {
		tuples   []graph.Edge
		weights  []float32
		parent   []graph.Vertex
		distance []float32
	}{
		"cycle of weight 0": {line, []float32{0.5, 0}, []graph.Vertex{0, 2, 1}, []float32{0, 0.5, 0.5}},
		"cycle of a weight lost in rounding": {line, []float32{0.5, 0x1p-27}, []graph.Vertex{0, 2, 1},
			[]float32{0, 0.5, 0.5}},
		"parent at the far end of a shortest path": {[]graph.Edge{edge(0, 1), edge(0, 2), edge(1, 2)}, []float32{1, 0.5, 0.5},
			[]graph.Vertex{0, 0, 1}, []float32{0, 1, 0.5}},
		"the same, the other way round": {[]graph.Edge{edge(0, 1), edge(0, 2), edge(2, 1)}, []float32{1, 0.5, 0.5},
			[]graph.Vertex{0, 0, 1}, []float32{0, 1, 0.5}},
	} {
		must.Do(a.Load(t.Context(), plugins.Input{Tuples: c.tuples, Weights: c.weights}, 3))
		got := judged(a.Validate(t.Context(), 0, plugins.Output{Parent: c.parent, Distance: c.distance}))
		if !got.wrong {
			t.Errorf("%s: %+v, %v", name, got.tree, got.err)
		}
	}
}

func TestPathsNeedWeights(t *testing.T) {
	a := open(t)
	tuples, parent, distance := []graph.Edge{graph.MakeEdge(0, 1)}, []graph.Vertex{0, 0}, []float32{0, 1}
	wrong := plugins.Input{Tuples: tuples, Weights: []float32{1, 1}}
	if err := a.Load(t.Context(), wrong, 2); !errors.Is(err, plugins.ErrTuples) {
		t.Errorf("two weights of one tuple: %v", err)
	}
	must.Do(a.Load(t.Context(), plugins.Input{Tuples: tuples}, 2))
	out := plugins.Output{Parent: parent, Distance: distance}
	if _, err := a.Validate(t.Context(), 0, out); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("without weights: %v", err)
	}
	must.Do(a.Load(t.Context(), plugins.Input{Tuples: tuples, Weights: []float32{1}}, 2))
	short := plugins.Output{Parent: parent, Distance: distance[:1]}
	if _, err := a.Validate(t.Context(), 0, short); err == nil || errors.As(err, new(*validate.Violation)) {
		t.Errorf("one distance: %v", err)
	}
	want := validate.Tree{Reached: 2, Depth: 1, Tuples: 1, Farthest: 1}
	if tree, err := a.Validate(t.Context(), 0, out); err != nil || tree != want {
		t.Errorf("%+v, %v, want %+v", tree, err, want)
	}
}
