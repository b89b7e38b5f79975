package enginetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// wrongState are mutants that keep, change or forget what they should not.
func wrongState() map[string]wrong {
	return map[string]wrong{
		"keeps the former search's parents": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				kept := slices.Clone(parent)
				t, err := right.Search(ctx, root, parent)
				for v := range parent {
					if err == nil && parent[v] == graph.Unreached && kept[v] >= 0 {
						parent[v] = kept[v]
					}
				}
				return t, err
			}}
		}, map[string]string{"search/other-component": "want -1 (no path from the root)", "graph/two-components": "pre-filled with"}},
		"finds nothing for the root it just had": {func() *mutant {
			last := graph.Vertex(-1)
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err == nil && root == last {
					for v := range parent {
						parent[v] = graph.Unreached
					}
				}
				last = root
				return t, err
			}}
		}, map[string]string{"search/same-root-again": "want the root itself, got -1"}},
		"wears out after a hundred searches": {func() *mutant {
			searches := 0
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				if searches++; searches > 90 {
					return plugins.Traversal{}, errMutant
				}
				return right.Search(ctx, root, parent)
			}}
		}, map[string]string{"search/any-order": "want a search, got the error: no reason"}},
		"takes the parent array's first length for ever": {func() *mutant {
			length := 0
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				if length == 0 {
					length = len(parent)
				}
				if len(parent) != length {
					return plugins.Traversal{}, fmt.Errorf("%d entries: %w", len(parent), plugins.ErrParent)
				}
				return right.Search(ctx, root, parent)
			}}
		}, map[string]string{"search/parent-length": "got the error: 40 entries"}},
		"keeps its first graph": {func() *mutant {
			built := false
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				if built {
					return plugins.Construction{Elapsed: 1, Bytes: 1}, nil
				}
				built = true
				return right.Construct(ctx, g)
			}}
		}, map[string]string{"construct/again": "after other graphs in the same engine"}},
		"sorts the tuples in place": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			slices.SortFunc(g.Tuples, func(a, b graph.Edge) int {
				u, _ := a.Ends()
				v, _ := b.Ends()
				return cmp.Compare(u, v)
			})
			return ctx, g
		}), map[string]string{"construct/tuples-kept": "want the tuples unchanged by Construct, but tuple"}},
		"turns a tuple round while searching": {func() *mutant {
			var tuples []graph.Edge
			return &mutant{
				construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
					tuples = g.Tuples
					return right.Construct(ctx, g)
				},
				search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					u, v := tuples[0].Ends()
					tuples[0] = graph.MakeEdge(v, u)
					return right.Search(ctx, root, parent)
				},
			}
		}, map[string]string{"construct/tuples-kept": "want the tuples unchanged by the search from root 0"}},
		"reads the tuples again at each search": {func() *mutant {
			var g plugins.Graph
			return &mutant{
				construct: func(ctx context.Context, right plugins.Engine, given plugins.Graph) (plugins.Construction, error) {
					g = given
					return right.Construct(ctx, g)
				},
				search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
					if g.Tuples != nil {
						if _, err := right.Construct(ctx, g); err != nil {
							return plugins.Traversal{}, err
						}
					}
					return right.Search(ctx, root, parent)
				},
			}
		}, map[string]string{"construct/tuples-let-go": "after the host has overwritten the tuples"}},
		"ignores its context in searches": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				return right.Search(context.WithoutCancel(ctx), root, parent)
			}}
		}, map[string]string{"cancel/before-search": "context ended before the call: want an error that wraps \"context canceled\", got none"}},
		"ignores its context in Construct": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			return context.WithoutCancel(ctx), g
		}), map[string]string{"cancel/before-construct": "want an error that wraps \"context canceled\", got none"}},
		"takes its time after a cancelled search": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				return right.Search(slow(ctx, patience+time.Second/5), root, parent)
			}}
		}, map[string]string{"cancel/during-search": "want an end within 2s of the cancel"}},
		"takes its time after a cancelled Construct": {given(func(ctx context.Context, g plugins.Graph) (context.Context, plugins.Graph) {
			return slow(ctx, patience+time.Second/5), g
		}), map[string]string{"cancel/during-construct": "want an end within 2s of the cancel"}},
		"says failure instead of the context's error": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if ctx.Err() != nil {
					err = errMutant
				}
				return t, err
			}}
		}, map[string]string{"cancel/before-search": "got: no reason", "cancel/during-search": "no reason"}},
		"is broken by a cancel": {func() *mutant {
			broken := false
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				if broken {
					return plugins.Traversal{}, errMutant
				}
				t, err := right.Search(ctx, root, parent)
				broken = ctx.Err() != nil
				return t, err
			}}
		}, map[string]string{"cancel/before-search": "after a cancelled search", "cancel/during-search": "no reason"}},
		"gives a half-done tree for a cancelled search": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err != nil && ctx.Err() != nil {
					err = nil
				}
				return t, err
			}}
		}, map[string]string{"cancel/during-search": "cancelled after", "cancel/before-search": "got none"}},
		"keeps the graph when Construct fails": {func() *mutant {
			return &mutant{construct: func(ctx context.Context, right plugins.Engine, g plugins.Graph) (plugins.Construction, error) {
				d, _ := right.Describe(ctx)
				if _, err := plugins.Settle(d.Options, g.Options); err != nil {
					return plugins.Construction{}, err
				}
				if err := ctx.Err(); err != nil {
					return plugins.Construction{}, err
				}
				return right.Construct(ctx, g)
			}}
		}, map[string]string{"options/no-graph-after-error": "got none", "cancel/before-construct": "Search after a cancelled Construct"}},
		"complains about a second Close": {func() *mutant {
			closed := false
			return &mutant{close: func(right plugins.Engine) error {
				if closed {
					return errMutant
				}
				closed = true
				return right.Close()
			}}
		}, map[string]string{"close/twice": "Close number 2: want no error, got: no reason"}},
		"goes on after Close": {func() *mutant {
			return &mutant{close: func(plugins.Engine) error { return nil }}
		}, map[string]string{"close/then-calls": "Search after Close: want an error that wraps \"engine is closed\", got none"}},
		"closes more than itself": {sharingItsEnd(), map[string]string{"close/others": "after another engine was closed: "}},
		"says its description in another way each time": {func() *mutant {
			calls := 0
			return &mutant{describe: func(d plugins.Description) plugins.Description {
				calls++
				d.Version = fmt.Sprint(calls)
				return d
			}}
		}, map[string]string{"describe/stable": "want the same description again"}},
	}
}

// sharingItsEnd makes engines of which all are closed when one is.
func sharingItsEnd() func() *mutant {
	closed := false
	return func() *mutant {
		return &mutant{
			search: func(ctx context.Context, right plugins.Engine, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
				if closed {
					return plugins.Traversal{}, plugins.ErrClosed
				}
				return right.Search(ctx, root, parent)
			},
			close: func(right plugins.Engine) error {
				closed = true
				return right.Close()
			},
		}
	}
}
