// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

func options(defaultRanks int) []plugins.Option {
	return append([]plugins.Option{
		{Name: "ranks", Kind: plugins.Int, Default: strconv.Itoa(defaultRanks),
			Min: plugins.Bound(1), Max: plugins.Bound(plugins.MaxRanks), Meaning: "number of ranks"},
		{Name: "threads", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(1024),
			Meaning: "number of workers of each rank; 0: the processors of the host are divided among its ranks"},
		{Name: "partition", Kind: plugins.Choice, Default: "auto",
			Choices: []string{"auto", "1d-dest", "2d", "1d-source"},
			Meaning: "1d-dest: 1D by destination, and every rank gets every frontier; 2d: a grid of ranks over the " +
				"adjacency matrix; 1d-source: 1D by source, and discovered vertices are sent to their owners; auto: 1d-dest or " +
				"2d, whichever a model of the graph and the ranks makes faster"},
		{Name: "rows", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(plugins.MaxRanks),
			Divides: "ranks", Needs: "partition=2d",
			Meaning: "rows of the 2d grid, a divisor of ranks; 0: the best by a model, at least as many as columns"},
		{Name: "fold", Kind: plugins.Choice, Default: "alltoall", Choices: []string{"alltoall", "prefix"},
			Needs: "partition=2d",
			Meaning: "discovered vertices are sent along grid rows to their owners: all to all, or from rank to rank, each " +
				"adding its own, and back; in square grids frontiers then go to the transposed rank"},
		{Name: "owner", Kind: plugins.Choice, Default: "block", Choices: []string{"block", "modulo"},
			Meaning: "labels are assigned to ranks in consecutive blocks or cyclically"},
		{Name: "messages", Kind: plugins.Choice, Default: "adaptive", Choices: []string{"adaptive", "lists", "bitmaps"},
			Meaning: "vertices are sent as lists or bitmaps; adaptive: whichever is shorter, for each message"},
	}, plugins.SwitchOptions("15", "16384")...)
}

// Configuration is the options of a search, with defaults filled in.
type Configuration struct {
	Kind    string // describes a rank
	Grid    Grid   // one column unless partition is 2d
	Auto    int    // kernel 1 chooses a grid with this number of columns or more; 0: it takes Grid
	Why     string // the reason for its choice
	Threads int    // workers of each rank
	OneD    bool   // partition is 1d-source
	Prefix  bool   // fold=prefix
	Modulo  bool
	Form    Form
	Rule    graph.Switch
}

// Configure reads the options. Threads may be 0 (Share).
func Configure(s plugins.Settings, kind string) Configuration {
	c := Configuration{
		Kind:    kind,
		Threads: s.Int("threads"),
		OneD:    s.Text("partition") == "1d-source",
		Prefix:  s.Text("fold") == "prefix",
		Modulo:  s.Text("owner") == "modulo",
		Form:    Form(s.Text("messages")),
		Rule:    s.Switch(),
	}
	switch ranks, rows := s.Int("ranks"), s.Int("rows"); {
	case s.Text("partition") == "auto":
		c.Grid, c.Auto = Grid{ranks, 1}, 1
	case s.Text("partition") != "2d":
		c.Grid = Grid{ranks, 1}
	case rows == 0:
		c.Grid, c.Auto = SquareGrid(ranks), 2
	default:
		c.Grid = Grid{rows, ranks / rows}
	}
	return c
}

// choose chooses the grid for a graph, given a bound of its vertices with edges. Above 2^31 of them, one dimension has
// too many columns.
func (c *Configuration) choose(vertices int64) {
	if c.Auto == 0 {
		return
	}
	ranks, shortest := c.Grid.Ranks(), time.Duration(math.MaxInt64)
	for columns := c.Auto; columns*columns <= ranks; columns++ {
		g := Grid{ranks / columns, columns}
		t := g.searchTime(vertices, c.Threads)
		if g.Ranks() == ranks && t < shortest && (vertices <= 1<<31 || columns > 1) {
			c.Grid, shortest = g, t
			c.Why = fmt.Sprintf("; a model chose it for up to %d vertices: %v a search, %v in 1D", vertices, t,
				Grid{ranks, 1}.searchTime(vertices, c.Threads))
		}
	}
}

