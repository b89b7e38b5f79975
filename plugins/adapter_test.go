package plugins_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// searcher is kernel 2 of a graph; a test may replace it.
type searcher func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error)

// engine is one queue over a plain CSR, with what wrap makes of its search.
func engine(
	wrap func(searcher) searcher, repeat func(context.Context, []graph.Vertex, time.Duration) (int64, error),
) plugins.Engine {
	build := func(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
		vertices, err := plugins.VerticesOf(in.Tuples, 32)
		if err != nil {
			return plugins.Built{}, err
		}
		rows, err := graph.NewCSR(in.Tuples, vertices)
		if err != nil {
			return plugins.Built{}, err
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
				for _, v := range rows.Neighbors(queue[0]) {
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
		return plugins.Built{Vertices: vertices, Bytes: 1, VertexBits: 64, Search: search, Repeat: repeat}, nil
	}
	return plugins.New(func() (plugins.Description, error) {
		return plugins.Description{
			Name: "queue", Version: "1", Summary: "one queue", Memory: plugins.Memory{PerTuple: 16},
			Options: []plugins.Option{{
				Name: "color", Kind: plugins.Choice, Default: "red", Choices: []string{"red", "blue"}, Meaning: "unused",
			}},
		}, nil
	}, build)
}

func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return engine(nil, nil), nil })
}

func triangle(t *testing.T, e plugins.Engine) {
	t.Helper()
	tuples := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 0)}
	if _, err := e.Construct(t.Context(), plugins.Input{Tuples: tuples}); err != nil {
		t.Fatal(err)
	}
}

// Each search takes at least 2 ms.
func TestSearchChecksReportedTime(t *testing.T) {
	for _, c := range []struct {
		name     string
		reported func(took time.Duration) time.Duration
		refused  string // by the last of ten searches; empty: none is refused
	}{
		{"none", func(time.Duration) time.Duration { return 0 }, ""},
		{"nearly all of the call", func(took time.Duration) time.Duration { return took * 9 / 10 }, ""},
		{"longer than the call", func(time.Duration) time.Duration { return time.Hour }, "exceeds"},
		{"negative", func(time.Duration) time.Duration { return -1 }, "not positive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported time.Duration
			e := engine(func(search searcher) searcher {
				return func(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					start := time.Now()
					time.Sleep(2 * time.Millisecond)
					_, err := search(ctx, root, parent)
					reported = c.reported(time.Since(start))
					return plugins.Traversal{Elapsed: reported}, err
				}
			}, nil)
			triangle(t, e)
			var last error
			parent := make([]graph.Vertex, 3)
			for range 10 {
				var traversal plugins.Traversal
				traversal, last = e.Search(t.Context(), 0, parent)
				if last == nil && reported != 0 && traversal.Elapsed != reported {
					t.Errorf("Elapsed: got %v, want the reported %v", traversal.Elapsed, reported)
				}
				if reported == 0 && traversal.Elapsed < 2*time.Millisecond {
					t.Errorf("Elapsed is %v for a search of 2 ms", traversal.Elapsed)
				}
			}
			if c.refused == "" && last != nil || c.refused != "" && (last == nil || !strings.Contains(last.Error(), c.refused)) {
				t.Errorf("got the error %v, want %q", last, c.refused)
			}
		})
	}
}

func TestSearchRejectsWritesBeyondTheVertices(t *testing.T) {
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

// The suite has what else a Repeat must do and refuse.
func TestRepeat(t *testing.T) {
	e := engine(nil, func(context.Context, []graph.Vertex, time.Duration) (int64, error) { return 4711, nil })
	repeat := e.(plugins.Repeater).Repeat
	if _, err := repeat(t.Context(), []graph.Vertex{0}, time.Millisecond); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("without a graph: %v", err)
	}
	triangle(t, e)
	if n, err := repeat(t.Context(), []graph.Vertex{0}, time.Hour); n != 4711 || err != nil {
		t.Errorf("own Repeat: %d, %v", n, err)
	}
}
