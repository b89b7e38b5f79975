// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// sample is a graph with a root to search from.
type sample struct {
	name     string
	edges    []graph.Edge
	vertices int64
	root     graph.Vertex
}

// samples returns graphs of many shapes. Each has more vertices than labels, so that isolated ones occur.
func samples(t testing.TB) []sample {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 1))
	pathOf := func(n graph.Vertex) (edges []graph.Edge) {
		for v := range n - 1 {
			edges = append(edges, graph.MakeEdge(v, v+1))
		}
		return edges
	}
	var star, clique, grid, tree, ring []graph.Edge
	for v := range graph.Vertex(40) {
		star = append(star, graph.MakeEdge(20, v)) // with the self-loop (20,20)
	}
	for u := range graph.Vertex(12) {
		for v := range u {
			clique = append(clique, graph.MakeEdge(u, v))
		}
	}
	for x := range graph.Vertex(17) {
		for y := range graph.Vertex(13) {
			grid = append(grid, graph.MakeEdge(13*x+y, 13*x+(y+1)%13))
			if x > 0 {
				grid = append(grid, graph.MakeEdge(13*x+y, 13*(x-1)+y))
			}
		}
	}
	for v := range graph.Vertex(300) {
		tree = append(tree, graph.MakeEdge(v+1, graph.Vertex(rng.Int64N(int64(v+1)))))
		ring = append(ring, graph.MakeEdge(v, (v+1)%300))
	}
	two := append(slices.Clone(grid), tuples(300, 301, 301, 302, 302, 300, 302, 303, 303, 303)...)
	many := tuples(256, 257, 257, 258)
	for range 10_000 {
		many = append(many, graph.MakeEdge(0, 256)) // the labels agree in the bits of a parent that a word has
	}
	list := []sample{
		{"one edge ten thousand times", many, 260, 0},
		{"path", pathOf(50), 53, 0},
		{"path from its middle", pathOf(50), 53, 25},
		{"path of as many levels as a byte holds", pathOf(maxWordLevel + 1), maxWordLevel + 3, 0},
		{"path of one level more", pathOf(maxWordLevel + 2), maxWordLevel + 4, 0},
		{"long path", pathOf(1000), 1001, 0},
		{"star from its center", star, 43, 20},
		{"star from a leaf", star, 43, 3},
		{"clique", clique, 13, 5},
		{"grid", grid, 222, 100},
		{"two components, from the large one", two, 310, 7},
		{"two components, from the small one", two, 310, 302},
		{"random tree", tree, 305, 0},
		{"ring", ring, 301, 17},
	}
	for _, edges := range []int{60, 200, 900} {
		var random []graph.Edge
		for range edges {
			random = append(random, graph.MakeEdge(graph.Vertex(rng.Int64N(200)), graph.Vertex(rng.Int64N(200))))
		}
		root, _ := random[0].Ends()
		list = append(list, sample{fmt.Sprintf("random with %d tuples", edges), random, 205, root})
	}
	for _, scale := range []int{8, 10} {
		edges, vertices := kroneckerTuples(t, scale, uint64(scale))
		for i := range 2 {
			root, _ := edges[i*100].Ends()
			list = append(list, sample{fmt.Sprintf("Kronecker scale %d from %d", scale, root), edges, vertices, root})
		}
	}
	return list
}

func kroneckerTuples(t testing.TB, scale int, seed uint64) ([]graph.Edge, int64) {
	t.Helper()
	k := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: seed, Seed2: seed + 1}
	edges := make([]graph.Edge, k.Tuples())
	must.Do(k.Generate(context.Background(), edges, 0, 0))
	return edges, k.Vertices()
}

func tuples(labels ...graph.Vertex) (edges []graph.Edge) {
	for i := 0; i < len(labels); i += 2 {
		edges = append(edges, graph.MakeEdge(labels[i], labels[i+1]))
	}
	return edges
}

// mustValidator makes a validator whose threads share even the work of a small graph.
func mustValidator(t testing.TB, edges []graph.Edge, vertices int64, threads int) *Validator {
	t.Helper()
	v := must.Get(New(edges, vertices, threads))
	v.vertexGrain, v.tupleGrain = max(64, vertices/640*64), int64(len(edges)/10+1)
	return v
}

