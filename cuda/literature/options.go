// SPDX-License-Identifier: Apache-2.0

package literature

import (
	"math"
	"slices"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// maxLabels is how many labels a graph may have: kernels use 32 bits for them, and the largest value for none.
const maxLabels = 1<<32 - 1

// kernels are the values of the option kernel. The first is the default.
var kernels = []string{"quadratic", "habr", "romeo", "merrill", "bisson", "kolganov"}

func kernelNames() string { return strings.Join(kernels, ", ") }

func options() []plugins.Option {
	choice := func(name, needs, meaning string, choices ...string) plugins.Option { // the first is the default
		return plugins.Option{Name: name, Kind: plugins.Choice, Default: choices[0], Choices: choices, Meaning: meaning,
			Needs: needs}
	}
	const habr, romeo, merrill, bisson = "kernel=habr", "kernel=romeo", "kernel=merrill", "kernel=bisson"
	const kolganov = "kernel=kolganov"
	// Beamer, Asanović and Patterson, SC 2012, whose rule the thesis names, have alpha 14 and beta 24. Kolganov does not
	// say what his are.
	directions := plugins.SwitchOptions("14", "24")
	directions[0].Needs = "kernel=romeo|kolganov" // the others need direction=auto
	directions[1].Meaning += "; kernel=kolganov counts the edges of the last step, and is fast with 1048576 and beta=16384"
	return append([]plugins.Option{
		choice("kernel", "", "the published search", kernels...),
		{Name: "device", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(1023),
			Meaning: "number of the GPU, as the driver counts them"},
		choice("levels", habr, "width of a level; a search with more levels than fit is refused", "u8", "u16", "u32"),
		choice("readonly", habr, "read levels through the read-only path of the cache, or from where they are written",
			"on", "off"),
		choice("permute", habr, "sort edges by tiles of vertices at both ends, or keep the order of the tuples",
			"on", "off"),
		{Name: "tile", Kind: plugins.Int, Default: "20", Min: plugins.Bound(0), Max: plugins.Bound(32),
			Needs: "permute=on", Meaning: "vertices of a tile, as a power of two: 20 is 1,048,576"},
		choice("parents", habr, "write parents with levels, or in one last pass over all edges", "inline", "last"),
		choice("visited", romeo, "read visited bits through the read-only path of the cache, or plainly", "ldg", "plain"),
		choice("order", merrill, "phases of a level: fused either way, apart with the frontier of edges in memory, or "+
			"(hybrid) apart from the size twophase on", "hybrid", "expand-contract", "contract-expand", "two-phase"),
		{Name: "twophase", Kind: plugins.Int, Default: "65536", Min: plugins.Bound(0), Max: plugins.Bound(1 << 40),
			Needs: "order=hybrid", Meaning: "smallest frontier of edges whose phases are apart"},
		choice("gather", merrill, "neighbors are read by blocks, warps or prefix sums, or (hybrid) by the length of "+
			"the list", "hybrid", "scan", "warp", "cta"),
		{Name: "ctamin", Kind: plugins.Int, Default: "128", Min: plugins.Bound(1), Max: plugins.Bound(maxLabels),
			Needs: "gather=hybrid", Meaning: "shortest list that a block reads"},
		{Name: "warpmin", Kind: plugins.Int, Default: "32", Min: plugins.Bound(1), Max: plugins.Bound(maxLabels),
			Needs: "gather=hybrid", Meaning: "shortest list that a warp reads; prefix sums gather the others"},
		choice("cull", merrill, "tables of duplicates: of a warp, of a block (history), both or none",
			"both", "none", "warp", "history"),
		choice("output", merrill, "labels that a search writes; distances get parents in a further pass",
			"predecessor", "distance"),
		choice("counters", merrill, "count in each level what became of neighbors, which takes time", "off", "on"),
		choice("edges", bisson, "consecutive edges of a thread", "4", "1", "2", "8", "16"),
		choice("visit", bisson, "which thread keeps a vertex: the first by atomicOr, or the last one that wrote to a map",
			"atomic", "compact"),
		choice("search", bisson, "binary search for the vertex of an edge: a thread's own, or one of its warp first",
			"thread", "warp"),
		choice("append", "visit=atomic", "an atomic operation for each vertex that is kept, or for those of a warp",
			"each", "warp"),
		choice("local", kolganov, "sort the neighbors of each vertex by descending degree", "on", "off"),
		choice("global", kolganov, "number vertices by descending degree", "on", "off"),
		choice("renumber", kolganov, "number vertices in the order of a queue, after the other sorts", "on", "off"),
		{Name: "aligned", Kind: plugins.Int, Default: "40", Min: plugins.Bound(0), Max: plugins.Bound(100), Needs: kolganov,
			Meaning: "per cent of the vertices whose lists are interleaved for bottom-up steps, the first ones"},
		{Name: "child", Kind: plugins.Int, Default: "1", Min: plugins.Bound(0), Max: plugins.Bound(maxLabels),
			Needs: kolganov, Meaning: "shortest list that gets a child grid in top-down steps; 0: none does"},
		choice("claim", kolganov, "compare-and-swap puts a vertex into the queue once, or it may be there several times",
			"on", "off"),
		choice("lists", kolganov, "where lists are that are not interleaved: device memory, or pinned host memory",
			"device", "host"),
	}, directions...)
}

// configuration is the options' values.
type configuration struct {
	kernel   string
	device   int
	levels   string // u8, u16 or u32
	readOnly bool
	permute  bool
	tileBits int
	last     bool // parents
	ldg      bool // visited
	rule     graph.Switch

	order    string
	twoPhase uint64 // entries
	gather   string
	ctaMin   uint64 // neighbors
	warpMin  uint64
	cull     string
	distance bool // output
	counters bool
	// queueShare divides the room of queues in searches that allow duplicates, also of kolganov; tests raise it.
	queueShare uint64

	edges        int
	compact      bool // visit
	appendByWarp bool
	searchByWarp bool

	local, global, renumber bool
	aligned                 int // per cent of the vertices
	child                   int // neighbors; 0: never
	host                    bool
	duplicates              bool // claim=off
}

func configure(set plugins.Settings) configuration {
	return configuration{
		kernel: set.Text("kernel"), device: set.Int("device"), levels: set.Text("levels"),
		readOnly: set.Text("readonly") == "on", permute: set.Text("permute") == "on", tileBits: set.Int("tile"),
		last: set.Text("parents") == "last", ldg: set.Text("visited") == "ldg", rule: set.Switch(),
		order: set.Text("order"), twoPhase: uint64(set.Int("twophase")), gather: set.Text("gather"),
		ctaMin: uint64(set.Int("ctamin")), warpMin: uint64(set.Int("warpmin")), cull: set.Text("cull"),
		distance: set.Text("output") == "distance", counters: set.Text("counters") == "on",
		edges: set.Int("edges"), compact: set.Text("visit") == "compact",
		appendByWarp: set.Text("append") == "warp", searchByWarp: set.Text("search") == "warp", queueShare: 1,
		local: set.Text("local") == "on", global: set.Text("global") == "on", renumber: set.Text("renumber") == "on",
		aligned: set.Int("aligned"), child: set.Int("child"), host: set.Text("lists") == "host",
		duplicates: set.Text("claim") == "off",
	}
}

// gatherMinima returns the shortest lists that a block and a warp gather; the rest goes by prefix sum.
func (c configuration) gatherMinima() (cta, warp uint64) {
	const never = math.MaxUint64
	switch c.gather {
	case "scan":
		return never, never
	case "warp":
		return never, 1
	case "cta":
		return 1, never
	}
	return c.ctaMin, c.warpMin
}

// cullFlags returns 1 for each table of duplicates that is used: of warps and of blocks.
func (c configuration) cullFlags() (warp, history uint64) {
	switch c.cull {
	case "warp":
		return 1, 0
	case "history":
		return 0, 1
	case "both":
		return 1, 1
	}
	return 0, 0
}

// levelBytes returns the width of a level.
func (c configuration) levelBytes() int64 {
	return 1 << slices.Index([]string{"u8", "u16", "u32"}, c.levels)
}

// maxLevel is the largest level: one less than the value of a vertex without one.
func (c configuration) maxLevel() uint64 { return 1<<(8*c.levelBytes()) - 2 }

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
