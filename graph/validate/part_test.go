// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// failer is testing.TB or rapid.T.
type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// compare compares the results of a call of all parts with that of a Validator.
func (all parts) compare(t failer, what string, want Tree, wantErr error, call func(rank int) (Tree, error)) {
	t.Helper()
	trees := make([]Tree, len(all))
	for rank, err := range together(len(all), func(rank int) (err error) {
		trees[rank], err = call(rank)
		return err
	}) {
		if !reflect.DeepEqual(err, wantErr) || trees[rank] != want {
			t.Fatalf("%s, part %d of %d: got %+v, error %v;\nwant %+v, error %v", what, rank, len(all), trees[rank], err,
				want, wantErr)
		}
	}
}

// agree compares the results of all parts with those of a Validator, and returns its error.
func (all parts) agree(t failer, v *Validator, s sample, parent []graph.Vertex) error {
	t.Helper()
	divided, ctx := divide(parent, len(all)), context.Background()
	count, err := v.Count(ctx, s.root, parent)
	all.compare(t, s.name+": count", count, err, func(rank int) (Tree, error) {
		return all[rank].Count(ctx, s.root, divided[rank])
	})
	tree, err := v.Validate(ctx, s.root, parent, nil)
	all.compare(t, s.name+": validate", tree, err, func(rank int) (Tree, error) {
		return all[rank].Validate(ctx, s.root, divided[rank], nil)
	})
	return err
}

// generated are graphs of all generators.
func generated(t testing.TB) (list []sample) {
	t.Helper()
	for _, name := range []string{
		"kron:8", "kron:10", "kron:12", "kron:14", "rmat:9:8:0.45,0.22,0.22", "uniform:500:3k", "uniform:3k:1k", "grid2d:21",
		"grid3d:9", "path:1", "path:2", "path:3k", "star:300",
	} {
		source := must.Get(graph.ParseSource(name, 2, 3))
		edges := make([]graph.Edge, source.Tuples())
		must.Do(source.Generate(t.Context(), edges, 0, 0))
		root := graph.Vertex(0)
		if len(edges) > 0 {
			root, _ = edges[len(edges)/3].Ends()
		}
		list = append(list, sample{name, edges, source.Vertices(), root})
	}
	return append(list, samples(t)...)
}

var partCounts = []int{1, 2, 3, 4, 7, 16, 33}

func TestPartsAgreeWithTheValidatorOfOneProcess(t *testing.T) {
	wrong, rules := 0, map[Rule]int{}
	for i, s := range generated(t) {
		if testing.Short() && (s.vertices > 2000 || i%2 == 1) {
			continue // takes a minute with the race detector
		}
		m, v := newSubject(s, i), mustValidator(t, s.edges, s.vertices, 2)
		for _, size := range []int{partCounts[i%len(partCounts)], 1 + m.rng.IntN(33)} {
			all, _ := newParts(t, s.edges, s.vertices, size, 1+i%3)
			_ = all.agree(t, v, s, m.parent)
			_ = all.agree(t, v, s, otherParents(m.csr, s.root, m.level, m.rng))
			changes := 30
			if testing.Short() || s.vertices > 300 {
				changes = 4
			}
			for range changes {
				wrong++
				err := all.agree(t, v, s, m.mutated())
				if violation := new(Violation); errors.As(err, &violation) {
					rules[violation.Rule]++
				}
			}
		}
	}
	if wrong < 800 && !testing.Short() || len(rules) < 5 {
		t.Errorf("%d changed results, by rule %v", wrong, rules)
	}
}