func TestEveryChoiceOfParentsIsAcceptedWithTheSameTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			csr := must.Get(graph.NewCSR(s.edges, s.vertices))
			parent, level := must.Get2(csr.Search(s.root))
			want := judge(s, parent).tree
			for _, threads := range []int{1, 2, 5} {
				v := mustValidator(t, s.edges, s.vertices, threads)
				for range 4 {
					got, err := v.Validate(context.Background(), s.root, parent, nil)
					if diff := cmp.Diff(want, got); err != nil || diff != "" {
						t.Fatalf("%d threads: error %v (-want +got):\n%s", threads, err, diff)
					}
					for u, l := range v.levels {
						if int64(l) != level[u] {
							t.Fatalf("%d threads: vertex %d is on level %d, got %d", threads, u, level[u], l)
						}
					}
					counted, err := v.Count(context.Background(), s.root, parent)
					wantCount := Tree{Reached: want.Reached, Tuples: want.Tuples, SelfLoops: want.SelfLoops}
					if diff := cmp.Diff(wantCount, counted); err != nil || diff != "" {
						t.Fatalf("%d threads: count, error %v (-want +got):\n%s", threads, err, diff)
					}
					parent = otherParents(csr, s.root, level, rng)
				}
			}
		})
	}
}

// otherParents gives each reached vertex a random one of its correct parents.
func otherParents(csr *graph.CSR, root graph.Vertex, level []int64, rng *rand.Rand) []graph.Vertex {
	parent := make([]graph.Vertex, len(level))
	for v := range parent {
		parent[v] = graph.Unreached
		var choice []graph.Vertex
		for _, u := range csr.Neighbors(graph.Vertex(v)) {
			if level[v] > 0 && level[u] == level[v]-1 {
				choice = append(choice, u)
			}
		}
		if len(choice) > 0 {
			parent[v] = choice[rng.IntN(len(choice))]
		}
	}
	parent[root] = root
	return parent
}

func TestLongPathTakesLinearTime(t *testing.T) {
	const n = 1 << 19
	if testing.Short() {
		t.Skip("takes a minute with the race detector")
	}
	labels := rand.New(rand.NewPCG(1, 9)).Perm(n)
	orders := map[string]func(int) graph.Vertex{
		"descending": func(i int) graph.Vertex { return graph.Vertex(n - 1 - i) },
		"shuffled":   func(i int) graph.Vertex { return graph.Vertex(labels[i]) },
	}
	for name, at := range orders {
		t.Run(name, func(t *testing.T) {
			edges, parent := make([]graph.Edge, n-1), make([]graph.Vertex, n)
			parent[at(0)] = at(0)
			for i := range edges {
				edges[i] = graph.MakeEdge(at(i), at(i+1))
				parent[at(i+1)] = at(i)
			}
			v := mustValidator(t, edges, n, 3)
			got, err := v.Validate(context.Background(), at(0), parent, nil)
			want := Tree{Root: at(0), Reached: n, Depth: n - 1, Tuples: n - 1}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("error %v (-want +got):\n%s", err, diff)
			}
			if l := v.levels[at(n/3)]; l != n/3 {
				t.Errorf("vertex %d is on level %d, got %d", at(n/3), n/3, l)
			}
			parent[at(1)] = at(n - 1)
			_, err = v.Validate(context.Background(), at(0), parent, nil)
			wantRule(t, err, RuleTree, "lead to a cycle")
		})
	}
}

// wantRule fails unless err is a Violation of rule whose text contains text.
func wantRule(t testing.TB, err error, rule Rule, text string) *Violation {
	t.Helper()
	var violation *Violation
	if !errors.As(err, &violation) {
		t.Fatalf("want a violation of %v, got error %v", rule, err)
	}
	if violation.Rule != rule || !strings.Contains(violation.Text, text) {
		t.Fatalf("want %v with %q, got %v", rule, text, err)
	}
	return violation
}

func TestNewValidatorRejectsLabelsBeyondTheVertices(t *testing.T) {
	edges := make([]graph.Edge, 1_000_000)
	edges[900_000], edges[500_000] = graph.MakeEdge(0, 9), graph.MakeEdge(1<<40, 3)
	for _, threads := range []int{1, 4} {
		_, err := New(edges, 9, threads)
		must.Fail(t, err, "9 vertices: tuple 500000 is (1099511627776,3)")
		must.Fail(t, must.Err(New(edges[900_000:], 9, threads)), "tuple 0 is (0,9)")
	}
}

