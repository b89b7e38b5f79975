// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// builtGraph is what kernel 1 left on the device, copied to the host.
type builtGraph struct {
	deviceGraph
	details                                             []plugins.Fact
	offset, alignedBegin                                []uint64
	target, rows, first, wordHub, groupBegin, leafBegin []uint32
	label, vertex, template, hubEdges, aligned          []uint32
}

// builtWith runs kernel 1 on one GPU.
func builtWith(t *testing.T, in plugins.Input) (plugins.Built, *search, builtGraph) {
	t.Helper()
	built, s := constructGraph(t, in)
	g := builtGraph{details: built.Details}
	if err := s.device.Do(func() (err error) {
		g, err = readGraph(s.device.graph, g)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return built, s, g
}

// readGraph copies the graph, which is published at an address, to the host.
func readGraph(published uint64, g builtGraph) (builtGraph, error) {
	var one [1]deviceGraph
	err := driver.Read(one[:], published)
	g.deviceGraph = one[0]
	packed := slices.ContainsFunc(g.details, isPacked)
	if packed {
		g.offset, g.target, err = readPacked(g.deviceGraph)
	}
	read32 := func(into *[]uint32, at, n uint64) {
		*into = make([]uint32, n)
		err = errors.Join(err, driver.Read(*into, at))
	}
	if !packed {
		g.offset = make([]uint64, g.Searched+1)
		err = errors.Join(err, driver.Read(g.offset, g.Offset))
		read32(&g.target, g.Target, g.Entries)
	}
	g.alignedBegin = make([]uint64, g.AlignedWords)
	err = errors.Join(err, driver.Read(g.alignedBegin, g.AlignedBegin))
	read32(&g.first, g.FirstNeighbor, g.Searched)
	read32(&g.wordHub, g.WordHub, g.Words)
	read32(&g.groupBegin, g.GroupBegin, g.Hubs+1)
	read32(&g.leafBegin, g.LeafBegin, g.Hubs+1)
	read32(&g.hubEdges, g.HubEdges, g.Hubs)
	read32(&g.label, g.Label, g.Vertices)
	read32(&g.vertex, g.Vertex, g.Labels)
	read32(&g.template, g.OutputTemplate, g.Labels)
	read32(&g.rows, g.AlignedRows, g.AlignedWords)
	if last := int(g.AlignedWords) - 1; last >= 0 {
		g.aligned = make([]uint32, 4*(g.alignedBegin[last]+32*uint64(g.rows[last]&^longer)))
		err = errors.Join(err, driver.Read(g.aligned, g.Aligned))
	}
	return g, err
}

func isPacked(f plugins.Fact) bool {
	return f.Name == "neighbor lists" && strings.HasPrefix(f.Value, "packed")
}

// readPacked decodes the packed lists of a graph, as kernels/neighbors.cuh describes them, to plain ones.
func readPacked(g deviceGraph) (offset []uint64, target []uint32, err error) {
	packed := make([]uint64, g.Searched)
	if err := driver.Read(packed, g.Offset); err != nil {
		return nil, nil, err
	}
	last := packed[len(packed)-1] >> lengthBits
	words := make([]uint32, last+33) // lists end where the next one begins, and the last one is short
	if err := driver.Read(words, g.Target); err != nil {
		return nil, nil, err
	}
	for _, p := range packed {
		offset = append(offset, uint64(len(target)))
		target = append(target, unpack(words[p>>lengthBits:], int(p&(1<<lengthBits-1)))...)
	}
	return append(offset, uint64(len(target))), target, nil
}

// unpack decodes a packed list of n entries at the beginning of words.
func unpack(words []uint32, n int) (list []uint32) {
	for first := 0; first < n; first += 32 {
		entry, place, width := words[first/16], words[first/16+1]>>5, int(words[first/16+1]&31)
		list = append(list, entry)
		for bit := 0; len(list) < min(first+32, n); {
			entry++
			for i := range width {
				entry += words[int(place)+bit/32] >> (bit % 32) & 1 << i
				bit++
			}
			list = append(list, entry)
		}
	}
	return list
}

const longer = 1 << 31 // LONGER of graph.cuh

// A graph is the same, and so are its searches, if a limit on memory moves lists, and then tuples too, to the host, if
// lists are packed, and if every step of kernel 1 makes the tuples again.
func TestGraphIsTheSameWhereverItsPartsAre(t *testing.T) {
	needGPU(t)
	const csr, packed = "csr", "packed"
	source, tuples := generate(t, "kron:20")
	recipe := source.(graph.Kronecker)
	v := must.Get(validate.New(tuples, source.Vertices(), 0))
	_, _, want := builtWith(t, plugins.Input{Tuples: tuples, Options: map[string]string{"adjacency": csr}})
	for name, test := range map[string]struct {
		memory, adjacency     string
		again                 bool // from the recipe
		lists, tuples, packed bool // in the host; packed
	}{
		"enough memory": {memory: "2", adjacency: csr}, "lists": {memory: "0.44", adjacency: csr, lists: true},
		"lists and tuples": {memory: "0.34", adjacency: csr, lists: true, tuples: true},
		"recipe":           {adjacency: csr, again: true, tuples: true}, "packed": {adjacency: packed, packed: true},
		"packed recipe": {adjacency: packed, again: true, tuples: true, packed: true},
		"auto":          {memory: "2", adjacency: "auto"}, "auto packed": {memory: "0.53", adjacency: "auto", packed: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := plugins.Input{Tuples: tuples, Options: map[string]string{"adjacency": test.adjacency,
				"memory": cmp.Or(test.memory, "0")}}
			if test.again {
				in.Tuples, in.Recipe = nil, &recipe
			}
			built, s, g := builtWith(t, in)
			noted := func(name string) bool {
				return slices.ContainsFunc(g.details, func(f plugins.Fact) bool { return f.Name == name })
			}
			if noted("neighbor lists") != (test.lists || test.packed) || noted("tuples") != test.tuples ||
				slices.ContainsFunc(g.details, isPacked) != test.packed {
				t.Errorf("want %+v, got the details %v", test, g.details)
			}
			if !slices.Equal(g.offset, want.offset) || !slices.Equal(g.target, want.target) ||
				!slices.Equal(g.first, want.first) || test.memory == "" && !slices.Equal(g.aligned, want.aligned) {
				t.Error("the lists differ")
			}
			// A recipe says how many labels there are; tuples leave out the highest ones if they are isolated.
			if !slices.Equal(g.label, want.label) || !slices.Equal(g.template[:want.Labels], want.template) {
				t.Error("the labels differ")
			}
			if gib, _ := strconv.ParseFloat(test.memory, 64); gib > 0 && float64(s.memory.Used) > gib*(1<<30) {
				t.Errorf("got %d bytes on the device, want at most %v GiB", s.memory.Used, gib)
			}
			parent := slices.Repeat([]graph.Vertex{graph.Unreached}, int(source.Vertices()))
			root, _ := tuples[0].Ends()
			must.Get(built.Search(t.Context(), root, plugins.Output{Parent: parent[:g.Labels]}))
			if _, err := v.Validate(t.Context(), root, parent, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKernel1BuildsTheGraphThatGraphCuhDescribes(t *testing.T) {
	needGPU(t)
	_, tuples := generate(t, "kron:12")
	for name, set := range map[string]map[string]string{
		"defaults": nil, "few hubs": {"hubs": "5"}, "lists in the host": {"lists": "host"},
		"some aligned": {"aligned": "40"}, "packed": {"adjacency": "packed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, g := builtWith(t, plugins.Input{Tuples: tuples, Options: set})
			checkGraph(t, tuples, g)
		})
	}
}

func checkGraph(t *testing.T, tuples []graph.Edge, g builtGraph) {
	degree := map[uint32]int{}
	neighbors := map[uint32]map[uint32]bool{}
	for _, tuple := range tuples {
		u, v, _ := tuple.Ends32()
		if u == v {
			continue
		}
		for _, ends := range [][2]uint32{{u, v}, {v, u}} {
			degree[ends[0]]++
			if neighbors[ends[0]] == nil {
				neighbors[ends[0]] = map[uint32]bool{}
			}
			neighbors[ends[0]][ends[1]] = true
		}
	}
	if int(g.Vertices) != len(degree) {
		t.Fatalf("%d vertices, want %d", g.Vertices, len(degree))
	}
	for v, label := range g.label {
		if g.vertex[label] != uint32(v) {
			t.Fatalf("vertex %d has label %d, which has vertex %d", v, label, g.vertex[label])
		}
	}
	sorted := func(what string, from, to uint32) {
		if !slices.IsSortedFunc(g.label[from:to], func(a, b uint32) int {
			if degree[a] != degree[b] {
				return degree[b] - degree[a]
			}
			return int(a) - int(b)
		}) {
			t.Errorf("%s are not in descending order of degree, then ascending order of label", what)
		}
	}
	sorted("hubs", 0, uint32(g.Hubs))
	for h := range uint32(g.Hubs) {
		sorted("vertices of a group", g.groupBegin[h], g.groupBegin[h+1])
		for leaf := g.leafBegin[h]; leaf < g.leafBegin[h+1]; leaf++ {
			if label := g.label[leaf]; degree[label] != 1 || !neighbors[label][g.label[h]] {
				t.Fatalf("leaf %d of hub %d has degree %d", leaf, h, degree[label])
			}
			if g.template[g.label[leaf]] != g.label[h] {
				t.Fatalf("the template of leaf %d is not its hub %d", leaf, h)
			}
		}
	}
	for v := range g.Searched {
		list := g.target[g.offset[v]:g.offset[v+1]]
		label := g.label[v]
		var want []uint32
		for n := range neighbors[label] {
			if g.vertex[n] < uint32(g.Searched) {
				want = append(want, g.vertex[n])
			}
		}
		slices.Sort(want)
		if !slices.Equal(list, want) {
			t.Fatalf("list of vertex %d: got %v, want %v", v, list, want)
		}
		checkDerived(t, g, v, list)
	}
	for label, parent := range g.template {
		want := uint32(none)
		switch v := g.vertex[label]; {
		case v == none:
		case uint64(v) < g.Searched:
			want = g.label[g.first[v]]
		default: // a leaf, checked above
			want = parent
		}
		if parent != want {
			t.Fatalf("template of label %d: got %d, want %d", label, parent, want)
		}
	}
}

// checkDerived checks what kernel 1 derives from the list of a vertex.
func checkDerived(t *testing.T, g builtGraph, v uint64, list []uint32) {
	if len(list) > 0 && g.first[v] != list[0] || len(list) == 0 && g.first[v] != uint32(v) {
		t.Fatalf("first neighbor of vertex %d: got %d, its list is %v", v, g.first[v], list)
	}
	if v < g.Hubs {
		edges, _ := slices.BinarySearch(list, g.groupBegin[v])
		if int(g.hubEdges[v]) != edges {
			t.Fatalf("hub %d has %d edges, want %d", v, g.hubEdges[v], edges)
		}
	} else if v < g.Ungrouped {
		if h := g.first[v]; uint32(v) < g.groupBegin[h] || uint32(v) >= g.groupBegin[h+1] {
			t.Fatalf("vertex %d is not in the group of its hub %d", v, h)
		}
	}
	w := v / 32
	grouped := w*32 >= g.Hubs && w*32+32 <= g.Ungrouped
	if hub := g.wordHub[w]; hub != none && hub != g.first[v] {
		t.Fatalf("the hub of word %d is %d, and the first neighbor of vertex %d is %d", w, hub, v, g.first[v])
	}
	if w >= g.AlignedWords {
		return
	}
	if grouped {
		list = list[1:]
	}
	for k := range 4 * int64(g.rows[w]&^longer) {
		want := uint32(none)
		if k < int64(len(list)) {
			want = list[k]
		}
		if got := g.aligned[alignedIndex(int64(g.alignedBegin[w]), int64(v), k)]; got != want {
			t.Fatalf("entry %d of vertex %d in its aligned block: got %d, want %d", k, v, got, want)
		}
	}
	if continued := len(list) > 4*int(g.rows[w]&^longer); continued && g.rows[w]&longer == 0 {
		t.Fatalf("the list of vertex %d continues behind its block, which is not marked LONGER", v)
	}
}

// alignedIndex returns where entry k of the list of vertex v is: the block of its word begins at row `begin` of a
// vertex, and row k/4 of the block has four entries of each of 32 vertices.
func alignedIndex(begin, v, k int64) int64 { return 4*(begin+32*(k/4)+v%32) + k%4 }
