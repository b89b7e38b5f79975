package distributed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// combinations are all cuts of 1 to 16 ranks with every form of messages and both kinds of predecessors; owners and
// thresholds take turns.
func combinations() (sets []map[string]string) {
	for ranks := 1; ranks <= 16; ranks++ {
		for rows := 0; rows <= ranks; rows++ {
			if rows > 0 && ranks%rows != 0 {
				continue
			}
			for _, form := range []string{"adaptive", "lists", "bitmaps"} {
				for _, predecessors := range []string{"late", "early"} {
					set := map[string]string{optionRanks: strconv.Itoa(ranks), optionMessages: form, optionPredecessors: predecessors}
					if rows == 0 {
						set[optionPartition] = "1d"
					} else {
						set[optionRows] = strconv.Itoa(rows)
					}
					switch len(sets) % 5 {
					case 1:
						set[optionOwner] = "modulo"
					case 2:
						set[optionAlpha] = "0"
					case 3:
						set[optionAlpha], set[optionBeta] = "1e9", "4096" // a long path is not searched bottom-up, which takes minutes
					case 4:
						set[optionOwner], set[optionBeta] = "modulo", "0"
					}
					sets = append(sets, set)
				}
			}
		}
	}
	return sets
}

func kronecker(t testing.TB, scale, edgeFactor int) []graph.Edge {
	t.Helper()
	k := graph.Kronecker{Scale: scale, EdgeFactor: edgeFactor, Seed1: 2, Seed2: 3}
	tuples := make([]graph.Edge, k.Tuples())
	if err := k.Generate(t.Context(), tuples, 0, 0); err != nil {
		t.Fatal(err)
	}
	return tuples
}

// Every cut of 1 to 16 ranks gives the oracle's levels and valid parents, with every form of messages and both kinds of
// predecessors.
func TestEveryGridFindsTheLevelsOfTheOracle(t *testing.T) {
	const scale = 9
	inputs := map[string][]graph.Edge{"dense": kronecker(t, scale, 16), "sparse": kronecker(t, scale, 1)}
	for name, tuples := range inputs {
		csr, err := graph.NewCSR(tuples, 1<<scale)
		if err != nil {
			t.Fatal(err)
		}
		roots := []graph.Vertex{0, 1, 77, 1<<scale - 1}
		var oracle [][]int64
		for _, root := range roots {
			_, level, err := csr.Search(root)
			if err != nil {
				t.Fatal(err)
			}
			oracle = append(oracle, level)
		}
		for k, set := range combinations() {
			if testing.Short() && k%6 != k/6%6 {
				continue // every cut once, forms and predecessors in turn
			}
			e := New()
			if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: tuples, Options: set}); err != nil {
				t.Fatalf("%s, %v: %v", name, set, err)
			}
			for i, root := range roots {
				if err := checkSearchFrom(t, e, csr, tuples, root, oracle[i]); err != nil {
					t.Errorf("%s, %v, root %d: %v", name, set, root, err)
				}
			}
			e.Close()
		}
	}
}

func checkSearchFrom(t *testing.T, e plugins.Engine, csr *graph.CSR, tuples []graph.Edge, root graph.Vertex, want []int64) error {
	t.Helper()
	parent := slices.Repeat([]graph.Vertex{graph.Unwritten}, len(want))
	traversal, err := e.Search(t.Context(), root, parent)
	if err != nil {
		return err
	}
	sizes := map[int64]int64{}
	for v, level := range want {
		p := parent[v]
		switch {
		case level < 0 && p != graph.Unreached:
			return fmt.Errorf("vertex %d is unreached, and has the parent %d", v, p)
		case level == 0 && p != root:
			return fmt.Errorf("the root has the parent %d", p)
		case level > 0 && (p < 0 || want[p] != level-1 || !slices.Contains(csr.Neighbours(graph.Vertex(v)), p)):
			return fmt.Errorf("vertex %d of level %d has the parent %d", v, level, p)
		}
		sizes[level]++
	}
	for k, level := range traversal.Levels {
		if level.Frontier != sizes[int64(k)] {
			return fmt.Errorf("level %d has %d vertices, the search says %d", k, sizes[int64(k)], level.Frontier)
		}
	}
	return nil
}

