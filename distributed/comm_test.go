// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

var (
	flagRanks   = flag.Int("distributed.ranks", 64, "most ranks whose messages are counted, and printed with -v")
	flagCounted = flag.Int("distributed.counted", 14, "scale of the graph whose messages are counted")
)

// sentInLevels searches with in-process ranks, and returns the most messages and bytes that a rank sent in a level, and
// the means of ranks and levels.
func sentInLevels(t *testing.T, c distributed.Configuration, tuples []graph.Edge, root graph.Vertex) (
	largest, mean comm.Traffic) {
	t.Helper()
	size, levels := c.Grid.Ranks(), int64(0)
	teams, records := team.NewTeams(size), make([]*distributed.Record, size)
	parent := make([]graph.Vertex, 1<<*flagCounted)
	if err := checks.OnAll(comm.NewLocal(size, 1), func(world comm.Group) error {
		k := world.Rank()
		rank, _, err := distributed.NewRank(t.Context(), world, c, teams,
			plugins.Input{Tuples: tuples[len(tuples)*k/size : len(tuples)*(k+1)/size]})
		if err != nil {
			return err
		}
		defer rank.Free()
		_, first, stride := rank.Partition.Slots(k)
		records[k], err = rank.Search(t.Context(), root, plugins.Output{Parent: parent}, first, stride)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		for _, level := range record.Levels {
			var sum comm.Traffic
			for _, m := range level.Phases {
				sum.Messages, sum.Bytes = sum.Messages+m.Messages, sum.Bytes+m.Bytes
			}
			largest.Messages, largest.Bytes = max(largest.Messages, sum.Messages), max(largest.Bytes, sum.Bytes)
			mean.Messages, mean.Bytes, levels = mean.Messages+sum.Messages, mean.Bytes+sum.Bytes, levels+1
		}
	}
	return largest, comm.Traffic{Messages: mean.Messages / levels, Bytes: mean.Bytes / levels}
}

// A rank sends messages to ranks that own vertices it has discovered or, on paths, that own a neighbor of a vertex. All
// else takes some steps in which the ranks that know something double.
func TestMessagesOfALevelAreLogarithmic(t *testing.T) {
	var path []graph.Edge
	for v := graph.Vertex(1); v < 600; v++ {
		path = append(path, graph.MakeEdge(v-1, v))
	}
	dense := kronecker(t, *flagCounted, 16)
	const steps = 4 // exchanges and reductions of a level, with those after the last one
	for ranks := 1; ranks <= *flagRanks; ranks *= 4 {
		square := distributed.SquareGrid(ranks)
		for _, set := range []struct {
			name             string
			c                distributed.Configuration
			partners, onPath int
		}{
			{"1d-dest", distributed.Configuration{Grid: distributed.Grid{R: ranks, C: 1}}, 0, 2},
			{"2d", distributed.Configuration{Grid: square}, square.C - 1, square.C - 1},
			{"2d, prefix", distributed.Configuration{Grid: square, Prefix: true}, 0, 0},
			{"1d-source", distributed.Configuration{Grid: distributed.Grid{R: ranks, C: 1}, OneD: true}, ranks - 1, 2},
		} {
			t.Run(fmt.Sprintf("%d %s", ranks, set.name), func(t *testing.T) {
				set.c.Threads, set.c.Form, set.c.Rule = 1, "adaptive", graph.Switch{Alpha: 15, Beta: 16384}
				count := func(name string, tuples []graph.Edge, root graph.Vertex, partners int) {
					largest, mean := sentInLevels(t, set.c, tuples, root)
					t.Logf("%s: in a level a rank sent at most %d messages and %d bytes, mean %d and %d", name,
						largest.Messages, largest.Bytes, mean.Messages, mean.Bytes)
					if want := int64(partners + steps*comm.Steps(ranks)); largest.Messages > want {
						t.Errorf("%s: want at most %d messages", name, want)
					}
				}
				root, _ := dense[0].Ends()
				if count("dense", dense, root, set.partners); ranks <= 16 { // each needs some vertices
					count("path", path, 0, set.onPath)
				}
			})
		}
	}
}

// All ranks of a grid row discover the leaves of the stars, whose centers are in all grid columns. Each leaf is
// assigned to one of them, which sends its parent to the owner.
func TestPrefixAssignsAVertexToOneRank(t *testing.T) {
	const leaves, centers = 900, 64
	var tuples []graph.Edge
	for v := graph.Vertex(0); v < leaves; v++ {
		for center := graph.Vertex(0); center < centers; center++ {
			tuples = append(tuples, graph.MakeEdge(v, leaves+center)) // the search begins at a leaf
		}
	}
	set := optionsOf("ranks=4:partition=2d:rows=1:fold=prefix:owner=modulo:direction=topdown")
	sent := sentBy(searchOnce(t, tuples, set))
	if vertices := sent[distributed.Predecessors].bytes / 8; vertices < leaves/2 || vertices > leaves+centers {
		t.Errorf("parents of %d vertices were sent, want those of most of %d, once", vertices, leaves+centers)
	}
}

// countdown is a context that ends after a number of looks at it.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A context that ends on one rank, at any point of kernel 1 or of a search, stops all ranks.
func TestContextOfOneRankStopsAll(t *testing.T) {
	tuples, parent := kronecker(t, 6, 16), make([]graph.Vertex, 1<<6)
	c := distributed.Configuration{Grid: distributed.Grid{R: 1, C: 2}, Threads: 1, Rule: graph.Switch{Alpha: 15, Beta: 64}}
	step := 1
	if testing.Short() {
		step = 5
	}
	for looks, ended := 0, true; ended; looks += step {
		teams, left := team.NewTeams(2), looks
		err := checks.OnAll(comm.NewLocal(2, 1), func(world comm.Group) error {
			ctx := t.Context()
			if world.Rank() == 0 {
				ctx = countdown{ctx, &left}
			}
			rank, _, err := distributed.NewRank(ctx, world, c, teams, plugins.Input{Tuples: tuples})
			if err != nil {
				return err
			}
			defer rank.Free()
			_, first, stride := rank.Partition.Slots(world.Rank())
			_, err = rank.Search(ctx, 1, plugins.Output{Parent: parent}, first, stride)
			return err
		})
		if ended = err != nil; ended && (!errors.Is(err, context.Canceled) || !errors.Is(err, distributed.ErrOtherRank)) {
			t.Fatalf("after %d looks: got %v, want one rank canceled and the other stopped", looks, err)
		}
	}
}