func TestWhichVerticesAreJoined(t *testing.T) {
	for i, s := range generated(t) {
		if s.vertices > 2000 {
			continue
		}
		v, size := mustValidator(t, s.edges, s.vertices, 1), partCounts[i%len(partCounts)]
		all, _ := newParts(t, s.edges, s.vertices, size, 2)
		csr := must.Get(graph.NewCSR(s.edges, s.vertices))
		var vertices []graph.Vertex
		var want []bool
		for u := range graph.Vertex(s.vertices) {
			other := func(w graph.Vertex) bool { return w != u }
			vertices, want = append(vertices, u), append(want, slices.ContainsFunc(csr.Neighbors(u), other))
		}
		isolated, n := slices.Index(append(want, false), false), int64(0)
		for _, joined := range want {
			if joined {
				n++
			}
		}
		check := func(joined func(context.Context, []graph.Vertex) ([]bool, error),
			count func(context.Context) (int64, error), first func(context.Context) (graph.Vertex, error)) error {
			got, gotN, low := must.Get(joined(t.Context(), vertices)), must.Get(count(t.Context())), must.Get(first(t.Context()))
			if !slices.Equal(got, want) || gotN != n || int(low) != isolated {
				t.Errorf("%s, %d parts: %d are joined, the others are right: %v, and %d is isolated; want %d and %d", s.name, size,
					gotN, slices.Equal(got, want), low, n, isolated)
			}
			return nil
		}
		must.Do(check(v.Joined, v.CountJoined, v.Isolated))
		vertices, want = append(vertices, -1, graph.Vertex(s.vertices)), append(want, false, false)
		must.Do(together(size, func(rank int) error {
			return check(all[rank].Joined, all[rank].CountJoined, all[rank].Isolated)
		})...)
	}
}

func TestPartsFindTheNumberOfVertices(t *testing.T) {
	all, _ := newParts(t, tuples(3, 4, 70, 4, 5, 6), 0, 4, 1)
	for rank, p := range all {
		parent := make([]graph.Vertex, p.Labels())
		p.Overwrite(parent, nil)
		if p.Vertices() != 71 || p.Labels() != []int{18, 18, 18, 17}[rank] || slices.Max(parent) != graph.Unwritten {
			t.Errorf("part %d: %d vertices, %d of its own, parents %d", rank, p.Vertices(), p.Labels(), parent)
		}
	}
}

// A hub has no subscription for each child.
func TestChildrenOfAHubShareSubscriptions(t *testing.T) {
	const n = 20_000
	var edges []graph.Edge
	parent := make([]graph.Vertex, n)
	for v := range graph.Vertex(n) {
		edges, parent[v] = append(edges, graph.MakeEdge(7, v)), 7
	}
	all, _ := newParts(t, edges, n, 4, 2)
	_ = all.agree(t, mustValidator(t, edges, n, 1), sample{"star", edges, n, 7}, parent)
	for rank, p := range all {
		if len(p.waits) > 4*2 {
			t.Errorf("part %d has %d subscriptions", rank, len(p.waits))
		}
	}
}

func TestPartBytesMatchesAllocations(t *testing.T) {
	edges, vertices := kroneckerTuples(t, 16, 2) // large enough for huge pages
	all, _ := newParts(t, edges, vertices, 2, 1)
	for rank, p := range all {
		held := 8*cap(p.pairs) + cap(p.keys) + 4*cap(p.ghosts) + 4*cap(p.published) + 2*cap(p.words) + 4*cap(p.levels) +
			8*cap(p.pending) + 8*cap(p.joined) + 4*cap(p.children) + 4*cap(p.siblings) + 4*cap(p.waitStart) + 4*cap(p.queue)
		if got := p.Bytes(); got > int64(held) || got < int64(held)*9/10 {
			t.Errorf("part %d holds %d bytes, but says %d", rank, held, got)
		}
	}
}

