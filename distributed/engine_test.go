// SPDX-License-Identifier: Apache-2.0

package distributed_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// combinations returns all partitions of 1 to 16 ranks with every form of messages. Owners, thresholds
// and threads alternate.
func combinations() (sets []map[string]string) {
	for ranks := 1; ranks <= 16; ranks++ {
		for rows := 0; rows <= ranks; rows++ {
			if rows > 0 && ranks%rows != 0 {
				continue
			}
			for _, form := range []string{"adaptive", "lists", "bitmaps"} {
				set := map[string]string{"ranks": strconv.Itoa(ranks), "messages": form}
				if len(sets)%4 == 3 {
					set["threads"] = strconv.Itoa(2 + len(sets)%2)
				}
				if rows == 0 {
					set["partition"] = []string{"1d-source", "1d-dest"}[ranks%2]
				} else {
					set["partition"], set["rows"] = "2d", strconv.Itoa(rows)
					set["fold"] = []string{"alltoall", "prefix"}[len(sets)%7%2]
				}
				if len(sets)%5 > 1 {
					set["direction"] = "auto" // alpha and beta need it
				}
				switch len(sets) % 5 {
				case 1:
					set["owner"] = "modulo"
				case 2:
					set["alpha"] = "0"
				case 3:
					// Long paths are not searched bottom-up, which would take minutes.
					set["alpha"], set["beta"] = "1e9", "4096"
				case 4:
					set["owner"], set["beta"] = "modulo", "0"
				}
				sets = append(sets, set)
			}
		}
	}
	return sets
}

func kronecker(t testing.TB, scale, edgeFactor int) []graph.Edge {
	t.Helper()
	_, tuples := enginetest.Generated(t, fmt.Sprintf("kron:%d:%d", scale, edgeFactor))
	return tuples
}

// open constructs a graph.
func open(t *testing.T, tuples []graph.Edge, options map[string]string) plugins.Engine {
	t.Helper()
	e := distributed.New()
	if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples, Options: options}); err != nil {
		t.Fatalf("%v: %v", options, err)
	}
	return e
}

// oneDirection returns options with which all levels have the same direction, the root's too.
func oneDirection() (sets []map[string]string) {
	for _, direction := range []string{"topdown", "bottomup"} {
		for _, text := range []string{
			"ranks=1", "ranks=3:threads=2", "ranks=4:owner=modulo:messages=bitmaps", "ranks=6:partition=2d",
			"ranks=5:partition=2d:rows=1", "ranks=3:partition=1d-source:threads=2",
			"ranks=4:partition=1d-source:messages=lists", "ranks=9:partition=2d:rows=3:fold=prefix",
			"ranks=16:partition=2d:rows=4:fold=prefix:threads=2:messages=lists",
		} {
			sets = append(sets, optionsOf(text+":direction="+direction))
		}
	}
	return sets
}

// Every partition of 1 to 16 ranks has the oracle's levels and valid parents, and every level has the direction that is
// set. Inputs and forms of messages alternate.
func TestEveryGridHasTheLevelsOfTheOracle(t *testing.T) {
	const scale = 9
	sets := oneDirection()
	for g, forms := range slices.Collect(slices.Chunk(combinations(), 3)) {
		sets = append(sets, forms[g%3])
	}
	for input, tuples := range [][]graph.Edge{kronecker(t, scale, 16), kronecker(t, scale, 1)} { // dense, sparse
		truth := must.Get(enginetest.NewTruth(tuples, 1<<scale))
		for k, set := range sets {
			if k%2 != input || testing.Short() && k/2%3 != 0 {
				continue
			}
			e := open(t, tuples, set)
			for _, root := range []graph.Vertex{0, 77, 1<<scale - 1} {
				found, err := truth.Search(t.Context(), root, e.Search)
				if err != nil {
					t.Errorf("input %d, %v, root %d: %v", input, set, root, err)
				}
				for k, l := range found.Levels {
					want := set["direction"]
					if got := strings.ReplaceAll(l.Direction.String(), "-", ""); want != "" && want != "auto" && got != want {
						t.Errorf("input %d, %v, root %d: level %d is %v", input, set, root, k, got)
					}
				}
			}
			e.Close()
		}
	}
}