// With many ranks and few labels the last ranks own none, wherever the array of parents ends.
func TestRanksMayOwnNothing(t *testing.T) {
	for _, c := range []struct{ scale, ranks int }{{1, 4}, {2, 16}, {6, 60}, {6, 128}, {10, 48}} {
		tuples := kronecker(t, c.scale, 16)
		csr, err := graph.NewCSR(tuples, 1<<c.scale)
		if err != nil {
			t.Fatal(err)
		}
		validator, err := graph.NewValidator(tuples, 1<<c.scale, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []map[string]string{{}, {optionPartition: "1d"}, {optionOwner: "modulo"}, {optionPredecessors: "early"}} {
			set := maps.Clone(more)
			set[optionRanks] = strconv.Itoa(c.ranks)
			e := New()
			if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: tuples, Options: set}); err != nil {
				t.Fatal(err)
			}
			for _, root := range []graph.Vertex{0, 1, 1<<c.scale - 1} {
				parent := make([]graph.Vertex, 1<<c.scale)
				if _, err := e.Search(t.Context(), root, parent); err != nil {
					t.Fatal(err)
				}
				if _, err := validator.Validate(t.Context(), root, parent); err != nil {
					t.Errorf("scale %d, %v, root %d: %v", c.scale, set, root, err)
				}
				_, level, _ := csr.Search(root)
				for v, p := range parent {
					if (p >= 0) != (level[v] >= 0) {
						t.Errorf("scale %d, %v, root %d: parent of %d is %d, its level %d", c.scale, set, root, v, p, level[v])
					}
				}
			}
			e.Close()
		}
	}
}

// The records of a very deep search are bounded: none of its levels are told, and all of its phases.
func TestASearchOfVeryManyLevelsReportsNone(t *testing.T) {
	for _, c := range []struct{ vertices, levels int }{{mostLevels, mostLevels}, {mostLevels + 1, 0}, {mostLevels + 100, 0}} {
		var tuples []graph.Edge
		for v := range graph.Vertex(c.vertices - 1) {
			tuples = append(tuples, graph.MakeEdge(v, v+1))
		}
		e := New()
		defer e.Close()
		if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: tuples, Options: map[string]string{optionRanks: "2", optionBeta: "1e9"}}); err != nil {
			t.Fatal(err)
		}
		parent := make([]graph.Vertex, c.vertices)
		found, err := e.Search(t.Context(), 0, parent)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Levels) != c.levels {
			t.Errorf("a path of %d vertices: %d levels, want %d", c.vertices, len(found.Levels), c.levels)
		}
		var messages int64
		for _, rank := range found.Ranks {
			for _, phase := range rank.Phases {
				if n, known := phase.Messages.Get(); known {
					messages += n
				}
			}
		}
		if messages < 2*int64(c.vertices) { // each rank tells the other of each level
			t.Errorf("a path of %d vertices: %d messages", c.vertices, messages)
		}
	}
}

// Kernel 1 ends with its context wherever it is, on all ranks, and the engine is as good as new then.
func TestKernel1CanBeCancelledAnywhere(t *testing.T) {
	const scale = 14
	tuples := kronecker(t, scale, 16)
	validator, err := graph.NewValidator(tuples, 1<<scale, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []map[string]string{{optionRanks: "4"}, {optionRanks: "3", optionPartition: "1d"}} {
		e := New()
		defer e.Close()
		construct := func(ctx context.Context) error {
			_, err := e.Construct(ctx, plugins.Graph{Tuples: tuples, Options: set})
			return err
		}
		start := time.Now()
		if err := construct(t.Context()); err != nil {
			t.Fatal(err)
		}
		usual := time.Since(start)
		for i := range 30 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(usual*time.Duration(i)/30, cancel)
			if err := construct(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%v, cancelled after %d/30 of the usual time: %v", set, i, err)
			}
			cancel()
		}
		if err := construct(t.Context()); err != nil {
			t.Fatal(err)
		}
		parent := make([]graph.Vertex, 1<<scale)
		if _, err := e.Search(t.Context(), 1, parent); err != nil {
			t.Fatal(err)
		}
		if _, err := validator.Validate(t.Context(), 1, parent); err != nil {
			t.Error(err)
		}
	}
}
