package distributed

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

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
						set[optionAlpha], set[optionBeta] = "1e9", "1e9"
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
