// SPDX-License-Identifier: Apache-2.0

package plugins_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// searcher is kernel 2 of a graph; a test may replace it.
type searcher func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error)

// engine is the search of package graph, with what wrap makes of its search.
func engine(wrap func(searcher) searcher, repeat func(context.Context, []graph.Vertex, time.Duration, plugins.Output) (
	int64, error)) plugins.Engine {
	build := func(_ context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
		vertices, err := plugins.VerticesOf(in.Tuples, 32)
		if err != nil {
			return plugins.Built{}, err
		}
		rows, err := graph.NewCSR(in.Tuples, vertices)
		search := func(_ context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
			found, _, err := rows.Search(root)
			copy(out.Parent, found)
			return plugins.Traversal{}, err
		}
		if wrap != nil {
			search = wrap(search)
		}
		return plugins.Built{Vertices: vertices, Bytes: 1, VertexBits: 64, Search: search, Repeat: repeat}, err
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

// What the adapter adds to a search; package serial, which uses it, passes the whole suite.
func TestConformance(t *testing.T) {
	open := func(context.Context) (plugins.Engine, error) { return engine(nil, nil), nil }
	enginetest.TestQuick(t, open, []string{"describe/*", "search/*", "repeat/*", "construct/*", "options/*", "cancel/*",
		"report/*", "close/*"})
}

func triangle(t *testing.T, e plugins.Engine) {
	t.Helper()
	tuples := []graph.Edge{graph.MakeEdge(0, 1), graph.MakeEdge(1, 2), graph.MakeEdge(2, 0)}
	must.Get(e.Construct(t.Context(), plugins.Input{Tuples: tuples}))
}

func TestSearchTakesTheCallWithoutAReportedTime(t *testing.T) {
	const sleep = 2 * time.Millisecond
	for reported, longest := range map[time.Duration]time.Duration{0: time.Hour, sleep: sleep} {
		e := engine(func(search searcher) searcher {
			return func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
				time.Sleep(sleep)
				_, err := search(ctx, root, out)
				return plugins.Traversal{Elapsed: reported}, err
			}
		}, nil)
		triangle(t, e)
		got, err := e.Search(t.Context(), 0, plugins.Output{Parent: make([]graph.Vertex, 3)})
		if got.Elapsed < sleep || got.Elapsed > longest || err != nil {
			t.Errorf("reported %v: got %v, %v", reported, got.Elapsed, err)
		}
	}
}

func TestSearchRejectsWritesBeyondTheVertices(t *testing.T) {
	whole := make([]graph.Vertex, 5)
	e := engine(func(search searcher) searcher {
		return func(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
			whole[4] = 0
			return search(ctx, root, out)
		}
	}, nil)
	triangle(t, e)
	_, err := e.Search(t.Context(), 0, plugins.Output{Parent: whole})
	if err == nil || !strings.Contains(err.Error(), "parent[4]") || !strings.HasPrefix(err.Error(), "queue: search: ") {
		t.Errorf("got %v", err)
	}
}

// The suite has what else a Repeat must do and refuse.
func TestRepeat(t *testing.T) {
	e := engine(nil, func(context.Context, []graph.Vertex, time.Duration, plugins.Output) (int64, error) {
		return 4711, nil
	})
	repeat := e.(plugins.Repeater).Repeat
	_, err := repeat(t.Context(), []graph.Vertex{0}, time.Millisecond, plugins.Output{})
	must.Is(t, err, plugins.ErrNotConstructed)
	triangle(t, e)
	parent := make([]graph.Vertex, 4)
	var n int64
	n, err = repeat(t.Context(), []graph.Vertex{0}, time.Hour, plugins.Output{Parent: parent})
	if n != 4711 || err != nil || parent[3] != graph.Unreached {
		t.Errorf("own Repeat: %d, %v, parents %v", n, err, parent)
	}
	_, err = repeat(t.Context(), []graph.Vertex{0}, time.Hour, plugins.Output{Parent: parent[:2]})
	must.Is(t, err, plugins.ErrParent)
	var searched []graph.Vertex
	n, err = plugins.InTurn(t.Context(), []graph.Vertex{4, 2}, time.Hour, func(root graph.Vertex) error {
		if searched = append(searched, root); len(searched) == 4 {
			return plugins.ErrMemory
		}
		return nil
	})
	if n != 3 || !errors.Is(err, plugins.ErrMemory) || !slices.Equal(searched, []graph.Vertex{4, 2, 4, 2}) {
		t.Errorf("got %d searches from %v, %v", n, searched, err)
	}
}

func TestGraphThatIsGoneIsFreed(t *testing.T) {
	calls := 0
	e := engine(func(searcher) searcher {
		return func(context.Context, graph.Vertex, plugins.Output) (plugins.Traversal, error) {
			calls++
			return plugins.Traversal{}, plugins.ErrNotConstructed
		}
	}, nil)
	triangle(t, e)
	for range 2 {
		_, err := e.Search(t.Context(), 0, plugins.Output{Parent: make([]graph.Vertex, 3)})
		must.Is(t, err, plugins.ErrNotConstructed)
	}
	if calls != 1 {
		t.Errorf("%d searches of a graph that is gone", calls-1)
	}
}
