package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Names of the options, as a user sets them: --set cuda.topdown=dynamic.
const (
	optionDevice   = "device"
	optionTopDown  = "topdown"
	optionBottomUp = "bottomup"
	optionAligned  = "aligned"
	optionLevels   = "levels"
	optionAlpha    = "alpha"
	optionBeta     = "beta"
	optionHubs     = "hubs"
	optionMemory   = "memory"
	optionLists    = "lists"
)

func options() []plugins.Option {
	return []plugins.Option{
		{Name: optionDevice, Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(1023),
			Meaning: "number of the GPU, as the driver counts them"},
		{Name: optionTopDown, Kind: plugins.Choice, Default: "scan", Choices: []string{"scan", "dynamic"},
			Meaning: "top-down step: links dealt evenly by prefix sums and search, or child grids launched by one thread a vertex"},
		{Name: optionBottomUp, Kind: plugins.Choice, Default: "aligned", Choices: []string{"aligned", "csr"},
			Meaning: "bottom-up step: neighbours of 32 consecutive vertices interleaved, or plain CSR"},
		{Name: optionAligned, Kind: plugins.Int, Default: "100", Min: plugins.Bound(0), Max: plugins.Bound(100),
			Meaning: "per cent of the vertices, hubs first, that get an aligned block"},
		{Name: optionLevels, Kind: plugins.Choice, Default: "fused", Choices: []string{"fused", "stepped"},
			Meaning: "all levels in one cooperative launch, or a launch each, timed by device events"},
		{Name: optionAlpha, Kind: plugins.Float, Default: "30", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0 is never"},
		{Name: optionBeta, Kind: plugins.Float, Default: "16384", Min: plugins.Bound(0), Max: plugins.Bound(1e9),
			Meaning: "go back top-down when a shrinking frontier has less than 1/beta of the vertices; 0 is at once"},
		{Name: optionHubs, Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(maxHubs),
			Meaning: "vertices of largest degree that other vertices are grouped by; 0 is 1/64 of the vertices, 64 to 262144"},
		{Name: optionMemory, Kind: plugins.Text, Default: "all",
			Meaning: "device memory that the engine may use, such as 16GiB or 500MiB; all is what the driver says is free"},
		{Name: optionLists, Kind: plugins.Choice, Default: "auto", Choices: []string{"auto", "device", "host"},
			Meaning: "where neighbour lists lie: device memory, pinned host memory read by the kernels, or the device if they fit"},
	}
}

const (
	maxHubs  = 1 << 20
	hubShare = 64
)

// configuration is what the options say.
type configuration struct {
	device  int
	dynamic bool // topdown
	aligned int  // per cent of the vertices
	stepped bool
	rule    graph.Switch
	hubs    int   // 0: by hubShare
	memory  int64 // bytes; 0: all that is free
	lists   string
}

func configure(set map[string]string) (configuration, error) {
	settings, err := plugins.Settle(options(), set)
	if err != nil {
		return configuration{}, err
	}
	c := configuration{
		device:  settings.Int(optionDevice),
		dynamic: settings.Text(optionTopDown) == "dynamic",
		aligned: settings.Int(optionAligned),
		stepped: settings.Text(optionLevels) == "stepped",
		rule:    graph.Switch{Alpha: settings.Float(optionAlpha), Beta: settings.Float(optionBeta)},
		hubs:    settings.Int(optionHubs),
		lists:   settings.Text(optionLists),
	}
	if settings.Text(optionBottomUp) == "csr" {
		c.aligned = 0
	}
	if c.memory, err = parseBytes(settings.Text(optionMemory)); err != nil {
		return configuration{}, err
	}
	return c, nil
}

// parseBytes reads a number of bytes with a unit of 1024 (KiB, MiB, GiB, TiB), of 1000 (KB, MB, GB, TB) or B; all is 0.
func parseBytes(text string) (int64, error) {
	if text == "all" {
		return 0, nil
	}
	refused := fmt.Errorf("option %s=%q: want a size such as 16GiB, or all: %w", optionMemory, text, plugins.ErrOption)
	units := []struct {
		name  string
		bytes float64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
	}
	for _, unit := range units {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(x) || x*unit.bytes < 1 || x*unit.bytes > 1<<50 {
			return 0, refused
		}
		return int64(x * unit.bytes), nil
	}
	return 0, refused
}

// wantHubs says how many hubs a graph with so many vertices has.
func (c configuration) wantHubs(vertices int64) int64 {
	if c.hubs > 0 {
		return min(int64(c.hubs), vertices)
	}
	return min(max(vertices/hubShare&^31, 64), 1<<18, vertices)
}