func TestMisuseIsNotAViolation(t *testing.T) {
	for _, c := range []struct {
		vertices int64
		threads  int
	}{{0, 1}, {-5, 1}, {1<<graph.VertexBits + 1, 1}} {
		if v, err := New(nil, c.vertices, c.threads); err == nil {
			t.Errorf("a validator for %d vertices with %d threads is made: %v", c.vertices, c.threads, v)
		}
	}
	v := mustValidator(t, tuples(0, 1), 3, 1)
	for name, call := range map[string]func() (Tree, error){
		"negative root":    func() (Tree, error) { return v.Validate(t.Context(), -1, make([]graph.Vertex, 3), nil) },
		"root too large":   func() (Tree, error) { return v.Validate(t.Context(), 3, make([]graph.Vertex, 3), nil) },
		"short parents":    func() (Tree, error) { return v.Validate(t.Context(), 0, make([]graph.Vertex, 2), nil) },
		"long parents":     func() (Tree, error) { return v.Validate(t.Context(), 0, make([]graph.Vertex, 4), nil) },
		"no parents":       func() (Tree, error) { return v.Validate(context.Background(), 0, nil, nil) },
		"counting too few": func() (Tree, error) { return v.Count(context.Background(), 0, make([]graph.Vertex, 2)) },
	} {
		_, err := call()
		if violation := new(Violation); err == nil || errors.As(err, &violation) || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestChangedTuplesAreDetected(t *testing.T) {
	for _, deep := range []bool{false, true} {
		edges, parent := tuples(0, 1, 1, 2, 2, 0), []graph.Vertex{0, 0, 0}
		v := mustValidator(t, edges, 3, 1)
		if deep {
			v.parent32 = nil // as in graphs of more than 2^32 vertices
		}
		edges[1] = graph.MakeEdge(1, 7)
		const want = "tuple 1 or a later one changed"
		must.Fail(t, must.Err(v.Validate(context.Background(), 0, parent, nil)), want)
		must.Fail(t, must.Err(v.Count(context.Background(), 0, parent)), want)
	}
}

func TestCanceledValidationReturnsContextError(t *testing.T) {
	edges, vertices := kroneckerTuples(t, 10, 2)
	parent, _ := must.Get2(must.Get(graph.NewCSR(edges, vertices)).Search(458))
	v := mustValidator(t, edges, vertices, 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Is(t, must.Err(v.Validate(ctx, 458, parent, nil)), context.Canceled)
	must.Is(t, must.Err(v.Count(ctx, 458, parent)), context.Canceled)
	if tree, err := v.Validate(context.Background(), 458, parent, nil); err != nil || tree.NEdge() != 16_239 {
		t.Errorf("afterwards: got %+v, error %v", tree, err)
	}
}

func TestValidatorBytesMatchesAllocations(t *testing.T) {
	const n = 100_000
	v := mustValidator(t, nil, n, 1)
	held := 4*cap(v.levels) + 8*cap(v.joined) + 8*cap(v.inner) + 8*cap(v.pending) + 2*cap(v.words) + 4*cap(v.parent32)
	if got := Bytes(n); got < int64(held) || got > int64(held)+1000 {
		t.Errorf("holds %d bytes, but says %d", held, got)
	}
}

// failing is a source whose tuples cannot be made.
type failing struct{ listSource }

var errMade = errors.New("no tuples")

func (failing) Generate(context.Context, []graph.Edge, int64, int) error { return errMade }

func TestSourcesThatDoNotFit(t *testing.T) {
	room, one := make([]graph.Edge, 2), tuples(0, 1)
	if _, err := NewFromSource(t.Context(), failing{listSource{edges: one, vertices: 2}}, room, 1); err != errMade {
		t.Errorf("a source that fails: %v", err)
	}
	if _, err := NewFromSource(t.Context(), listSource{}, room, 1); err == nil {
		t.Error("a source without vertices is accepted")
	}
	v := must.Get(NewFromSource(t.Context(), listSource{edges: one, vertices: 2}, room, 1))
	v.source = failing{listSource{edges: one, vertices: 2}}
	parent := []graph.Vertex{0, 0}
	if _, err := v.Validate(t.Context(), 0, parent, nil); err != errMade {
		t.Errorf("a source that fails later: %v", err)
	}
	v.Overwrite(parent, nil)
	if parent[0] != graph.Unwritten || parent[1] != graph.Unwritten {
		t.Errorf("overwritten parents are %d", parent)
	}
}
