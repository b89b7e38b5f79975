// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/distributed/testdata/checks"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
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

var flagUpdate = flag.Bool("distributed.update", false, "write testdata/traffic.golden")

// Messages, bytes and adjacency entries depend only on the graph and the options, so they are compared with a golden
// file: for each search its levels (direction, frontier, entries read) and what each phase has sent. Read a change of
// the file as a change of the method.
func TestTrafficIsThatOfTheGoldenFile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	var path []graph.Edge
	for v := graph.Vertex(1); v < 100; v++ {
		path = append(path, graph.MakeEdge(v-1, v))
	}
	var b strings.Builder
	for _, input := range []struct {
		name   string
		tuples []graph.Edge
		sets   []string
	}{
		{"dense", kronecker(t, 12, 16), []string{
			"ranks=1", "ranks=6", "ranks=6:messages=lists", "ranks=6:messages=bitmaps", "ranks=64",
			"ranks=6:partition=1d-source", "ranks=6:partition=1d-source:messages=lists",
			"ranks=6:partition=1d-source:messages=bitmaps",
			"ranks=64:partition=1d-source", "ranks=6:partition=2d", "ranks=6:partition=2d:messages=lists",
			"ranks=6:partition=2d:messages=bitmaps", "ranks=64:partition=2d", "ranks=5:partition=2d:rows=1",
			"ranks=6:partition=2d:rows=2:fold=prefix", "ranks=6:partition=2d:direction=topdown",
			"ranks=6:partition=2d:direction=topdown:fold=prefix", "ranks=6:partition=2d:direction=bottomup",
			"ranks=16:partition=2d:rows=4", "ranks=16:partition=2d:rows=4:fold=prefix",
			"ranks=6:direction=topdown", "ranks=6:direction=bottomup", "ranks=3:partition=1d-source:direction=topdown",
			"ranks=3:partition=1d-source:direction=bottomup:owner=modulo", "ranks=4:owner=modulo",
		}},
		{"sparse", kronecker(t, 12, 1), []string{"ranks=4", "ranks=4:partition=1d-source", "ranks=4:partition=2d"}},
		{"path", path, []string{"ranks=3", "ranks=3:partition=1d-source", "ranks=4:partition=2d"}},
	} {
		for _, set := range input.sets {
			found := searchOnce(t, input.tuples, optionsOf(set))
			fmt.Fprintf(&b, "%s %s\n", input.name, set)
			for _, l := range found.Levels[:min(len(found.Levels), 9)] {
				fmt.Fprintf(&b, "  %v %d %d\n", l.Direction, l.Frontier, number(l.Edges))
			}
			sent := sentBy(found)
			for _, phase := range []distributed.Phase{distributed.Expand, distributed.Fold, distributed.Predecessors} {
				fmt.Fprintf(&b, "  %v: %d messages, %d bytes\n", phase, sent[phase].messages, sent[phase].bytes)
			}
		}
	}
	const file = "testdata/traffic.golden"
	if *flagUpdate {
		must.Do(os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// optionsOf reads options from text such as ranks=4:partition=2d; words without a value are left out.
func optionsOf(text string) map[string]string {
	options := map[string]string{}
	for pair := range strings.SplitSeq(text, ":") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			options[name] = value
		}
	}
	return options
}

// searchOnce searches from the first end of the first tuple.
func searchOnce(t *testing.T, tuples []graph.Edge, options map[string]string) plugins.Traversal {
	t.Helper()
	e := open(t, tuples, options)
	defer e.Close()
	vertices := graph.Vertex(0)
	for _, tuple := range tuples {
		u, v := tuple.Ends()
		vertices = max(vertices, u+1, v+1)
	}
	root, _ := tuples[0].Ends()
	found := must.Get(e.Search(t.Context(), root, plugins.Output{Parent: make([]graph.Vertex, vertices)}))
	return found
}

// traffic is what all ranks have sent in a phase.
type traffic struct{ messages, bytes int64 }

func sentBy(found plugins.Traversal) map[distributed.Phase]traffic {
	sent := map[distributed.Phase]traffic{}
	for _, rank := range found.Ranks {
		for p, phase := range rank.Phases {
			if phase.Elapsed < 0 {
				panic(phase)
			}
			sum := sent[distributed.Phase(p)]
			sum.messages, sum.bytes = sum.messages+number(phase.Messages), sum.bytes+number(phase.Bytes)
			sent[distributed.Phase(p)] = sum
		}
	}
	return sent
}

func number(c plugins.Count) int64 { n, _ := c.Get(); return n }

// The messages and bytes of phases, levels and ranks add up.
func TestRecordsAddUp(t *testing.T) {
	tuples := kronecker(t, 12, 16)
	for _, options := range []map[string]string{
		{"ranks": "6", "partition": "2d"}, {"ranks": "5", "partition": "1d-source"}, {"ranks": "3"},
	} {
		got := searchOnce(t, tuples, options)
		sum := func(phases []plugins.Phase) (all traffic) {
			for _, p := range phases {
				all.messages, all.bytes = all.messages+number(p.Messages), all.bytes+number(p.Bytes)
				if p.Slowest < p.Elapsed || p.Elapsed < 0 {
					t.Errorf("%s: slowest %v, mean %v", p.Name, p.Slowest, p.Elapsed)
				}
			}
			return all
		}
		byLevel, byRank := sum(got.Phases), traffic{}
		for k, level := range got.Levels {
			phases := sum(level.Phases)
			if want := (traffic{number(level.Messages), number(level.Bytes)}); phases != want {
				t.Errorf("level %d: phases add up to %v, want %v", k, phases, want)
			}
			byLevel.messages, byLevel.bytes = byLevel.messages+phases.messages, byLevel.bytes+phases.bytes
		}
		for _, sent := range sentBy(got) {
			byRank.messages, byRank.bytes = byRank.messages+sent.messages, byRank.bytes+sent.bytes
		}
		if byLevel != byRank || byLevel.messages == 0 {
			t.Errorf("%v: levels sent %v, ranks %v", options, byLevel, byRank)
		}
	}
}

func TestConstructRefuses(t *testing.T) {
	e := distributed.New()
	defer e.Close()
	options := func(partition, ranks, rows string) plugins.Input {
		return plugins.Input{Options: map[string]string{"partition": partition, "ranks": ranks, "rows": rows}}
	}
	for _, c := range []struct {
		want string
		in   plugins.Input
		is   error
	}{
		{"rows=4 does not divide ranks=6", options("2d", "6", "4"), plugins.ErrOption},
		{"rows=2 needs partition=2d", options("1d-source", "4", "2"), plugins.ErrOption},
		{"use fewer ranks or a smaller graph",
			plugins.Input{Options: map[string]string{"ranks": "4096", "threads": "1024"}}, plugins.ErrMemory},
		{"use more ranks, or relabel", plugins.Input{Tuples: []graph.Edge{graph.MakeEdge(1, 1<<40)}}, plugins.ErrTuples},
	} {
		if _, err := e.Construct(t.Context(), c.in); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q of %v", err, c.want, c.is)
		}
	}
}
