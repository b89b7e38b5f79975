package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// wrongRefusals are mutants that take what they must refuse, or refuse what they said they take.
func wrongRefusals() map[string]wrong {
	without := func(drop func(d plugins.Description, name, value string) bool) func() *mutant {
		return func() *mutant {
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				d, err := right.Describe(ctx)
				if err != nil {
					return plugins.Construction{}, err
				}
				g.Options = maps.Clone(g.Options)
				maps.DeleteFunc(g.Options, func(name, value string) bool { return drop(d, name, value) })
				return right.Construct(ctx, g)
			}}
		}
	}
	return map[string]wrong{
		"takes any value of its options": {without(func(d plugins.Description, name, value string) bool {
			return slices.ContainsFunc(d.Options, func(o plugins.Option) bool { return o.Name == name && o.Check(value) != nil })
		}), map[string]string{"options/bad-value": "wraps \"unusable option\", got none"}},
		"takes any option": {without(func(d plugins.Description, name, _ string) bool {
			return !slices.ContainsFunc(d.Options, func(o plugins.Option) bool { return o.Name == name })
		}), map[string]string{"options/unknown": "Construct with no-such-option=1: want an error"}},
		"refuses its own default": {func() *mutant {
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				if _, set := g.Options["room"]; set {
					return plugins.Construction{}, errMutant
				}
				return right.Construct(ctx, g)
			}}
		}, map[string]string{"options/defaults": "with room=0: want a graph, got the error: no reason"}},
		"is wrong with one of its choices": {func() *mutant {
			spoil := false
			return &mutant{
				construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
					spoil = g.Options["order"] == "backward"
					return right.Construct(ctx, g)
				},
				search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					t, err := right.Search(ctx, root, parent)
					if spoil && err == nil {
						parent[root] = graph.Unreached
					}
					return t, err
				},
			}
		}, map[string]string{"options/values": "order=backward"}},
		"says bad option without the sentinel": {func() *mutant {
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				c, err := right.Construct(ctx, g)
				if err != nil {
					err = fmt.Errorf("%v", err)
				}
				return c, err
			}}
		}, map[string]string{"options/unknown": "want an error that wraps \"unusable option\", got: serial: unknown option", "construct/huge-label": "unusable tuples"}},
		"takes any root": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				return right.Search(ctx, min(max(root, 0), graph.Vertex(len(parent))-1), parent)
			}}
		}, map[string]string{"search/bad-root": "root -1 with 100 parents: want an error that wraps \"root is not a vertex\", got none"}},
		"panics on a root outside": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				parent[root] = root
				return right.Search(ctx, root, parent)
			}}
		}, map[string]string{"search/bad-root": "want no panic"}},
		"searches into a short array": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				if len(parent) > 0 && len(parent) < 100 {
					whole := make([]graph.Vertex, 100)
					t, err := right.Search(ctx, root, whole)
					copy(parent, whole)
					return t, err
				}
				return right.Search(ctx, root, parent)
			}}
		}, map[string]string{"search/short-parent": "root 0 with 99 parents: want an error that wraps \"parent array is too short\", got none"}},
		"searches without a graph": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err != nil && root == 3 {
					return plugins.Traversal{}, nil
				}
				return t, err
			}}
		}, map[string]string{"search/before-construct": "Search before any Construct: want an error"}},
		"takes labels that it cuts": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			g.Tuples = slices.Clone(g.Tuples)
			for i, e := range g.Tuples {
				u, v := e.Ends()
				g.Tuples[i] = graph.MakeEdge(u&7, v&7)
			}
			return ctx, g
		}), map[string]string{"construct/huge-label": "Search with 10 parents in a graph of labels up to 2^48-1"}},
		"needs a device that is not there and takes graphs all the same": {said(func(d *plugins.Description) { d.Unavailable = "no device" }),
			map[string]string{"describe/unavailable": "wraps \"engine is not available here\", got none"}},
		"never recovers from an error": {unrecovering, map[string]string{
			"search/bad-root":         "after a refused root",
			"search/short-parent":     "after a refused parent array",
			"search/before-construct": "after a Search without a graph",
			"options/unknown":         "after a refused option",
			"options/bad-value":       "after a refused option",
			"construct/huge-label":    "got: no reason",
			"cancel/before-search":    "after a cancelled search",
		}},
		"fails to close": {func() *mutant {
			return &mutant{close: func(plugins.Engine) error { return errMutant }}
		}, map[string]string{"graph/empty": "Close: want no error, got: no reason", "close/then-calls": "Close"}},
		"constructs after Close": {reopening(func(m *mutant) {
			m.construct = func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				return NewSerial().Construct(ctx, g)
			}
		}), map[string]string{"close/then-calls": "Construct after Close"}},
		"describes itself after Close": {reopening(func(m *mutant) {
			m.always = func(ctx context.Context) (plugins.Description, error) { return NewSerial().Describe(ctx) }
		}), map[string]string{"close/then-calls": "Describe after Close"}},
	}
}

// unrecovering makes an engine whose first error is followed by errors only.
func unrecovering() *mutant {
	failed := false
	return &mutant{
		construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
			c, err := right.Construct(ctx, g)
			if failed {
				err = errMutant
			}
			failed = failed || err != nil
			return c, err
		},
		search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
			t, err := right.Search(ctx, root, parent)
			if failed {
				err = errMutant
			}
			failed = failed || err != nil
			return t, err
		},
	}
}

// reopening makes a right engine that changes when it is closed.
func reopening(change func(m *mutant)) func() *mutant {
	return func() *mutant {
		m := &mutant{}
		m.close = func(right plugins.Engine) error {
			change(m)
			return right.Close()
		}
		return m
	}
}
