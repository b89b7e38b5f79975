package files

import (
	"context"
	"fmt"
	"runtime"
	"sort"

	"github.com/tepsbench/teps/graph"
)

// Graph is a file in memory, graph.EdgeBytes a tuple.
type Graph struct {
	Info   Info
	name   string
	blocks [][]graph.Edge
	first  []int64 // the number of the first tuple of each block, and of all tuples
}

var _ graph.Source = (*Graph)(nil)

// Name returns the name of the file.
func (g *Graph) Name() string { return g.name }

// Vertices returns the number of vertices.
func (g *Graph) Vertices() int64 { return g.Info.Vertices }

// Tuples returns the number of tuples.
func (g *Graph) Tuples() int64 { return g.Info.Tuples }

// Generate fills dst with the tuples first, first+1, ... on a number of threads (0 or less: all that Go may use).
func (g *Graph) Generate(ctx context.Context, dst []graph.Edge, first int64, threads int) error {
	if first < 0 || first > g.Tuples()-int64(len(dst)) {
		return fmt.Errorf("%s: tuples %d to %d are not all there: the file has %d",
			g.name, first, first+int64(len(dst)), g.Tuples())
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	from := sort.Search(len(g.blocks), func(b int) bool { return g.first[b+1] > first })
	to := sort.Search(len(g.blocks), func(b int) bool { return g.first[b] >= first+int64(len(dst)) })
	_, err := graph.Parallel(ctx, threads, int64(to-from), 1, func(_ int, i, _ int64) bool {
		b := from + int(i)
		begin := max(g.first[b], first)
		copy(dst[begin-first:], g.blocks[b][begin-g.first[b]:])
		return true
	})
	return err
}
