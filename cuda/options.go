// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/plugins"
)

func options() []plugins.Option {
	choice := func(name, needs, meaning string, choices ...string) plugins.Option { // the first is the default
		return plugins.Option{Name: name, Kind: plugins.Choice, Default: choices[0], Choices: choices, Needs: needs,
			Meaning: meaning}
	}
	number := func(kind plugins.Kind, name, value string, limit float64, needs, meaning string) plugins.Option {
		return plugins.Option{Name: name, Kind: kind, Default: value, Min: plugins.Bound(0), Max: plugins.Bound(limit),
			Needs: needs, Meaning: meaning}
	}
	return append([]plugins.Option{
		{Name: "device", Kind: plugins.Text, Default: "0", Meaning: "number of the GPU, as the driver counts them; with " +
			"ranks: that of the first process of each host, and the others get the next ones, or numbers with commas, which " +
			"the processes take in turn"},
		{Name: "ranks", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(maxRanks),
			Meaning: "processes under MPI with a GPU each, on one host or several; 0: one process without MPI, on one GPU"},
		choice("partition", "", "edges on several GPUs: 1d-dest: those to a GPU's vertices, and every frontier; "+
			"2d: a grid; 1d-source: those from a GPU's vertices, and top-down steps send discovered vertices to their owners",
			"1d-dest", "2d", "1d-source"),
		{Name: "rows", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Divides: "ranks",
			Needs: "partition=2d", Meaning: "rows of the 2d grid; 0: as square as possible"},
		choice("messages", "", "1d-source and 2d: top-down steps send vertices as lists with parents, or as bitmaps and "+
			"fetch parents; adaptive: bitmaps if the frontier has many edges", messages...),
		choice("transfer", "", "what several GPUs send each other: stores over their link, if they are of one host (peer), "+
			"otherwise through host memory and MPI (staged); nccl: through NCCL", "peer", "staged", "nccl"),
		choice("topdown", "ranks=0", "top-down step: edges assigned evenly by prefix sums, or dynamic parallelism: a thread "+
			"for each vertex launches a child grid, and searches take 3 to 5 times as long (H200, scales 22 to 26)",
			"scan", "dynamic"),
		choice("bottomup", "", "bottom-up step: neighbors of 32 consecutive vertices interleaved, or plain CSR",
			"aligned", "csr"),
		number(plugins.Int, "aligned", "100", 100, "bottomup=aligned",
			"per cent of the vertices, hubs first, that get an aligned block"),
		choice("levels", "", "all levels in one cooperative launch, or one launch for each level", "fused", "stepped"),
		number(plugins.Int, "hubs", "0", maxHubs, "",
			"vertices of largest degree that group other vertices; 0 is 1/64 of the vertices, 64 to 262144"),
		number(plugins.Float, "memory", "0", 1<<20, "",
			"device memory that the engine may use, in GiB; 0 is all that the driver reports as free"),
		choice("lists", "", "where neighbor lists are: device memory, pinned host memory, or (auto) the device if they fit",
			"auto", "device", "host"),
		choice("adjacency", "ranks=0", "neighbor lists: plain CSR, compressed (packed: differences of few bits), or (auto) "+
			"packed where CSR does not fit on the device; packing saves half of the memory and costs 9 % of the rate at "+
			"scale 24, 2 % at 28", "auto", "csr", "packed"),
	}, plugins.SwitchOptions("30", "16384")...)
}

var messages = []string{"adaptive", "lists", "bitmaps"} // in the order of ADAPTIVE, LISTS and BITMAPS

// configuration is the options' values.
type configuration struct {
	plugins.Settings
	devices []int // several: the processes of a host take them in turn
	ranks   int   // of all processes
	rows    int   // of their grid
}

func configure(set plugins.Settings) (c configuration, err error) {
	c = configuration{Settings: set, ranks: max(set.Int("ranks"), 1)}
	if c.devices, err = devices(set.Text("device")); err != nil {
		return c, err
	}
	if set.Int("ranks") == 0 && len(c.devices) > 1 {
		return c, plugins.OptionError("option device=%s is for several processes: set ranks", set.Text("device"))
	}
	c.rows = gridRows(set.Text("partition"), set.Int("rows"), c.ranks)
	if c.rows < c.ranks && set.Text("messages") == "bitmaps" && set.Text("transfer") != "peer" {
		err = plugins.OptionError("option messages=bitmaps on a grid needs transfer=peer, by which owners fetch parents; " +
			"set messages=lists")
	}
	return c, err
}

// process returns the configuration of the process with the given place among those of its host, one of several.
func (c configuration) process(place int) configuration {
	if len(c.devices) == 1 {
		c.devices = []int{c.devices[0] + place}
	} else {
		c.devices = []int{c.devices[place%len(c.devices)]}
	}
	return c
}

// memory is the limit on device memory in bytes; 0: all that is free.
func (c configuration) memory() int64 { return int64(c.Float("memory") * (1 << 30)) }

// gridRows returns how many rows the grid of a partition has, where rows is the option.
func gridRows(partition string, rows, ranks int) int {
	switch {
	case partition == "1d-source":
		return 1
	case partition != "2d":
		return ranks
	case rows == 0:
		columns := int(math.Sqrt(float64(ranks)))
		for ranks%columns != 0 {
			columns--
		}
		return ranks / columns
	}
	return rows
}

// devices returns the numbers of option device.
func devices(numbers string) (all []int, err error) {
	for part := range strings.SplitSeq(numbers, ",") {
		n, err := strconv.ParseUint(part, 10, 10)
		if err != nil || len(all) == maxRanks {
			return nil, plugins.OptionError("option device=%q: want the number of a GPU, or at most %d with commas", numbers,
				maxRanks)
		}
		all = append(all, int(n))
	}
	return all, nil
}

const (
	maxHubs  = 1 << 20
	hubShare = 64 // 1/hubShare of the vertices are hubs
)

// hubCount returns how many hubs a graph with the given number of vertices has.
func (c configuration) hubCount(vertices int64) int64 {
	if hubs := int64(c.Int("hubs")); hubs > 0 {
		return min(hubs, vertices)
	}
	return min(max(vertices/hubShare&^31, 64), 1<<18, vertices)
}
