package cpu

import (
	"runtime"
	"strconv"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Names of the options, as a user sets them: --set cpu.threads=4.
const (
	optionThreads    = "threads"
	optionParents    = "parents"
	optionAlpha      = "alpha"
	optionBeta       = "beta"
	optionSequential = "sequential"
	optionAdjacency  = "adjacency"
	optionHubs       = "hubs"
	optionReorder    = "reorder"
)

// Values of optionReorder; build_reorder.go says what they are.
const (
	reorderHub       = "hub"
	reorderLabel     = "label"
	reorderNeighbour = "neighbour"
	reorderKolganov  = "kolganov"
)

const maxThreads = 1024

func options() []plugins.Option {
	return []plugins.Option{
		{Name: optionThreads, Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(maxThreads),
			Meaning: "workers that build and search; 0 is one for each processor that the process may use"},
		{Name: optionAdjacency, Kind: plugins.Choice, Default: "csr", Choices: []string{"csr", "packed"},
			Meaning: "neighbour lists in 32 bits, or packed: in 16 bits where they suffice and no more bits than needed elsewhere"},
		{Name: optionParents, Kind: plugins.Choice, Default: "64", Choices: []string{"64", "32"},
			Meaning: "bits of a parent as written inside the clock; 32-bit ones are widened after the clock has stopped"},
		{Name: optionAlpha, Kind: plugins.Float, Default: "20", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0 is never"},
		{Name: optionBeta, Kind: plugins.Float, Default: "16384", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go back top-down when a shrinking frontier has less than 1/beta of the vertices; 0 is at once"},
		{Name: optionSequential, Kind: plugins.Int, Default: "4096", Min: plugins.Bound(0), Max: plugins.Bound(1 << 40),
			Meaning: "one worker alone expands a frontier with at most this many edges top-down"},
		{Name: optionHubs, Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(nearLimit),
			Meaning: "vertices of largest degree that other vertices are grouped by; 0 is 1/32 of all vertices, at most 65536"},
		{Name: optionReorder, Kind: plugins.Choice, Default: reorderHub, Choices: []string{reorderHub, reorderLabel, reorderNeighbour, reorderKolganov},
			Meaning: "order of the vertices with the same largest hub: by degree (hub), by label, by second neighbour, or everything breadth first (Kolganov 2018)"},
	}
}

// configuration is what the options say, with every default filled in.
type configuration struct {
	threads    int
	parentBits int
	rule       graph.Switch
	sequential int
	hubs       int
	packed     bool
	reorder    string
}

func configure(set map[string]string) (configuration, error) {
	settings, err := plugins.Settle(options(), set)
	if err != nil {
		return configuration{}, err
	}
	c := configuration{
		threads:    settings.Int(optionThreads),
		rule:       graph.Switch{Alpha: settings.Float(optionAlpha), Beta: settings.Float(optionBeta)},
		sequential: settings.Int(optionSequential),
		hubs:       settings.Int(optionHubs),
		packed:     settings.Text(optionAdjacency) == "packed",
		reorder:    settings.Text(optionReorder),
	}
	c.parentBits, _ = strconv.Atoi(settings.Text(optionParents))
	if c.threads == 0 {
		c.threads = min(runtime.GOMAXPROCS(0), maxThreads)
	}
	return c, nil
}
