// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// partnered is a group that records to which ranks its member sends messages between two reductions, which end a level.
type partnered struct {
	comm.Group
	world []int // world ranks of the members
	*partners
}

// partners is the record of one rank.
type partners struct {
	level map[int]bool // ranks that it has sent to in this level
	max   int          // number of them in a level
}

func (p *partnered) Split(color, key int) comm.Group {
	part := &partnered{Group: p.Group.Split(color, key), partners: p.partners}
	for _, message := range comm.Allgather(part.Group, []uint32{uint32(p.world[p.Rank()])}) {
		part.world = append(part.world, int(message[0]))
	}
	return part
}

func (p *partnered) Alltoallv(send, receive [][]uint32, sums, minima []int64) {
	for k, message := range send {
		if k != p.Rank() && len(message) > 0 {
			p.level[p.world[k]] = true
		}
	}
	p.max = max(p.max, len(p.level))
	p.Group.Alltoallv(send, receive, sums, minima)
	if send == nil || sums != nil {
		clear(p.level)
	}
}

// In two dimensions a rank sends messages to (R-1)+(C-1) others in a level, in one dimension to P-1.
func TestRanksExchangeMessagesWithinTheirGridRowAndColumn(t *testing.T) {
	tuples := kronecker(t, 10, 16)
	for _, c := range []distributed.Configuration{
		{Grid: distributed.Grid{R: 4, C: 4}}, {Grid: distributed.Grid{R: 2, C: 8}}, {Grid: distributed.Grid{R: 5, C: 3}},
		{Grid: distributed.Grid{R: 4, C: 4}, Prefix: true}, // through the last rank of a grid row, which sends to all others
		{Grid: distributed.Grid{R: 7, C: 1}}, {Grid: distributed.Grid{R: 1, C: 7}},
		{Grid: distributed.Grid{R: 16, C: 1}, OneD: true}, {Grid: distributed.Grid{R: 7, C: 1}, OneD: true},
	} {
		c.Threads = 1
		for _, alpha := range []float64{0, 15} {
			c.Rule = graph.Switch{Alpha: alpha, Beta: 64}
			size, want := c.Grid.Ranks(), c.Grid.R-1+c.Grid.C-1
			if c.OneD {
				want = size - 1
			}
			worlds, records, members := comm.NewLocal(size, 1), make([]*partners, size), []int{}
			for k := range size {
				members, records[k] = append(members, k), &partners{level: map[int]bool{}}
			}
			for k, world := range worlds {
				worlds[k] = &partnered{world, members, records[k]}
			}
			teams, parent := team.NewTeams(size), make([]graph.Vertex, 1<<10)
			if err := checks.OnAll(worlds, func(world comm.Group) error {
				k := world.Rank()
				rank, _, err := distributed.NewRank(t.Context(), world, c, teams,
					plugins.Input{Tuples: tuples[len(tuples)*k/size : len(tuples)*(k+1)/size]})
				if err != nil {
					return err
				}
				records[k].max = 0 // in kernel 1 all exchange messages
				clear(records[k].level)
				_, first, stride := rank.Partition.Slots(k)
				_, err = rank.Search(t.Context(), 1, parent, first, stride)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			largest := 0
			for _, record := range records {
				largest = max(largest, record.max)
			}
			if largest != want {
				t.Errorf("%+v: a rank sent messages to %d others in a level, want %d", c, largest, want)
			}
		}
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
			_, err = rank.Search(ctx, 1, parent, first, stride)
			return err
		})
		if ended = err != nil; ended && (!errors.Is(err, context.Canceled) || !errors.Is(err, distributed.ErrOtherRank)) {
			t.Fatalf("after %d looks: got %v, want one rank canceled and the other stopped", looks, err)
		}
	}
}
