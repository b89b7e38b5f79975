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

// wrongState are mutants that keep or change what they must not.
func wrongState() map[string]wrong {
	return map[string]wrong{
		"keeps the former search's parents": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				kept := slices.Clone(parent)
				t, err := right.Search(ctx, root, parent)
				for v := range parent {
					if err == nil && parent[v] == graph.Unreached && kept[v] >= 0 {
						parent[v] = kept[v]
					}
				}
				return t, err
			}}
		}, words{"search/other-component": "want -1 (no path from the root)", "graph/two-components": "pre-filled with"}},
		"finds nothing for the root it just had": {func() *mutant {
			last := vertex(-1)
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err == nil && root == last {
					for v := range parent {
						parent[v] = graph.Unreached
					}
				}
				last = root
				return t, err
			}}
		}, words{"search/any-order": "got -1"}},
		"wears out after a hundred searches": {func() *mutant {
			searches := 0
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				if searches++; searches > 90 {
					return traversal{}, errMutant
				}
				return right.Search(ctx, root, parent)
			}}
		}, words{"search/any-order": "want a search, got the error: no reason"}},
		"takes the parent array's first length for ever": {func() *mutant {
			length := 0
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				if length == 0 {
					length = len(parent)
				}
				if len(parent) != length {
					return traversal{}, fmt.Errorf("%d entries: %w", len(parent), plugins.ErrParent)
				}
				return right.Search(ctx, root, parent)
			}}
		}, words{"search/parent-length": "got the error: 40 entries"}},
		"keeps its first graph": {func() *mutant {
			built := false
			return &mutant{construct: func(ctx context.Context, right correct, in plugins.Input) (construction, error) {
				if built {
					return construction{Elapsed: 1, Bytes: 1}, nil
				}
				built = true
				return right.Construct(ctx, in)
			}}
		}, words{"construct/again": "after other graphs in the same engine"}},
		"sorts the tuples in place": {given(func(ctx context.Context, in plugins.Input) (context.Context, plugins.Input) {
			slices.SortFunc(in.Tuples, func(a, b graph.Edge) int {
				u, _ := a.Ends()
				v, _ := b.Ends()
				return cmp.Compare(u, v)
			})
			return ctx, in
		}), words{"construct/tuples-kept": "want the tuples unchanged by Construct, but tuple"}},
		"turns a tuple round while searching": {func() *mutant {
			var tuples []graph.Edge
			return &mutant{
				construct: func(ctx context.Context, right correct, in plugins.Input) (construction, error) {
					tuples = in.Tuples
					return right.Construct(ctx, in)
				},
				search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
					u, v := tuples[0].Ends()
					tuples[0] = graph.MakeEdge(v, u)
					return right.Search(ctx, root, parent)
				},
			}
		}, words{"construct/tuples-kept": "want the tuples unchanged by the search from root 0"}},
		"reads the tuples again at each search": {func() *mutant {
			var in plugins.Input
			return &mutant{
				construct: func(ctx context.Context, right correct, given plugins.Input) (construction, error) {
					in = given
					return right.Construct(ctx, in)
				},
				search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
					if in.Tuples != nil {
						if _, err := right.Construct(ctx, in); err != nil {
							return traversal{}, err
						}
					}
					return right.Search(ctx, root, parent)
				},
			}
		}, words{"construct/tuples-let-go": "after the host has overwritten the tuples"}},
		"ignores its context in searches": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				return right.Search(context.WithoutCancel(ctx), root, parent)
			}}
		}, words{
			"cancel/before": "context ended before the call: want an error that wraps [\"context canceled\"], got: none",
		}},
		"ignores its context in Construct": {given(
			func(ctx context.Context, in plugins.Input) (context.Context, plugins.Input) {
				return context.WithoutCancel(ctx), in
			}), words{"cancel/before": "want an error that wraps [\"context canceled\"], got: none"}},
		"takes its time after a canceled search": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				return right.Search(slow(ctx, patience+time.Second/5), root, parent)
			}}
		}, words{"cancel/during-search": "want an end within 2s of the cancel"}},
		"takes its time after a canceled Construct": {given(
			func(ctx context.Context, in plugins.Input) (context.Context, plugins.Input) {
				return slow(ctx, patience+time.Second/5), in
			}), words{"cancel/during-construct": "want an end within 2s of the cancel"}},
		"says failure instead of the context's error": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if ctx.Err() != nil {
					err = errMutant
				}
				return t, err
			}}
		}, words{"cancel/before": "got: no reason", "cancel/during-search": "no reason"}},
		"is broken by a cancel": {func() *mutant {
			broken := false
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				if broken {
					return traversal{}, errMutant
				}
				t, err := right.Search(ctx, root, parent)
				broken = ctx.Err() != nil
				return t, err
			}}
		}, words{"cancel/before": "after a canceled search", "cancel/during-search": "no reason"}},
		"gives a half-done tree for a canceled search": {func() *mutant {
			return &mutant{search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				t, err := right.Search(ctx, root, parent)
				if err != nil && ctx.Err() != nil {
					err = nil
				}
				return t, err
			}}
		}, words{"cancel/during-search": "canceled after", "cancel/before": "got: none"}},
		"keeps the graph when Construct fails": {func() *mutant {
			return &mutant{construct: func(ctx context.Context, right correct, in plugins.Input) (construction, error) {
				d, _ := right.Describe(ctx)
				if _, err := plugins.Resolve(d.Options, in.Options); err != nil {
					return construction{}, err
				}
				if err := ctx.Err(); err != nil {
					return construction{}, err
				}
				return right.Construct(ctx, in)
			}}
		}, words{
			"options/refused": "got: none",
			"cancel/before":   "Search after a canceled Construct",
		}},
		"complains about a second Close": {func() *mutant {
			closed := false
			return &mutant{close: func(right correct) error {
				if closed {
					return errMutant
				}
				closed = true
				return right.Close()
			}}
		}, words{"close/ends": "a second Close: no reason"}},
		"goes on after Close": {func() *mutant {
			return &mutant{close: func(plugins.Engine) error { return nil }}
		}, words{"close/ends": "Search after Close: want an error that wraps [\"engine is closed\"], got: none"}},
		"closes more than itself": {sharingItsEnd(), words{"close/others": "engine 2 of 8, one after the other: "}},
		"says its description in another way each time": {func() *mutant {
			calls := 0
			return &mutant{describe: func(d description) description {
				calls++
				d.Version = fmt.Sprint(calls)
				return d
			}}
		}, words{"describe/stable": "want the same description again, but Version was \"1\" and is \"2\""}},
	}
}

// sharingItsEnd makes engines that are all closed when one of them is.
func sharingItsEnd() func() *mutant {
	closed := false
	return func() *mutant {
		return &mutant{
			search: func(ctx context.Context, right correct, root vertex, parent []vertex) (traversal, error) {
				if closed {
					return traversal{}, plugins.ErrClosed
				}
				return right.Search(ctx, root, parent)
			},
			close: func(right correct) error {
				closed = true
				return right.Close()
			},
		}
	}
}
