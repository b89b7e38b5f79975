// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// generated returns the tuples of a generator.
func generated(t testing.TB, spec string) []graph.Edge {
	t.Helper()
	_, tuples := enginetest.Generated(t, spec)
	return tuples
}

// The graph is the one that the tuples describe, whatever the options and the number of workers.
func TestBuildKeepsTheGraph(t *testing.T) {
	small := []graph.Edge{
		graph.MakeEdge(7, 2), graph.MakeEdge(2, 7), graph.MakeEdge(2, 2), graph.MakeEdge(3, 2), graph.MakeEdge(9, 9),
	}
	var stars []graph.Edge // two hubs with the same neighbors, each with enough of them for a separate bucket
	for v := range graph.Vertex(1 << 16) {
		stars = append(stars, graph.MakeEdge(0, v+2), graph.MakeEdge(v+2, 1), graph.MakeEdge(1, v+2))
	}
	var circle []graph.Edge // in local order
	for v := range graph.Vertex(1000) {
		circle = append(circle, graph.MakeEdge(v*7%1000, (v+1)*7%1000))
	}
	var path []graph.Edge // long enough for keys of more than 32 bits
	for v := range graph.Vertex(150_000) {
		path = append(path, graph.MakeEdge(v, v+1))
	}
	var jumps []graph.Edge // in the given order, with an isolated label, a duplicate and a self-loop
	for v := range graph.Vertex(1000) {
		jumps = append(jumps, graph.MakeEdge(v, v*v%1000), graph.MakeEdge(v, v*617%1000), graph.MakeEdge(v*617%1000, v),
			graph.MakeEdge(1001, 1001))
	}
	graphs := map[string][]graph.Edge{
		"none": nil, "small": small, "s8": generated(t, "kron:8"), "circle": circle, "jumps": jumps,
		"stars": stars, "path": path, "s12": generated(t, "kron:12"),
	}
	for name, tuples := range graphs {
		var want []uint64
		for _, e := range tuples {
			if u, v, _ := e.Ends32(); u != v {
				want = append(want, uint64(u)<<32|uint64(v), uint64(v)<<32|uint64(u))
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		for k, options := range []Options{{}, {Packed: true}, {Hubs: 3}, {Packed: true, Hubs: 100}} {
			workers := 1 + 2*(k&1)
			t.Run(fmt.Sprintf("%s %+v on %d", name, options, workers), func(t *testing.T) {
				g := built(t, tuples, workers, options)
				checkOrder(t, g)
				if got := entries(g); !slices.Equal(got, want) {
					t.Errorf("%d entries, want %d; in labels:\n%x, want\n%x", len(got), len(want), got[:min(len(got), 20)],
						want[:min(len(want), 20)])
				}
			})
		}
	}
}

// built runs kernel 1 on a team of the given size.
func built(t *testing.T, tuples []graph.Edge, size int, options Options) *Graph {
	t.Helper()
	workers, m := team.New(size), memory.New()
	t.Cleanup(func() {
		workers.Stop()
		m.ReleaseAll()
	})
	g, _ := must.Get2(Build(t.Context(), tuples, workers, m, options))
	return g
}

// Grids, roads and meshes get the local order, whatever their labels. Other graphs without hubs keep their order unless
// many labels are isolated.
func TestOrderFollowsFromDegreesAndLevels(t *testing.T) {
	var scattered []graph.Edge // a grid with other labels, every third label isolated, and self-loops
	for _, e := range generated(t, "grid2d:256") {
		u, v := e.Ends()
		u, v = u*1003%65536*3, v*1003%65536*3
		scattered = append(scattered, graph.MakeEdge(u, v), graph.MakeEdge(v, u), graph.MakeEdge(u+1, u+1))
	}
	var gaps []graph.Edge
	for _, e := range generated(t, "uniform:4096:16384") {
		u, v := e.Ends()
		gaps = append(gaps, graph.MakeEdge(2*u, 2*v))
	}
	for _, c := range []struct {
		name        string
		tuples      []graph.Edge
		order       Order
		maxDistance int // between the numbers of three quarters of all neighbors; 0: not checked
	}{
		{"grid", generated(t, "grid2d:256"), Local, 64}, // up to 512 without clusters
		{"scattered grid", scattered, Local, 64},
		{"cube", generated(t, "grid3d:20"), Local, 3 * 20 * 20},
		{"path", generated(t, "path:5000"), Local, 1},
		{"two paths", append(generated(t, "path:5000"), graph.MakeEdge(6000, 6001)), Local, 1},
		{"tree of 2 levels", generated(t, "star:5000"), ByDegree, 0},
		{"Kronecker", generated(t, "kron:12"), ByDegree, 0},
		{"uniform", generated(t, "uniform:4096:16384"), Given, 0},
		{"dense", generated(t, "uniform:1024:65536"), Given, 0},
		{"uniform with gaps", gaps, ByDegree, 0},
		{"R-MAT", generated(t, "rmat:12:32:0.57,0.19,0.19"), ByDegree, 0},
		{"path of 100", generated(t, "path:100"), ByDegree, 0},
	} {
		for _, workers := range []int{1, 3} {
			g := built(t, c.tuples, workers, Options{})
			checkOrder(t, g)
			var distances []int
			for v := range g.Searched {
				for i := range g.Lists.Degree(uint32(v)) {
					distances = append(distances, max(v-int(g.Lists.entry(uint32(v), i)), int(g.Lists.entry(uint32(v), i))-v))
				}
			}
			slices.Sort(distances)
			distance := distances[len(distances)*3/4]
			if g.Order != c.order || c.maxDistance > 0 && distance > c.maxDistance {
				t.Errorf("%s: order %v, want %v; three quarters of neighbors up to %d apart, want %d", c.name, g.Order,
					c.order, distance, c.maxDistance)
			}
		}
	}
}

// entries returns the sorted entries u<<32 | v of g in labels; those of leaves follow from their hubs.
func entries(g *Graph) (all []uint64) {
	label := func(v uint32) uint64 {
		if g.Order != Given {
			v = g.Label[v]
		}
		return uint64(v)
	}
	for v := range uint32(g.Searched) {
		for i := range g.Lists.Degree(v) {
			all = append(all, label(v)<<32|label(g.Lists.entry(v, i)))
		}
		for _, leaf := range g.LeavesOf(v) {
			all = append(all, label(v)<<32|uint64(leaf))
		}
	}
	for v := g.Searched; v < len(g.Label); v++ {
		all = append(all, label(uint32(v))<<32|label(g.HubOf(uint32(v))))
	}
	slices.Sort(all)
	return all
}

// checkOrder checks what Graph promises of the order of vertices and lists.
func checkOrder(t *testing.T, g *Graph) {
	t.Helper()
	for v, label := range g.Label {
		if got := g.VertexOf(label); got != uint32(v) {
			t.Errorf("the vertex of label %d is %d, want %d", label, got, v)
		}
	}
	for v := range uint32(g.Searched) {
		n := g.Lists.Degree(v)
		if g.Rows != nil {
			first, length := RowBegin(g.Rows[v<<g.RowBits])
			if length != n && length != 0 || n > 0 && first != g.Lists.entry(v, 0) {
				t.Errorf("the row of vertex %d begins with %d of %d neighbors", v, first, length)
			}
		}
		for i := 1; i < n; i++ {
			if g.Lists.entry(v, i-1) >= g.Lists.entry(v, i) {
				t.Fatalf("the list of vertex %d is not in ascending order", v)
			}
		}
		first := v
		if n > 0 {
			first = g.Lists.entry(v, 0)
			if g.Order == Given {
				// its parents are written without a template
			} else if got := g.Template[g.Label[v]]; got != g.Label[first] {
				t.Errorf("the template of vertex %d is %d, want its first neighbor %d", v, got, g.Label[first])
			}
		}
		switch {
		case int(v) < g.Hubs:
			if got := g.First[v]; got != first {
				t.Errorf("first neighbor of hub %d is %d, want %d", v, got, first)
			}
			if links := g.Links(v); links < n && g.Lists.entry(v, links) != g.Groups[v] {
				t.Errorf("the list of hub %d does not end with its group", v)
			}
		case int(v) < g.Ungrouped:
			if first >= uint32(g.Hubs) || v < g.Groups[first] || v >= g.Groups[first+1] {
				t.Errorf("vertex %d with first neighbor %d is in another group", v, first)
			}
		default:
			if got := g.First[int(v)-g.Ungrouped+g.Hubs]; got != first || n > 0 && first < uint32(g.Hubs) {
				t.Errorf("ungrouped vertex %d has first neighbor %d, recorded as %d", v, first, got)
			}
		}
	}
}

// Kernel 1 stops when its context ends, wherever it is, and leaves no memory behind that the arena does not know.
func TestBuildCanBeCanceledAnywhere(t *testing.T) {
	tuples := generated(t, "kron:12")
	for _, c := range []struct {
		workers int
		options Options
	}{{3, Options{}}, {2, Options{Packed: true}}, {1, Options{}}} {
		workers := team.New(c.workers)
		build := func(ctx context.Context) error {
			m := memory.New()
			defer m.ReleaseAll()
			_, _, err := Build(ctx, tuples, workers, m, c.options)
			return err
		}
		start := time.Now()
		must.Do(build(context.Background()))
		usual := time.Since(start)
		canceled := 0
		const n = 20
		for i := range n {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(usual*time.Duration(i)/time.Duration(n), cancel)
			if err := build(ctx); errors.Is(err, context.Canceled) {
				canceled++
			} else if err != nil {
				t.Fatalf("%+v, canceled after %d/%d of the usual time: %v", c, i, n, err)
			}
			cancel()
		}
		t.Logf("%+v: %d of %d were canceled in time", c, canceled, n)
		must.Do(build(context.Background()))
		workers.Stop()
	}
}

func TestBatchesEndWithTheContext(t *testing.T) {
	b := &builder{tuples: generated(t, "kron:8"), team: team.New(1)}
	seen := 0
	for tuples := range b.batches(0) {
		if seen += len(tuples); seen == 3*batchSize {
			b.stopped.Store(true)
		}
	}
	if seen != 3*batchSize {
		t.Errorf("%d tuples of %d were handed out, want the three batches before the end", seen, len(b.tuples))
	}
}

func TestBuildRejectsLabelsOfMoreThan32Bits(t *testing.T) {
	workers := team.New(2)
	defer workers.Stop()
	for _, label := range []graph.Vertex{1 << 32, 1<<32 - 1} {
		_, _, err := Build(t.Context(), []graph.Edge{graph.MakeEdge(1, label)}, workers, memory.New(), Options{})
		if !errors.Is(err, plugins.ErrTuples) {
			t.Errorf("label %d: error is %v, want %v", label, err, plugins.ErrTuples)
		}
	}
}

// packAll packs numbers up to largest with one packer for each part of the list between two cuts.
func packAll(numbers []uint32, largest uint32, cuts ...int) Fields {
	f := fieldsFor(largest)
	f.Length = len(numbers)
	f.Words = make([]uint64, f.wordsFor(len(numbers)))
	var packers sync.WaitGroup
	from := 0
	for _, to := range append(cuts, len(numbers)) {
		part, first := numbers[from:to], uint64(from)
		packers.Go(func() {
			p := f.pack(first)
			for _, x := range part {
				p.put(x)
			}
			p.close()
		})
		from = to
	}
	packers.Wait()
	return f
}

func checkFields(t interface{ Fatalf(string, ...any) }, f Fields, numbers []uint32) {
	for i, want := range numbers {
		if got := f.Get(uint64(i)); got != want {
			t.Fatalf("width %d: field %d is %d, want %d", f.Width, i, got, want)
		}
	}
}

func TestPackedFieldsRoundTripForAllWidthsAndWriters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.Uint32().Draw(t, "largest")
		numbers := rapid.SliceOf(rapid.Uint32Range(0, largest)).Draw(t, "numbers")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(numbers)), 0, 5).Draw(t, "cuts")
		slices.Sort(cuts)
		checkFields(t, packAll(numbers, largest, cuts...), numbers)
	})
}

func TestOffsetsHoldMoreThan32Bits(t *testing.T) {
	o := Offsets{low: []uint32{0, 7, 1<<32 - 1, 3, 3, 9, 1<<32 - 2, 1}}
	o.findWraps()
	want := []uint64{0, 7, 1<<32 - 1, 1<<32 + 3, 1<<32 + 3, 1<<32 + 9, 1<<33 - 2, 1<<33 + 1}
	for v := range want {
		if got := o.Get(uint32(v)); got != want[v] {
			t.Errorf("list %d begins at %d, want %d", v, got, want[v])
		}
	}
}
