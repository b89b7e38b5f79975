package distributed

import (
	"fmt"
	"strconv"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// MaxRanks is the largest number of ranks that an engine starts.
const MaxRanks = 4096

// options returns the options of the search, for ranks of any kind.
func options(defaultRanks int) []plugins.Option {
	return []plugins.Option{
		{Name: "ranks", Kind: plugins.Int, Default: strconv.Itoa(defaultRanks),
			Min: plugins.Bound(1), Max: plugins.Bound(MaxRanks), Meaning: "number of ranks, each on one thread"},
		{Name: "partition", Kind: plugins.Choice, Default: "2d", Choices: []string{"2d", "1d"},
			Meaning: "2d: a grid of ranks over the adjacency matrix; 1d: vertices with all their edges"},
		{Name: "rows", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(MaxRanks),
			Divides: "ranks", Needs: "partition=2d",
			Meaning: "rows of the 2d grid, a divisor of ranks; 0: as square as possible"},
		{Name: "owner", Kind: plugins.Choice, Default: "block", Choices: []string{"block", "modulo"},
			Meaning: "labels are assigned to ranks in consecutive blocks or cyclically"},
		{Name: "messages", Kind: plugins.Choice, Default: "adaptive", Choices: []string{"adaptive", "lists", "bitmaps"},
			Meaning: "vertices are sent as lists or bitmaps; adaptive: whichever is shorter, for each message"},
		{Name: "alpha", Kind: plugins.Float, Default: "15", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0: never"},
		{Name: "beta", Kind: plugins.Float, Default: "16384", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go top-down when a shrinking frontier has less than 1/beta of the vertices; 0: at once"},
	}
}

// Configuration is the options of a search, with defaults filled in.
type Configuration struct {
	Grid   Grid // one column if OneD
	OneD   bool
	Modulo bool
	Form   Form
	Rule   graph.Switch
}

// Configure reads the options.
func Configure(s plugins.Settings) Configuration {
	c := Configuration{
		OneD:   s.Text("partition") == "1d",
		Modulo: s.Text("owner") == "modulo",
		Form:   Form(s.Text("messages")),
		Rule:   graph.Switch{Alpha: s.Float("alpha"), Beta: s.Float("beta")},
	}
	switch ranks, rows := s.Int("ranks"), s.Int("rows"); {
	case c.OneD:
		c.Grid = Grid{ranks, 1}
	case rows == 0:
		c.Grid = SquareGrid(ranks)
	default:
		c.Grid = Grid{rows, ranks / rows}
	}
	return c
}

// details describes a configuration for the record. kind says what a rank is.
func (c Configuration) details(kind string) []plugins.Fact {
	partition := fmt.Sprintf("2D, grid of %dx%d", c.Grid.R, c.Grid.C)
	if c.OneD {
		partition = "1D, vertices by owner"
	}
	return []plugins.Fact{
		{Name: "ranks", Value: fmt.Sprintf("%d: %s", c.Grid.Ranks(), kind)},
		{Name: "partition", Value: partition},
		{Name: "output template", Value: "kernel 1 stores every row's first neighbour, in original labels; each search " +
			"copies these inside its clock and confirms or replaces every one"},
	}
}

// memory returns an upper bound on the memory of a number of in-process ranks. At the peak, when the lists are made,
// this is
//
//	per tuple      two entries of two words as sent (16 bytes, and an eighth for slack), each with a word by column and
//	               two by row (24)
//	per vertex     what every rank has for its rows and columns: slots counted and numbered, rows and list indexes of
//	               slots, labels, offsets, first columns, templates, parents; each at most a word for 1/R or 1/C of
//	               all vertices
//	per two ranks  the slices of the messages between them
func memory(ranks int) plugins.Memory {
	g := SquareGrid(ranks)
	return plugins.Memory{
		Fixed:     32<<20 + int64(520*ranks*ranks),
		PerVertex: float64(16*ranks + 40*g.R + 40*g.C + 64), PerTuple: 48,
	}
}
