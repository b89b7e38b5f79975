package kernels_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/plugins/kernels"
)

// searcher is kernel 2 of a graph; a test may replace it.
type searcher func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)

// engine is one queue over a plain CSR, with what wrap makes of its search.
func engine(wrap func(searcher) searcher, repeat func(context.Context, []graph.Vertex, time.Duration) (int64, error)) plugins.Engine {
	build := func(ctx context.Context, tuples []graph.Edge, set plugins.Settings) (kernels.Graph, error) {
		vertices, err := kernels.VerticesOf(tuples, 32)
		if err != nil {
			return kernels.Graph{}, err
		}
		rows, err := graph.NewCSR(tuples, vertices)
		if err != nil {
			return kernels.Graph{}, err
		}
		search := func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			for v := range parent {
				parent[v] = graph.Unreached
			}
			parent[root] = root
			for queue := []graph.Vertex{root}; len(queue) > 0; queue = queue[1:] {
				if ctx.Err() != nil {
					return plugins.Traversal{}, ctx.Err()
				}
				for _, v := range rows.Neighbours(queue[0]) {
					if parent[v] == graph.Unreached {
						parent[v] = queue[0]
						queue = append(queue, v)
					}
				}
			}
			return plugins.Traversal{}, nil
		}
		if wrap != nil {
			search = wrap(search)
		}
		return kernels.Graph{Vertices: vertices, Bytes: 1, VertexBits: 64, Search: search, Repeat: repeat}, nil
	}
	return kernels.New(plugins.Description{
		Name: "queue", Version: "1", Summary: "one queue", Memory: plugins.Memory{PerTuple: 16},
		Options: []plugins.Option{{Name: "colour", Kind: plugins.Choice, Default: "red", Choices: []string{"red", "blue"}, Meaning: "of nothing"}},
	}, build)
}

func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return engine(nil, nil), nil })
}

func triangle(t *testing.T, e plugins.Engine) {
	t.Helper()
	tuples := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 0)}
	if _, err := e.Construct(t.Context(), plugins.Graph{Tuples: tuples}); err != nil {
		t.Fatal(err)
	}
}

// Times that kernel 2 claims, and what becomes of them. The call lasts at least 2 ms.
func TestAClaimedTimeIsHeldAgainstTheCall(t *testing.T) {
	for _, c := range []struct {
		name    string
		claim   func(took time.Duration) time.Duration
		refused string // by the last of ten searches; empty: none is refused
	}{
		{"none", func(time.Duration) time.Duration { return 0 }, ""},
		{"nearly all of the call", func(took time.Duration) time.Duration { return took * 9 / 10 }, ""},
		{"longer than the call", func(time.Duration) time.Duration { return time.Hour }, "lasted"},
		{"negative", func(time.Duration) time.Duration { return -1 }, "lasted"},
		{"next to nothing, again and again", func(time.Duration) time.Duration { return time.Microsecond }, "leaves most of the work out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var claim time.Duration
			e := engine(func(search searcher) searcher {
				return func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					start := time.Now()
					time.Sleep(2 * time.Millisecond)
					_, err := search(ctx, root, parent)
					claim = c.claim(time.Since(start))
					return plugins.Traversal{Elapsed: claim}, err
				}
			}, nil)
			triangle(t, e)
			var last error
			parent := make([]graph.Vertex, 3)
			for range 10 {
				var traversal plugins.Traversal
				traversal, last = e.Search(t.Context(), 0, parent)
				if last == nil && claim != 0 && traversal.Elapsed != claim {
					t.Errorf("Elapsed is %v, claimed were %v", traversal.Elapsed, claim)
				}
				if claim == 0 && traversal.Elapsed < 2*time.Millisecond {
					t.Errorf("Elapsed is %v for a search of 2 ms", traversal.Elapsed)
				}
			}
			if c.refused == "" && last != nil || c.refused != "" && (last == nil || !strings.Contains(last.Error(), c.refused)) {
				t.Errorf("got the error %v, want %q", last, c.refused)
			}
		})
	}
}

func TestOneShortTimeIsAnAccident(t *testing.T) {
	n := 0
	e := engine(func(search searcher) searcher {
		return func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			time.Sleep(time.Millisecond)
			if n++; n%8 == 0 {
				return plugins.Traversal{}, nil
			}
			return plugins.Traversal{Elapsed: time.Microsecond}, nil
		}
	}, nil)
	triangle(t, e)
	for range 30 {
		if _, err := e.Search(t.Context(), 0, make([]graph.Vertex, 3)); err != nil {
			t.Fatal(err)
		}
	}
}

// What C could do with a pointer, Go must reach for with its capacity; the check is the same.
func TestAWriteBehindTheGraphsVerticesIsFound(t *testing.T) {
	whole := make([]graph.Vertex, 5)
	e := engine(func(search searcher) searcher {
		return func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			whole[4] = 0
			return search(ctx, root, parent)
		}
	}, nil)
	triangle(t, e)
	if _, err := e.Search(t.Context(), 0, whole); err == nil || !strings.Contains(err.Error(), "parent[4]") {
		t.Errorf("got %v", err)
	}
}

func TestRepeat(t *testing.T) {
	ctx := t.Context()
	e := engine(nil, nil)
	repeater := e.(plugins.Repeater)
	if _, err := repeater.Repeat(ctx, []graph.Vertex{0}, time.Millisecond); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("without a graph: %v", err)
	}
	triangle(t, e)
	start := time.Now()
	n, err := repeater.Repeat(ctx, []graph.Vertex{0, 2}, 20*time.Millisecond)
	if err != nil || n < 1 || time.Since(start) < 20*time.Millisecond {
		t.Errorf("%d searches in %v: %v", n, time.Since(start), err)
	}
	if _, err := repeater.Repeat(ctx, []graph.Vertex{0, 3}, time.Millisecond); !errors.Is(err, plugins.ErrRoot) {
		t.Errorf("a root that is none: %v", err)
	}
	if _, err := repeater.Repeat(ctx, nil, time.Millisecond); err == nil {
		t.Error("no roots, and no error")
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := repeater.Repeat(over, []graph.Vertex{0}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	e.Close()
	if _, err := repeater.Repeat(ctx, []graph.Vertex{0}, time.Millisecond); !errors.Is(err, plugins.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}

	own := engine(nil, func(context.Context, []graph.Vertex, time.Duration) (int64, error) { return 4711, nil })
	triangle(t, own)
	if n, err := own.(plugins.Repeater).Repeat(ctx, []graph.Vertex{0}, time.Hour); n != 4711 || err != nil {
		t.Errorf("a Repeat of its own: %d, %v", n, err)
	}
}