// Labels above the border of 32 bits, which the build tag border20 moves to 2^20, have two halves in blocks of labels,
// in messages of predecessors, in the output's template and in its corrections.
func TestLabelsOnBothSidesOfTheBorder(t *testing.T) {
	tuples := onBothSides(t)
	truth := must.Get(enginetest.NewTruth(tuples, bothSides))
	for _, text := range []string{
		"ranks=4", "ranks=3:owner=modulo:messages=lists", "ranks=6:partition=2d:threads=2:owner=modulo",
		"ranks=6:partition=2d:rows=2:fold=prefix:owner=modulo:direction=topdown", "ranks=5:partition=1d-source",
		"ranks=4:partition=2d:rows=2:fold=prefix:direction=bottomup",
	} {
		e := open(t, tuples, optionsOf(text))
		u, v := tuples[len(tuples)-1].Ends()
		for _, root := range []graph.Vertex{u, v} {
			if _, err := truth.Search(t.Context(), root, e.Search); err != nil {
				t.Errorf("%s, root %d: %v", text, root, err)
			}
		}
		e.Close()
	}
}

const bothSides = 1<<20 + 1<<18 // labels of onBothSides

// onBothSides returns a graph with a fifth of its labels above the border.
func onBothSides(t *testing.T) []graph.Edge {
	const scale, labels = 9, bothSides
	tuples := slices.Clone(kronecker(t, scale, 16))
	for k, e := range tuples {
		u, v := e.Ends()
		tuples[k] = graph.MakeEdge(u*(labels/(1<<scale)), v*(labels/(1<<scale))+3*(u&1)*(v&1))
	}
	return tuples
}

// A search with more levels than are recorded reports none, but all messages.
func TestVeryDeepSearchReportsNoLevels(t *testing.T) {
	const maxLevels = 1 << 12
	for _, c := range []struct{ vertices, levels int }{{maxLevels, maxLevels}, {maxLevels + 1, 0}} {
		var tuples []graph.Edge
		for v := range graph.Vertex(c.vertices - 1) {
			tuples = append(tuples, graph.MakeEdge(v, v+1))
		}
		e := open(t, tuples, map[string]string{"ranks": "2", "beta": "1e9"})
		defer e.Close()
		parent := make([]graph.Vertex, c.vertices)
		got := must.Get(e.Search(t.Context(), 0, plugins.Output{Parent: parent}))
		if len(got.Levels) != c.levels {
			t.Errorf("path of %d vertices: got %d levels, want %d", c.vertices, len(got.Levels), c.levels)
		}
		var messages int64
		for _, sent := range sentBy(got) {
			messages += sent.messages
		}
		// The two ranks share one edge, and send its ends to each other. In every level, and once more, they add up counts.
		if want := int64(2 + 2*(c.vertices+1)); messages != want {
			t.Errorf("path of %d vertices: got %d messages, want %d", c.vertices, messages, want)
		}
	}
}

// The whole suite with the defaults, the quick cases that depend on the partition on a grid, and searches of every
// second graph with sets that have every value of every option.
func TestConformance(t *testing.T) {
	opener := func(context.Context) (plugins.Engine, error) { return distributed.New(), nil }
	if !testing.Short() {
		enginetest.Test(t, opener) // the defaults, and each option alone
	}
	for k, set := range []string{
		"ranks=4:partition=2d:rows=2", "ranks=3:partition=1d-dest:threads=2:messages=lists",
		"ranks=6:partition=2d:rows=2:owner=modulo:messages=lists:direction=auto:alpha=0",
		"ranks=6:partition=2d:rows=2:fold=prefix",
		"ranks=4:partition=2d:fold=prefix:messages=lists:direction=topdown",
		"ranks=3:partition=1d-source:owner=modulo:threads=2:messages=bitmaps:direction=auto:beta=1e9",
	} {
		t.Run(set, func(t *testing.T) {
			grid, kinds := k == 0 && !testing.Short(), []string{"graph", "search"}
			if grid {
				kinds = append(kinds, "cancel", "construct", "paths", "report")
			}
			for i, c := range enginetest.Cases() {
				kind, name, _ := strings.Cut(c.Name, "/")
				slow := []string{"path-deeper", "far", "kronecker-15", "high-labels",
					"path-deep", "kronecker-10-dense", "grid", "tree"}
				if !testing.Short() {
					slow = slow[:4]
				}
				if slices.Contains(slow, name) || !slices.Contains(kinds, kind) || !grid && (i+k)%2 != 0 {
					continue
				}
				if o := c.Run(t.Context(), opener, optionsOf(set), enginetest.Limit); o.Err != nil {
					t.Errorf("%v\nThe case: %s", o.Err, c.About)
				}
			}
		})
	}
}
