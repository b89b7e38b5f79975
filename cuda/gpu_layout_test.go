//go:build cuda

package cuda

import (
	"context"
	"slices"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// built is what kernel 1 left on the device, copied to the host.
type built struct {
	deviceGraph
	details                                        []plugins.Fact
	offset, alignedAt                              []uint64
	target, rows, first, wordHub, groupAt, leafAt  []uint32
	original, vertex, output, linked, alignedWords []uint32
}

// kronecker returns the official graph of a scale.
func kronecker(t *testing.T, scale int) (vertices int64, tuples []graph.Edge) {
	t.Helper()
	recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples = make([]graph.Edge, recipe.Tuples())
	if err := recipe.Generate(context.Background(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	return recipe.Vertices(), tuples
}

func construct(t *testing.T, tuples []graph.Edge, options map[string]string) (*engine, built) {
	t.Helper()
	e := New().(*engine)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := e.Construct(context.Background(), plugins.Graph{Tuples: tuples, Options: options})
	if err != nil {
		t.Fatal(err)
	}
	g := built{deviceGraph: e.search.graph, details: c.Details}
	release, err := e.device.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	wide := func(at, n uint64) []uint64 {
		all := make([]uint64, n)
		if err := read(all, at); err != nil {
			t.Fatal(err)
		}
		return all
	}
	narrow := func(at, n uint64) []uint32 {
		all := make([]uint32, n)
		if err := read(all, at); err != nil {
			t.Fatal(err)
		}
		return all
	}
	g.offset = wide(g.Offset, g.Searched+1)
	g.target = narrow(g.Target, g.Entries)
	g.first, g.wordHub = narrow(g.First, g.Searched), narrow(g.WordHub, g.Words)
	g.groupAt, g.leafAt, g.linked = narrow(g.GroupAt, g.Hubs+1), narrow(g.LeafAt, g.Hubs+1), narrow(g.Linked, g.Hubs)
	g.original, g.vertex, g.output = narrow(g.Original, g.Vertices), narrow(g.Vertex, g.Labels), narrow(g.Output, g.Labels)
	g.alignedAt, g.rows = wide(g.AlignedAt, g.AlignedWords), narrow(g.AlignedRows, g.AlignedWords)
	if g.AlignedWords > 0 {
		last := g.AlignedWords - 1
		g.alignedWords = narrow(g.Aligned, 4*(g.alignedAt[last]+32*uint64(g.rows[last]&^(1<<31))))
	}
	return e, g
}

// A limit on memory sends lists, and then tuples too, into the host; the graph and its searches are the same.
func TestALimitOnMemorySendsListsAndTuplesIntoTheHost(t *testing.T) {
	needGPU(t)
	vertices, tuples := kronecker(t, 20)
	v, err := graph.NewValidator(tuples, vertices, 0)
	if err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, vertices)
	_, want := construct(t, tuples, nil)
	for _, limited := range []struct {
		memory        string
		lists, tuples bool // in the host
	}{{"2GiB", false, false}, {"450MiB", true, false}, {"350MiB", true, true}} {
		t.Run(limited.memory, func(t *testing.T) {
			e, g := construct(t, tuples, map[string]string{optionMemory: limited.memory})
			in := func(name string) bool {
				return slices.ContainsFunc(g.details, func(f plugins.Fact) bool { return f.Name == name })
			}
			if in("neighbour lists") != limited.lists || in("tuples") != limited.tuples {
				t.Errorf("lists and tuples in the host: want %v and %v, got the details %v", limited.lists, limited.tuples, g.details)
			}
			if !slices.Equal(g.offset, want.offset) || !slices.Equal(g.target, want.target) || !slices.Equal(g.original, want.original) ||
				!slices.Equal(g.output, want.output) {
				t.Error("the graph differs from the one without a limit")
			}
			if limit, _ := parseBytes(limited.memory); e.memory.used > limit {
				t.Errorf("%d bytes on the device", e.memory.used)
			}
			root, _ := tuples[0].Ends()
			if _, err := e.Search(context.Background(), root, parent); err != nil {
				t.Fatal(err)
			}
			if _, err := v.Validate(context.Background(), root, parent); err != nil {
				t.Error(err)
			}
		})
	}
}

// What kernel 1 leaves on the device is what graph.cuh says of it, for every vertex, list, block and template entry.
func TestKernel1MakesTheGraphThatTheKernelsExpect(t *testing.T) {
	needGPU(t)
	_, tuples := kronecker(t, 12)
	for name, options := range map[string]map[string]string{
		"defaults": nil, "few hubs": {optionHubs: "5"}, "lists in the host": {optionLists: "host"}, "some aligned": {optionAligned: "40"},
	} {
		t.Run(name, func(t *testing.T) {
			_, g := construct(t, tuples, options)
			checkGraph(t, tuples, g)
		})
	}
}

func checkGraph(t *testing.T, tuples []graph.Edge, g built) {
	degree := map[uint32]int{}
	near := map[uint32]map[uint32]bool{}
	for _, tuple := range tuples {
		u, v, _ := tuple.Narrow()
		if u == v {
			continue
		}
		for _, ends := range [][2]uint32{{u, v}, {v, u}} {
			degree[ends[0]]++
			if near[ends[0]] == nil {
				near[ends[0]] = map[uint32]bool{}
			}
			near[ends[0]][ends[1]] = true
		}
	}
	if int(g.Vertices) != len(degree) {
		t.Fatalf("%d vertices, want %d", g.Vertices, len(degree))
	}
	for v, label := range g.original {
		if g.vertex[label] != uint32(v) {
			t.Fatalf("vertex %d has label %d, which has vertex %d", v, label, g.vertex[label])
		}
	}
	sorted := func(what string, from, to uint32) {
		if !slices.IsSortedFunc(g.original[from:to], func(a, b uint32) int {
			if degree[a] != degree[b] {
				return degree[b] - degree[a]
			}
			return int(a) - int(b)
		}) {
			t.Errorf("%s are not by descending degree, then label", what)
		}
	}
	sorted("hubs", 0, uint32(g.Hubs))
	for h := range uint32(g.Hubs) {
		sorted("the vertices of a group", g.groupAt[h], g.groupAt[h+1])
		for leaf := g.leafAt[h]; leaf < g.leafAt[h+1]; leaf++ {
			if label := g.original[leaf]; degree[label] != 1 || !near[label][g.original[h]] {
				t.Fatalf("leaf %d of hub %d has degree %d", leaf, h, degree[label])
			}
			if g.output[g.original[leaf]] != g.original[h] {
				t.Fatalf("the template of leaf %d is not its hub %d", leaf, h)
			}
		}
	}
	for v := range g.Searched {
		list := g.target[g.offset[v]:g.offset[v+1]]
		label := g.original[v]
		var want []uint32
		for n := range near[label] {
			if g.vertex[n] < uint32(g.Searched) {
				want = append(want, g.vertex[n])
			}
		}
		slices.Sort(want)
		if !slices.Equal(list, want) {
			t.Fatalf("list of vertex %d: got %v, want %v", v, list, want)
		}
		checkColumns(t, g, v, list)
	}
	for label, parent := range g.output {
		if v := g.vertex[label]; v == none && parent != none || v != none && uint64(v) < g.Searched && parent != g.original[g.first[v]] {
			t.Fatalf("template of label %d: got %d", label, parent)
		}
	}
}

// checkColumns checks what lies beside the list of a vertex.
func checkColumns(t *testing.T, g built, v uint64, list []uint32) {
	if len(list) > 0 && g.first[v] != list[0] || len(list) == 0 && g.first[v] != uint32(v) {
		t.Fatalf("first neighbour of vertex %d: got %d, its list is %v", v, g.first[v], list)
	}
	if v < g.Hubs {
		linked, _ := slices.BinarySearch(list, g.groupAt[v])
		if int(g.linked[v]) != linked {
			t.Fatalf("hub %d has %d links, want %d", v, g.linked[v], linked)
		}
	} else if v < g.Strays {
		if h := g.first[v]; uint32(v) < g.groupAt[h] || uint32(v) >= g.groupAt[h+1] {
			t.Fatalf("vertex %d is not in the group of its hub %d", v, h)
		}
	}
	w := v / 32
	grouped := w*32 >= g.Hubs && w*32+32 <= g.Strays
	if hub := g.wordHub[w]; hub != none && hub != g.first[v] {
		t.Fatalf("the hub of word %d is %d, and the first neighbour of vertex %d is %d", w, hub, v, g.first[v])
	}
	if w >= g.AlignedWords {
		return
	}
	if grouped {
		list = list[1:]
	}
	for k := range 4 * int64(g.rows[w]&^(1<<31)) {
		want := uint32(none)
		if k < int64(len(list)) {
			want = list[k]
		}
		if got := g.alignedWords[alignedIndex(int64(g.alignedAt[w]), int64(v), k)]; got != want {
			t.Fatalf("entry %d of vertex %d in its aligned block: got %d, want %d", k, v, got, want)
		}
	}
	if longer := len(list) > 4*int(g.rows[w]&^(1<<31)); longer && g.rows[w]>>31 == 0 {
		t.Fatalf("the list of vertex %d goes on behind its block, and the block does not say so", v)
	}
}
