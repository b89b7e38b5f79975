// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math"
	"strconv"
	"strings"
	"time"

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
		number(plugins.Int, "device", "0", 1023, "", "number of the GPU, or of the first one, as the driver counts them"),
		{Name: "gpus", Kind: plugins.Text, Default: "1", Meaning: "GPUs that search together: how many, or their numbers " +
			"with commas; a number that occurs twice makes two ranks on that GPU; with ranks: the GPUs of each host, which " +
			"its processes take in turn, or 1: the next one each"},
		{Name: "ranks", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Max: plugins.Bound(maxRanks),
			Meaning: "number of processes under MPI with a GPU each, on one host or several; 0: one process has all GPUs"},
		choice("partition", "", "edges on several GPUs: 1d-dest: those to a GPU's vertices, and every frontier; "+
			"2d: a grid; 1d-source: those from a GPU's vertices, and top-down steps send discovered vertices to their owners",
			"1d-dest", "2d", "1d-source"),
		{Name: "rows", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Needs: "partition=2d",
			Meaning: "rows of the 2d grid, a divisor of the number of GPUs; 0: as square as possible"},
		choice("messages", "", "1d-source and 2d: top-down steps send vertices as lists with parents, or as bitmaps and "+
			"fetch parents; adaptive: bitmaps if the frontier has many edges", messages...),
		choice("transfer", "", "what several GPUs send each other: stores over their link, or (staged) through host memory, "+
			"between processes by MPI; without a link it is staged; nccl: between processes through NCCL", "peer", "staged",
			"nccl"),
		choice("topdown", "gpus=1", "top-down step: edges assigned evenly by prefix sums, or dynamic parallelism: a thread "+
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
		choice("adjacency", "gpus=1", "neighbor lists: plain CSR, compressed (packed: differences of few bits), or (auto) "+
			"packed where CSR does not fit on the device; packing saves half of the memory and costs 9 % of the rate at "+
			"scale 24, 2 % at 28", "auto", "csr", "packed"),
	}, plugins.SwitchOptions("30", "16384")...)
}

var messages = []string{"adaptive", "lists", "bitmaps"} // in the order of ADAPTIVE, LISTS and BITMAPS

// configuration is the options' values.
type configuration struct {
	plugins.Settings
	devices  []int         // one for each rank of this process; with several processes first those of the host
	ranks    int           // of all processes
	rows     int           // of their grid
	patience time.Duration // of a GPU that waits for another one; their shares of a level differ far less
}

func configure(set plugins.Settings) (c configuration, err error) {
	c = configuration{Settings: set, patience: 10 * time.Second, ranks: set.Int("ranks")}
	if c.devices, err = devices(set.Text("gpus"), set.Int("device")); err != nil {
		return c, err
	}
	switch processes := c.ranks > 0; {
	case !processes && set.Text("transfer") == "nccl":
		return c, plugins.OptionError("option transfer=nccl is for several processes: set ranks")
	case processes && set.Text("topdown") == "dynamic", processes && set.Text("adjacency") == "packed":
		return c, plugins.OptionError("options topdown=dynamic and adjacency=packed are for one GPU: leave out ranks")
	case !processes:
		c.ranks = len(c.devices)
	}
	c.rows, err = gridRows(set.Text("partition"), set.Int("rows"), c.ranks)
	if err == nil && set.Int("ranks") > 0 && c.rows < c.ranks && set.Text("messages") == "bitmaps" &&
		set.Text("transfer") != "peer" {
		err = plugins.OptionError("option messages=bitmaps between processes needs transfer=peer, by which owners fetch " +
			"parents; set messages=lists")
	}
	return c, err
}

// memory is the limit on device memory in bytes; 0: all that is free.
func (c configuration) memory() int64 { return int64(c.Float("memory") * (1 << 30)) }

// gridRows returns how many rows the grid of a partition has, where rows is the option.
func gridRows(partition string, rows, gpus int) (int, error) {
	switch {
	case partition == "1d-source":
		return 1, nil
	case partition != "2d":
		return gpus, nil
	case rows == 0:
		columns := int(math.Sqrt(float64(gpus)))
		for gpus%columns != 0 {
			columns--
		}
		return gpus / columns, nil
	case gpus%rows != 0:
		return 0, plugins.OptionError("option rows=%d: want a divisor of the number of GPUs, %d", rows, gpus)
	}
	return rows, nil
}

// devices returns the numbers of the GPUs that option gpus means, where first is that of a single one.
func devices(gpus string, first int) (all []int, err error) {
	parts := strings.Split(gpus, ",")
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 10)
		if err != nil || len(parts) > maxRanks || len(parts) == 1 && (n == 0 || n > maxRanks) {
			return nil, plugins.OptionError("option gpus=%q: want a number of GPUs from 1 to %d, or their numbers with commas",
				gpus, maxRanks)
		}
		all = append(all, int(n))
	}
	if len(parts) == 1 {
		n := all[0]
		all = all[:0]
		for i := range n {
			all = append(all, first+i)
		}
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
