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
		"keeps the former search's parents": {searching(func(c call) (traversal, error) {
			kept := slices.Clone(c.parent)
			t, err := c.search()
			for v := range c.parent {
				if err == nil && c.parent[v] == graph.Unreached && kept[v] >= 0 {
					c.parent[v] = kept[v]
				}
			}
			return t, err
		}), words{"search/other-component": "want -1 (no path from the root)", "graph/two-components": "pre-filled with"}},
		"finds nothing for the root it just had": {func() *mutant {
			last := vertex(-1)
			return &mutant{search: func(c call) (traversal, error) {
				t, err := c.search()
				if err == nil && c.root == last {
					for v := range c.parent {
						c.parent[v] = graph.Unreached
					}
				}
				last = c.root
				return t, err
			}}
		}, words{"search/any-order": "got -1"}},
		"takes the parent array's first length for ever": {func() *mutant {
			length := 0
			return &mutant{search: func(c call) (traversal, error) {
				if length == 0 {
					length = len(c.parent)
				}
				if len(c.parent) != length {
					return traversal{}, fmt.Errorf("%d entries: %w", len(c.parent), plugins.ErrParent)
				}
				return c.search()
			}}
		}, words{"search/parent-length": "got the error: 40 entries"}},
		"keeps its first graph": {func() *mutant {
			built := false
			return &mutant{construct: func(b build) (construction, error) {
				if built {
					return construction{Elapsed: 1, Bytes: 1}, nil
				}
				built = true
				return b.construct()
			}}
		}, words{"construct/again": "after other graphs in the same engine"}},
		"sorts the tuples in place": {given(func(b *build) {
			slices.SortFunc(b.in.Tuples, func(a, b graph.Edge) int {
				u, _ := a.Ends()
				v, _ := b.Ends()
				return cmp.Compare(u, v)
			})
		}), words{"construct/tuples-kept": "want the tuples unchanged by Construct, but tuple"}},
		"reads the tuples again at each search": {func() *mutant {
			var in plugins.Input
			return &mutant{
				construct: func(b build) (construction, error) {
					in = b.in
					return b.right.Construct(b.ctx, in)
				},
				search: func(c call) (traversal, error) {
					if in.Tuples != nil {
						if _, err := c.right.Construct(c.ctx, in); err != nil {
							return traversal{}, err
						}
					}
					return c.search()
				},
			}
		}, words{"construct/tuples-let-go": "after the host has overwritten the tuples"}},
		"ignores its context in searches": {searching(func(c call) (traversal, error) {
			return c.right.Search(context.WithoutCancel(c.ctx), c.root, c.parent)
		}), words{
			"cancel/before": "context ended before the call: want an error that wraps [\"context canceled\"], got: none",
		}},
		"takes its time after a canceled search": {searching(func(c call) (traversal, error) {
			return c.right.Search(slow(c.ctx, patience+time.Second/5), c.root, c.parent)
		}), words{"cancel/during-search": "want an end within 2s of the cancel"}},
		"takes its time after a canceled Construct": {given(func(b *build) {
			b.ctx = slow(b.ctx, patience+time.Second/5)
		}), words{"cancel/during-construct": "want an end within 2s of the cancel"}},
		"says failure instead of the context's error": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			if c.ctx.Err() != nil {
				err = errMutant
			}
			return t, err
		}), words{"cancel/before": "got: no reason", "cancel/during-search": "no reason"}},
		"keeps the graph when Construct fails": {constructing(func(b build) (construction, error) {
			d, _ := b.right.Describe(b.ctx)
			if _, err := plugins.Resolve(d.Options, b.in.Options); err != nil {
				return construction{}, err
			}
			if err := b.ctx.Err(); err != nil {
				return construction{}, err
			}
			return b.construct()
		}), words{
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
