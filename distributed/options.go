package distributed

import (
	"fmt"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Names of the options, as a user sets them: --set distributed.ranks=16.
const (
	optionRanks        = "ranks"
	optionPartition    = "partition"
	optionRows         = "rows"
	optionOwner        = "owner"
	optionMessages     = "messages"
	optionPredecessors = "predecessors"
	optionAlpha        = "alpha"
	optionBeta         = "beta"
)

// MaxRanks is the most ranks that an engine starts.
const MaxRanks = 4096

// searchOptions are the options of the search itself, with ranks of any kind.
func searchOptions(ranks string) []plugins.Option {
	return []plugins.Option{
		{Name: optionRanks, Kind: plugins.Int, Default: ranks, Min: plugins.Bound(1), Max: plugins.Bound(MaxRanks),
			Meaning: "ranks that build and search, each on one thread"},
		{Name: optionPartition, Kind: plugins.Choice, Default: "2d", Choices: []string{"2d", "1d"},
			Meaning: "a grid of ranks over the matrix, or vertices with all their edges by owner"},
		{Name: optionRows, Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(MaxRanks),
			Meaning: "rows of the grid, a divisor of ranks; 0 is the grid closest to a square; 1d has no grid"},
		{Name: optionOwner, Kind: plugins.Choice, Default: "block", Choices: []string{"block", "modulo"},
			Meaning: "labels belong to ranks in consecutive blocks or by turns"},
		{Name: optionMessages, Kind: plugins.Choice, Default: "adaptive", Choices: []string{"adaptive", "lists", "bitmaps"},
			Meaning: "vertices are sent as lists or as bitmaps; adaptive takes the shorter for every message"},
		{Name: optionPredecessors, Kind: plugins.Choice, Default: "late", Choices: []string{"late", "early"},
			Meaning: "predecessors are fetched once at the end, or sent along with every vertex"},
		{Name: optionAlpha, Kind: plugins.Float, Default: "15", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0 is never"},
		{Name: optionBeta, Kind: plugins.Float, Default: "16384", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go back top-down when a shrinking frontier has less than 1/beta of the vertices; 0 is at once"},
	}
}

// Configuration is what the options say, with every default filled in.
type Configuration struct {
	Grid   Grid // of one column when OneD
	OneD   bool
	Modulo bool
	Form   Form
	Early  bool // predecessors
	Rule   graph.Switch
}

// configure reads the search's options.
func configure(s plugins.Settings) (Configuration, error) {
	c := Configuration{
		OneD:   s.Text(optionPartition) == "1d",
		Modulo: s.Text(optionOwner) == "modulo",
		Form:   map[string]Form{"adaptive": Adaptive, "lists": Lists, "bitmaps": Bitmaps}[s.Text(optionMessages)],
		Early:  s.Text(optionPredecessors) == "early",
		Rule:   graph.Switch{Alpha: s.Float(optionAlpha), Beta: s.Float(optionBeta)},
	}
	ranks, rows := s.Int(optionRanks), s.Int(optionRows)
	switch {
	case c.OneD:
		c.Grid = Grid{ranks, 1}
	case rows == 0:
		c.Grid = SquareGrid(ranks)
	case ranks%rows != 0:
		return c, fmt.Errorf("option rows=%d: %d ranks do not make full rows; want a divisor of ranks: %w", rows, ranks, plugins.ErrOption)
	default:
		c.Grid = Grid{rows, ranks / rows}
	}
	return c, nil
}