// searchTime is a model of the time of a search of a Kronecker graph, in a partition in 1D by destination or in 2D. A
// search has seven levels, and in three of them all ranks send bitmaps: in 1D of all vertices; in 2D of those of a grid
// column and of a grid row, and at the end a vertex and its parent. The time of work was measured without waiting: 9 ns
// a vertex in 1D on 32 ranks at scale 22, 2.1 times as much with four grid columns (docs/distributed.md), and between
// them with two, where ranks read 1.3 and not 1.8 times as many entries. The network has the latency and bandwidth of
// one of 100 Gbit/s for two ranks on each host.
func (g Grid) searchTime(vertices int64, threads int) time.Duration {
	const (
		levels, largeLevels = 7, 3
		work, columnWork    = 9e-9, 0.55 // seconds a vertex, and how much more it is for each doubling of grid columns
		latency, bandwidth  = 2e-6, 6e9  // seconds, bytes a second
	)
	n, rows, columns, ranks := float64(vertices), float64(g.R), float64(g.C), float64(g.Ranks())
	messages, bytes := levels*comm.Steps(g.Ranks()), largeLevels*n/8 // the frontier is sent with the counts
	if g.C > 1 {
		messages += levels * (comm.Steps(g.R) + comm.Steps(g.C) + g.C - 1)
		bytes = largeLevels*(n/8/columns+n/8/rows) + 8*n/ranks
	}
	working := work * (1 + columnWork*math.Log2(columns)) * n / ranks / float64(threads)
	seconds := working + float64(messages)*latency + bytes/bandwidth
	return time.Duration(seconds * 1e9).Round(time.Microsecond)
}

// Share divides processors among the ranks on a host, unless the user has set the number of workers of each.
func (c *Configuration) Share(processors, ranks int) {
	if c.Threads == 0 {
		c.Threads = max(processors/ranks, 1)
	}
}

// details describes a configuration for the record.
func (c Configuration) details() []plugins.Fact {
	partition := fmt.Sprintf("2D, grid of %dx%d", c.Grid.R, c.Grid.C)
	switch {
	case c.OneD:
		partition = "1D, edges by source; discovered vertices are sent to their owners"
	case c.Grid.C == 1:
		partition = "1D, edges by destination; every rank gets every frontier"
	}
	partition += c.Why
	return []plugins.Fact{
		{Name: "ranks", Value: fmt.Sprintf("%d: %s", c.Grid.Ranks(), c.Kind)},
		{Name: "threads of each rank", Value: strconv.Itoa(c.Threads)},
		{Name: "partition", Value: partition},
		{Name: "output template", Value: "kernel 1 stores every label's first neighbor, in original labels; each search " +
			"copies these inside its clock and confirms or replaces every one"},
	}
}

// memoryBound returns an upper bound on the memory of in-process ranks. At the peak, when the lists are made, this is
//
//	per tuple      two entries of two words as sent (16 bytes, which the collector frees late), each with a word in the
//	               list of its row (8) and, while it is sorted, 6 bytes for that of its column (12); segments (2); and
//	               scratch of large buckets (6)
//	per label      the output template (6), and bitmaps of the labels with an edge in grid rows and columns
//	per end        six words for each column of a rank, fourteen for each row, and others for own vertices; every
//	               worker has room for corrections of these; 1d-source has parents of all vertices and lists of them
//	per two ranks  the slices of the messages between them
//	per worker     batches, and a small bucket that is sorted
func memoryBound(c Configuration) plugins.Memory {
	g, ranks, perEnd, perPair := c.Grid, c.Grid.Ranks(), 72, 424
	if c.OneD {
		perEnd, perPair = perEnd+16*ranks, 520
	}
	return plugins.Memory{
		Fixed: int64(32<<20 + perPair*ranks*ranks + 1<<20*ranks*c.Threads), PerVertex: 7 + float64(g.R+g.C)/4, PerTuple: 44,
		PerEnd: float64(perEnd + (24+c.Threads)*g.R + 56*g.C + 9*c.Threads),
	}
}

// pathMemory is what kernel 3 needs besides:
//
//	per tuple      two entries as sent have one more word each (8), and are in the lists with a bound (24), in two
//	               dimensions by row and by column (48); while they are grouped, 4 more
//	per label      its number, twice
//	per end        of a rank's rows a first entry, a distance, offset and counts; of its columns a distance, relay
//	               weights, a slot and, in two dimensions, offset and counts; of its own vertices states and queues
//	per worker     a slot for each bucket of lists
func pathMemory(g Grid, threads int) plugins.Memory {
	return plugins.Memory{
		Fixed:     int64(16<<20 + 1<<20*g.Ranks()*threads),
		PerVertex: 8, PerTuple: 60, PerEnd: float64(64*g.C + 44*g.R + 64),
	}
}
