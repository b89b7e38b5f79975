package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

// Truth knows the correct results for one graph, from the oracle, and whether the host of a run would accept a result.
type Truth struct {
	graph *graph.CSR
	host  *validate.Validator
}

// NewTruth returns the truth about tuples whose labels are below vertices.
func NewTruth(tuples []graph.Edge, vertices int64) (*Truth, error) {
	g, err := graph.NewCSR(tuples, vertices)
	if err != nil {
		return nil, err
	}
	host, err := validate.New(tuples, vertices, 1)
	return &Truth{g, host}, err
}

// Levels returns the number of vertices on each level of a search from root.
func (t *Truth) Levels(root graph.Vertex) ([]int64, error) {
	_, level, err := t.graph.Search(root)
	return levelSizes(level), err
}

// Search searches from root over parents that are not written, and returns an error unless they are right and the
// levels, if there are any, are the oracle's.
func (t *Truth) Search(ctx context.Context, root graph.Vertex,
	search func(context.Context, graph.Vertex, []graph.Vertex) (plugins.Traversal, error),
) (plugins.Traversal, error) {
	parent := slices.Repeat([]graph.Vertex{graph.Unwritten}, int(t.graph.NumVertices()))
	found, err := search(ctx, root, parent)
	if err == nil {
		err = t.Check(ctx, root, parent)
	}
	if err != nil {
		return found, err
	}
	sizes, err := t.Levels(root)
	return found, cmp.Or(err, checkLevels(found.Levels, sizes))
}

// Check returns an error unless parent is a breadth-first tree from root: it reaches exactly what the oracle reaches,
// and every parent is one of the vertex's neighbors, one level up. Any such array is correct, and no other is. The
// host's validator, which works differently, must agree.
func (t *Truth) Check(ctx context.Context, root graph.Vertex, parent []graph.Vertex) error {
	_, level, err := t.graph.Search(root) // the oracle's level of every vertex; -1 is unreached
	if err != nil {
		return err
	}
	for v, p := range parent {
		switch v := graph.Vertex(v); {
		case v == root:
			if p != root {
				return fmt.Errorf("parent[%d]: want the root itself, got %s", v, named(p))
			}
		case level[v] < 0:
			if p != graph.Unreached {
				return fmt.Errorf("parent[%d]: want -1 (no path from the root), got %s", v, named(p))
			}
		case p < 0 || int64(p) >= t.graph.NumVertices():
			return fmt.Errorf("parent[%d]: want a neighbor at level %d, got %s", v, level[v]-1, named(p))
		case level[p] != level[v]-1:
			return fmt.Errorf("parent[%d]: want a neighbor at level %d, got %d, which is at level %d",
				v, level[v]-1, p, level[p])
		case !t.adjacent(v, p):
			return fmt.Errorf("parent[%d]: want a neighbor at level %d, got %d, which is not adjacent", v, level[v]-1, p)
		}
	}
	tree, err := t.host.Validate(ctx, root, parent)
	if err != nil {
		return fmt.Errorf("the parents agree with the oracle, but the host's validator refuses them: %w", err)
	}
	size, reached := levelSizes(level), int64(0)
	for _, n := range size {
		reached += n
	}
	if tree.Depth != len(size)-1 || tree.Reached != reached {
		return fmt.Errorf("want %d vertices and depth %d from the host's validator, got %d and %d",
			reached, len(size)-1, tree.Reached, tree.Depth)
	}
	return nil
}

// adjacent searches the shorter of the two adjacency lists.
func (t *Truth) adjacent(u, v graph.Vertex) bool {
	if len(t.graph.Neighbors(u)) > len(t.graph.Neighbors(v)) {
		u, v = v, u
	}
	return slices.Contains(t.graph.Neighbors(u), v)
}

// named describes an entry of a parent array.
func named(p graph.Vertex) string {
	switch p {
	case graph.Unreached:
		return "-1 (unreached)"
	case graph.Unwritten:
		return "an entry that was never written"
	}
	return fmt.Sprint(p)
}

// checkLevels compares reported levels with the oracle's numbers of vertices on each. An engine may leave out the last
// frontier, which discovers nothing.
func checkLevels(levels []plugins.Level, want []int64) error {
	if len(levels) == 0 {
		return nil // not reported
	}
	if len(levels) != len(want) && len(levels) != len(want)-1 {
		return fmt.Errorf("want %d levels (or one less, without the last frontier), got %d", len(want), len(levels))
	}
	for i, level := range levels {
		if level.Frontier != want[i] {
			return fmt.Errorf("level %d: want a frontier of %d vertices, got %d", i, want[i], level.Frontier)
		}
	}
	return nil
}

// levelSizes returns the number of vertices on each level, from the levels of all vertices.
func levelSizes(level []int64) (n []int64) {
	for _, l := range level {
		for int64(len(n)) <= l {
			n = append(n, 0)
		}
		if l >= 0 {
			n[l]++
		}
	}
	return n
}
