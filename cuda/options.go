// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"slices"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/plugins"
)

func options() []plugins.Option {
	choice := team.Choice
	grid := team.Options("", choice("partition", "", "edges on several GPUs: 1d-dest: those to a GPU's vertices, and "+
		"every frontier; 2d: a grid; 1d-source: those from a GPU's vertices, and top-down steps send discovered vertices to "+
		"their owners", "1d-dest", "2d", "1d-source"))
	return slices.Concat(grid, []plugins.Option{
		choice("messages", "", "1d-source and 2d: top-down steps send vertices as lists with parents, or as bitmaps and "+
			"fetch parents; adaptive: bitmaps if the frontier has many edges", messages...),
		choice("topdown", "ranks=0", "top-down step: edges assigned evenly by prefix sums, or dynamic parallelism: a thread "+
			"for each vertex launches a child grid, and searches take 3 to 5 times as long (H200, scales 22 to 26)",
			"scan", "dynamic"),
		choice("bottomup", "", "bottom-up step: neighbors of 32 consecutive vertices interleaved, or plain CSR",
			"aligned", "csr"),
		team.Number(plugins.Int, "aligned", "100", 0, 100, "bottomup=aligned",
			"per cent of the vertices, hubs first, that get an aligned block"),
		choice("levels", "", "all levels in one cooperative launch, or one launch for each level", "fused", "stepped"),
		team.Number(plugins.Int, "hubs", "0", 0, maxHubs, "",
			"vertices of largest degree that group other vertices; 0 is 1/64 of the vertices, 64 to 262144"),
		team.Number(plugins.Float, "memory", "0", 0, 1<<20, "",
			"device memory that the engine may use, in GiB; 0 is all that the driver reports as free"),
		choice("lists", "", "where neighbor lists are: device memory, pinned host memory, or (auto) the device if they fit",
			"auto", "device", "host"),
		choice("adjacency", "ranks=0", "neighbor lists: plain CSR, compressed (packed: differences of few bits), or (auto) "+
			"packed where CSR does not fit on the device; packing saves half of the memory and costs 9 % of the rate at "+
			"scale 24, 2 % at 28", "auto", "csr", "packed"),
	}, plugins.SwitchOptions("30", "16384"))
}

var messages = []string{"adaptive", "lists", "bitmaps"} // in the order of ADAPTIVE, LISTS and BITMAPS

// configuration is the options' values.
type configuration struct {
	plugins.Settings
	team.Grid
}

func configure(set plugins.Settings) (c configuration, err error) {
	c.Settings = set
	if c.Grid, err = team.NewGrid(set); err != nil {
		return c, err
	}
	if c.Rows < c.Ranks && set.Text("messages") == "bitmaps" && set.Text("transfer") != "peer" {
		err = plugins.OptionError("option messages=bitmaps on a grid needs transfer=peer, by which owners fetch parents; " +
			"set messages=lists")
	}
	return c, err
}

// memory is the limit on device memory in bytes; 0: all that is free.
func (c configuration) memory() int64 { return int64(c.Float("memory") * (1 << 30)) }

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
