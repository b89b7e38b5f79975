// SPDX-License-Identifier: Apache-2.0

package literature

import (
	"math"
	"slices"
	"strings"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// maxLabels is how many labels a graph may have: kernels use 32 bits for them, and the largest value for none.
const maxLabels = 1<<32 - 1

// kernels are the values of the option kernel. The first is the default.
var kernels = []string{"quadratic", "habr", "romeo", "merrill", "bisson", "kolganov"}

func kernelNames() string { return strings.Join(kernels, ", ") }

func options() []plugins.Option {
	choice := team.Choice
	number := func(name, value string, low, high float64, needs, meaning string) plugins.Option {
		return team.Number(plugins.Int, name, value, low, high, needs, meaning)
	}
	const habr, romeo, merrill, bisson = "kernel=habr", "kernel=romeo", "kernel=merrill", "kernel=bisson"
	const kolganov, oneGPU = "kernel=kolganov", " ranks=0"
	// Beamer, Asanović and Patterson, SC 2012, whose rule the thesis names, have alpha 14 and beta 24. Kolganov does not
	// say what his are.
	directions := plugins.SwitchOptions("14", "24")
	directions[0].Needs = "kernel=romeo|kolganov" // the others need direction=auto
	directions[1].Meaning += "; kernel=kolganov counts the edges of the last step, and is fast with 1048576 and beta=16384"
	grid := team.Options("kernel=merrill|bisson", choice("partition", bisson,
		"edges on several GPUs: a grid, or those from a GPU's vertices; kernel=merrill has the latter", "2d", "1d-source"))
	kernel := choice("kernel", "", "the published search", kernels...)
	return slices.Concat([]plugins.Option{kernel}, grid, []plugins.Option{
		choice("levels", habr, "width of a level; a search with more levels than fit is refused", widths...),
		choice("readonly", habr, "read levels through the read-only path of the cache, or from where they are written",
			"on", "off"),
		choice("permute", habr, "sort edges by tiles of vertices at both ends, or keep the order of the tuples",
			"on", "off"),
		number("tile", "20", 0, 32, "permute=on", "vertices of a tile, as a power of two: 20 is 1,048,576"),
		choice("parents", habr, "write parents with levels, or in one last pass over all edges", "inline", "last"),
		choice("visited", romeo, "read visited bits through the read-only path of the cache, or plainly", "ldg", "plain"),
		choice("order", merrill+oneGPU, "phases of a level: fused either way, apart with the frontier of edges in memory, "+
			"or (hybrid) apart from the size twophase on", "hybrid", "expand-contract", "contract-expand", "two-phase"),
		number("twophase", "65536", 0, 1<<40, "order=hybrid"+oneGPU, "smallest frontier of edges whose phases are apart"),
		choice("gather", merrill, "neighbors are read by blocks, warps or prefix sums, or (hybrid) by the length of "+
			"the list", "hybrid", "scan", "warp", "cta"),
		number("ctamin", "128", 1, maxLabels, "gather=hybrid", "shortest list that a block reads"),
		number("warpmin", "32", 1, maxLabels, "gather=hybrid",
			"shortest list that a warp reads; prefix sums gather the others"),
		choice("cull", merrill, "tables of duplicates: of a warp, of a block (history), both or none",
			"both", "none", "warp", "history"),
		choice("output", merrill+oneGPU, "labels that a search writes; distances get parents in a further pass",
			"predecessor", "distance"),
		choice("counters", merrill+oneGPU, "count in each level what became of neighbors, which takes time", "off", "on"),
		choice("edges", bisson, "consecutive edges of a thread", "4", "1", "2", "8", "16"),
		choice("visit", bisson+oneGPU, "which thread keeps a vertex: the first by atomicOr, or the last one that wrote to "+
			"a map", "atomic", "compact"),
		choice("search", bisson, "binary search for the vertex of an edge: a thread's own, or one of its warp first",
			"thread", "warp"),
		choice("append", "visit=atomic", "an atomic operation for each vertex that is kept, or for those of a warp, as "+
			"on several GPUs", "each", "warp"),
		choice("local", kolganov, "sort the neighbors of each vertex by descending degree", "on", "off"),
		choice("global", kolganov, "number vertices by descending degree", "on", "off"),
		choice("renumber", kolganov, "number vertices in the order of a queue, after the other sorts", "on", "off"),
		number("aligned", "40", 0, 100, kolganov,
			"per cent of the vertices whose lists are interleaved for bottom-up steps, the first ones"),
		number("child", "1", 0, maxLabels, kolganov,
			"shortest list that gets a child grid in top-down steps; 0: none does"),
		choice("claim", kolganov, "compare-and-swap puts a vertex into the queue once, or it may be there several times",
			"on", "off"),
		choice("lists", kolganov, "where lists are that are not interleaved: device memory, or pinned host memory",
			"device", "host"),
	}, directions)
}

// gatherMinima returns the shortest lists that a block and a warp gather; the rest goes by prefix sum.
func gatherMinima(set plugins.Settings) (cta, warp uint64) {
	const never = math.MaxUint64
	switch set.Text("gather") {
	case "scan":
		return never, never
	case "warp":
		return never, 1
	case "cta":
		return 1, never
	}
	return uint64(set.Int("ctamin")), uint64(set.Int("warpmin"))
}

// bit returns 1 for an option that has one of the given values.
func bit(set plugins.Settings, name string, values ...string) uint64 {
	if slices.Contains(values, set.Text(name)) {
		return 1
	}
	return 0
}

// widths are the values of the option levels: of 1, 2 and 4 bytes.
var widths = []string{"u8", "u16", "u32"}

// widthOf returns the bytes of a level, and the largest one: one less than the value of a vertex without a level.
func widthOf(levels string) (bytes, largest uint64) {
	bytes = 1 << slices.Index(widths, levels)
	return bytes, 1<<(8*bytes) - 2
}

// switchRule is graph.Switch over the levels of one search.
type switchRule struct {
	graph.Switch
	state graph.SwitchState
}

// start begins a search of a graph with the given vertices and adjacency entries, from one vertex.
func (r *switchRule) start(vertices, entries int64) {
	r.state = graph.SwitchState{Direction: r.First(), Frontier: 1, UnexploredEdges: entries, Vertices: vertices}
}

// found takes the vertices that a step has found, and their adjacency entries, and chooses the next direction.
func (r *switchRule) found(vertices, edges int64) {
	r.state.Previous, r.state.Frontier = r.state.Frontier, vertices
	r.state.FrontierEdges = edges
	r.state.UnexploredEdges -= edges
	r.state.Direction = r.Next(r.state)
}