// countdown is a context that ends after some looks at it.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func TestAllPartsReturnIfOneStops(t *testing.T) {
	const size = 3
	edges, vertices := kroneckerTuples(t, 8, 2)
	root, _ := edges[0].Ends()
	parent, _ := must.Get2(must.Get(graph.NewCSR(edges, vertices)).Search(root))
	for v, p := range parent { // a cycle, so that the search for the fault is stopped too
		if p >= 0 && p != root {
			parent[p] = graph.Vertex(v)
			break
		}
	}
	divided := divide(parent, size)
	s, v := sample{"kron:8", edges, vertices, root}, mustValidator(t, edges, vertices, 1)
	all, m := newParts(t, edges, vertices, size, 2)
	stopped := func(call func(ctx context.Context, p *Part, rank int) error) {
		t.Helper()
		for looks, ended := int64(0), true; ended; looks += 3 {
			ended = false
			for rank, err := range together(size, func(rank int) error {
				ctx := t.Context()
				if rank == 1 {
					end := &countdown{Context: ctx}
					end.left.Store(looks)
					ctx = end
				}
				return call(ctx, all[rank], rank)
			}) {
				violation := new(Violation)
				if err == nil || errors.As(err, &violation) {
					if ended {
						t.Fatalf("after %d looks, part %d goes on, the others do not", looks, rank)
					}
					continue
				}
				if ended = true; err != map[bool]error{true: context.Canceled, false: ErrOtherPart}[rank == 1] {
					t.Fatalf("after %d looks, part %d: error %v", looks, rank, err)
				}
			}
		}
	}
	stopped(func(ctx context.Context, p *Part, rank int) error {
		return must.Err(p.Validate(ctx, root, divided[rank], nil))
	})
	stopped(func(ctx context.Context, p *Part, rank int) error {
		return must.Err(p.Count(ctx, root, make([]graph.Vertex, p.Labels())))
	})
	_ = all.agree(t, v, s, parent)

	divided[2] = divided[2][1:]
	for rank, err := range together(size, func(rank int) error {
		return must.Err(all[rank].Validate(t.Context(), root, divided[rank], nil))
	}) {
		if rank == 2 {
			must.Fail(t, err, "want one parent")
		} else if !errors.Is(err, ErrOtherPart) {
			t.Errorf("part %d after a wrong number of parents: %v", rank, err)
		}
	}
	for _, err := range together(size, func(rank int) error {
		return must.Err(all[rank].Validate(t.Context(), graph.Vertex(vertices), divided[rank][:0], nil))
	}) {
		must.Fail(t, err, "want")
	}
	_ = all.agree(t, v, s, parent)

	for calls := m.calls; ; calls += 5 {
		cut, working := newMeeting(size), 0
		cut.failAfter = calls - m.calls + 1
		for rank, err := range together(size, func(rank int) error {
			slice, first := sliceOf(edges, rank, size)
			p, err := NewPart(t.Context(), seat{cut, rank}, slice, first, vertices, 1)
			if err == nil {
				_, err = p.Validate(t.Context(), root, divide(parent, size)[rank], nil)
			}
			return err
		}) {
			if violation := new(Violation); errors.As(err, &violation) {
				working++
			} else if !errors.Is(err, errLine) {
				t.Fatalf("%d calls before the exchange failed, part %d: %v", cut.failAfter, rank, err)
			}
		}
		if working == size {
			break
		}
	}
}

// The numbers of a part are 32-bit numbers of labels of 48 bits.
func TestNumbersOfAPartHaveLabelsOf48Bits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &Part{vertices: rapid.Int64Range(1<<40, 1<<graph.VertexBits).Draw(t, "vertices")}
		p.size = int(p.vertices>>31) + rapid.IntRange(1, 1<<20).Draw(t, "parts")
		p.rank = rapid.IntRange(0, p.size-1).Draw(t, "rank")
		p.labels = int((p.vertices + int64(p.size-1-p.rank)) / int64(p.size))
		vertex := func() graph.Vertex {
			return graph.Vertex(p.vertices - 1 - rapid.Int64Range(0, p.vertices-1).Draw(t, "vertex"))
		}
		v, other := vertex(), vertex()
		owner, slot := p.place(v)
		number := uint32(slot)
		if owner != p.rank { // the only ghost
			number, p.ghosts, p.ghostAt = uint32(p.labels), []uint32{uint32(slot)}, make([]int, p.size+1)
			for later := owner + 1; later <= p.size; later++ {
				p.ghostAt[later] = 1
			}
		}
		if got := p.labelOf(number); got != v || !p.is(number, v) {
			t.Fatalf("number %d of vertex %d has label %d", number, v, got)
		}
		if other != v && (owner == p.rank || p.ghostAt != nil) && p.is(number, other) {
			t.Fatalf("number %d of vertex %d is that of %d, too", number, v, other)
		}
	})
}
