package enginetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/tepsbench/teps/graph"
)

// truth knows the right answers for one graph, from the oracle, and what the host of a run would say of an answer.
type truth struct {
	graph *graph.CSR
	host  *graph.Validator
}

func newTruth(in input) (*truth, error) {
	g, err := graph.NewCSR(in.tuples, in.vertices)
	if err != nil {
		return nil, fmt.Errorf("preparing %v: %w", in, err)
	}
	host, err := graph.NewValidator(in.tuples, in.vertices, 1)
	if err != nil {
		return nil, fmt.Errorf("preparing %v: %w", in, err)
	}
	return &truth{g, host}, nil
}

// levels returns the oracle's level of every vertex; -1 is unreached.
func (t *truth) levels(root graph.Vertex) ([]int64, error) {
	_, level, err := t.graph.Search(root)
	return level, err
}

// check says whether parent is a breadth-first tree from root: reached exactly what the oracle reached, and every
// parent one of the vertex's neighbours, one level up. That alone is complete: any such array is right, no other is.
// The host's validator, which works in another way, must come to the same end.
func (t *truth) check(ctx context.Context, root graph.Vertex, parent []graph.Vertex) error {
	level, err := t.levels(root)
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
			return fmt.Errorf("parent[%d]: want a neighbour at level %d, got %s", v, level[v]-1, named(p))
		case level[p] != level[v]-1:
			return fmt.Errorf("parent[%d]: want a neighbour at level %d, got %d, which is at level %d", v, level[v]-1, p, level[p])
		case !t.adjacent(v, p):
			return fmt.Errorf("parent[%d]: want a neighbour at level %d, got %d, which no tuple joins with it", v, level[v]-1, p)
		}
	}
	tree, err := t.host.Validate(ctx, root, parent)
	if err != nil {
		return fmt.Errorf("the parents agree with the oracle, but the host's validator says: %w", err)
	}
	if size := sizes(level); tree.Depth != len(size)-1 || tree.Reached != sum(size) {
		return fmt.Errorf("want %d vertices and depth %d from the host's validator, got %d and %d",
			sum(size), len(size)-1, tree.Reached, tree.Depth)
	}
	return nil
}

// adjacent looks into the shorter of the two lists.
func (t *truth) adjacent(u, v graph.Vertex) bool {
	if len(t.graph.Neighbours(u)) > len(t.graph.Neighbours(v)) {
		u, v = v, u
	}
	return slices.Contains(t.graph.Neighbours(u), v)
}

// named is a parent in words where it has some.
func named(p graph.Vertex) string {
	switch p {
	case graph.Unreached:
		return "-1 (unreached)"
	case graph.Unwritten:
		return "an entry that was never written"
	}
	return fmt.Sprint(p)
}

// sizes returns the number of vertices at each level.
func sizes(level []int64) []int64 {
	var n []int64
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

func sum(sizes []int64) (n int64) {
	for _, size := range sizes {
		n += size
	}
	return n
}
