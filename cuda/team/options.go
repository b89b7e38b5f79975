// SPDX-License-Identifier: Apache-2.0

package team

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/plugins"
)

// Choice makes an option. The first choice is the default.
func Choice(name, needs, meaning string, choices ...string) plugins.Option {
	return plugins.Option{Name: name, Kind: plugins.Choice, Default: choices[0], Choices: choices, Needs: needs,
		Meaning: meaning}
}

// Number makes an option with bounds.
func Number(kind plugins.Kind, name, value string, low, high float64, needs, meaning string) plugins.Option {
	return plugins.Option{Name: name, Kind: kind, Default: value, Min: plugins.Bound(low), Max: plugins.Bound(high),
		Needs: needs, Meaning: meaning}
}

// Options are those of engines of several processes: device, ranks and transfer, which need what needs says, and the
// grid of a partition.
func Options(needs string, partition plugins.Option) []plugins.Option {
	return []plugins.Option{
		{Name: "device", Kind: plugins.Text, Default: "0", Meaning: "number of the GPU, as the driver counts them; with " +
			"ranks: that of the first process of each host, and the others get the next ones, or numbers with commas, which " +
			"the processes take in turn"},
		Number(plugins.Int, "ranks", "0", 0, MaxRanks, needs,
			"processes under MPI with a GPU each, on one host or several; 0: one process without MPI, on one GPU"),
		partition,
		{Name: "rows", Kind: plugins.Int, Default: "0", Min: plugins.Bound(0), Divides: "ranks",
			Needs: "partition=2d", Meaning: "rows of the 2d grid; 0: as square as possible"},
		Choice("transfer", needs, "what several GPUs send each other: stores over their link, if they are of one host "+
			"(peer), otherwise through host memory and MPI (staged); nccl: through NCCL", "peer", "staged", "nccl"),
	}
}

// Grid is the GPUs that search a graph.
type Grid struct {
	Devices []int // several: the processes of a host take them in turn
	Ranks   int   // of all processes
	Rows    int   // of their grid
}

// NewGrid returns what the options say.
func NewGrid(set plugins.Settings) (g Grid, err error) {
	g.Ranks = max(set.Int("ranks"), 1)
	if g.Devices, err = devices(set.Text("device")); err != nil {
		return g, err
	}
	if set.Int("ranks") == 0 && len(g.Devices) > 1 {
		return g, plugins.OptionError("option device=%s is for several processes: set ranks", set.Text("device"))
	}
	g.Rows = gridRows(set.Text("partition"), set.Int("rows"), g.Ranks)
	return g, nil
}

// Device returns the number of the GPU of the process with the given place among those of its host.
func (g Grid) Device(place int) int {
	if len(g.Devices) == 1 {
		return g.Devices[0] + place
	}
	return g.Devices[place%len(g.Devices)]
}

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
		if err != nil || len(all) == MaxRanks {
			return nil, plugins.OptionError("option device=%q: want the number of a GPU, or at most %d with commas", numbers,
				MaxRanks)
		}
		all = append(all, int(n))
	}
	return all, nil
}

// Partition describes the grid for the record.
func (g Grid) Partition() string {
	switch g.Rows {
	case g.Ranks:
		return "1D, edges by destination; every GPU gets every frontier"
	case 1:
		return "1D, edges by source; top-down steps send discovered vertices to their owners"
	}
	return fmt.Sprintf("2D, grid of %dx%d; bottom-up steps as in 1D", g.Rows, g.Ranks/g.Rows)
}
