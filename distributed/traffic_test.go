// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

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

// The leaves of a star are the group of its center, except for those that count as hubs themselves: 32 of each rank.
// All ranks of a grid row know that the center discovers its group, so only the others are sent and asked for.
func TestVerticesOfGroupsAreNotSent(t *testing.T) {
	const vertices, center, ranks, hubsPerRank = 4000, 5, 4, 32
	var tuples []graph.Edge
	for v := range graph.Vertex(vertices) {
		if v != center {
			tuples = append(tuples, graph.MakeEdge(center, v))
		}
	}
	e := open(t, tuples, map[string]string{"ranks": "4", "partition": "2d", "messages": "lists", "direction": "bottomup"})
	defer e.Close()
	parent := make([]graph.Vertex, vertices)
	found := must.Get(e.Search(t.Context(), center, plugins.Output{Parent: parent}))
	for v, p := range parent {
		if p != center {
			t.Fatalf("vertex %d: got parent %d, want the center %d", v, p, center)
		}
	}
	words := func(phase distributed.Phase) int64 { return sentBy(found)[phase].bytes / 4 }
	fold, asked := words(distributed.Fold), words(distributed.Predecessors)
	if fold == 0 || fold > ranks*hubsPerRank {
		t.Errorf("%d vertices were sent to their owners, want some and at most %d", fold, ranks*hubsPerRank)
	}
	if asked > 2*fold { // asked for, and answered
		t.Errorf("%d words were sent for predecessors of %d vertices", asked, fold)
	}
}
