// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// wrongRefusals are mutants that accept what they must refuse, or refuse what they describe.
func wrongRefusals() map[string]wrong {
	return map[string]wrong{
		"takes any option": {constructing(func(b build) (construction, error) {
			b.in.Options = maps.Clone(b.in.Options)
			delete(b.in.Options, "no-such-option")
			return b.construct()
		}), words{"options/refused": "Construct with no-such-option=1: want an error"}},
		"refuses one of its choices": {constructing(func(b build) (construction, error) {
			if b.in.Options["work"] == "quadratic" {
				return construction{}, errMutant
			}
			return b.construct()
		}), words{"options/values": "work=quadratic: want a graph, got the error: no reason"}},
		"says bad option without the sentinel": {constructing(func(b build) (construction, error) {
			c, err := b.construct()
			if err != nil {
				err = fmt.Errorf("%v", err)
			}
			return c, err
		}), words{
			"options/refused":      "want an error that wraps [\"unusable option\"], got: serial: construct: unknown option",
			"construct/huge-label": "unusable tuples",
		}},
		"takes any root": {searching(func(c call) (traversal, error) {
			return c.right.Search(c.ctx, min(max(c.root, 0), vertex(len(c.parent))-1), c.parent)
		}), words{"search/refused": "root -1 with 100 parents: want an error that wraps [\"root is not a vertex\"]"}},
		"panics on a root outside": {searching(func(c call) (traversal, error) {
			c.parent[c.root] = c.root
			return c.search()
		}), words{"search/refused": "want no panic"}},
		"searches into a short array": {searching(func(c call) (traversal, error) {
			if len(c.parent) > 0 && len(c.parent) < 100 {
				whole := make([]vertex, 100)
				t, err := c.right.Search(c.ctx, c.root, whole)
				copy(c.parent, whole)
				return t, err
			}
			return c.search()
		}), words{
			"search/refused": "root 0 with 99 parents: want an error that wraps [\"parent array is too short\"], got: none",
		}},
		"searches without a graph": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			if err != nil && c.root == 3 {
				return traversal{}, nil
			}
			return t, err
		}), words{"search/before-construct": "Search before any Construct: want an error"}},
		"takes labels that it cuts": {given(func(b *build) {
			b.in.Tuples = slices.Clone(b.in.Tuples)
			for i, e := range b.in.Tuples {
				u, v := e.Ends()
				b.in.Tuples[i] = graph.MakeEdge(u&7, v&7)
			}
		}), words{"construct/huge-label": "Search with 10 parents in a graph of labels up to 2^48-1"}},
		"lacks a device but accepts graphs": {said(func(d *description) { d.Unavailable = "no device" }),
			words{"describe/words": "wraps [\"engine is not available here\"], got: none"}},
		"never recovers from an error": {unrecovering, words{
			"search/refused":          "after a refused search",
			"search/before-construct": "after a Search without a graph",
			"options/refused":         "after a refused option",
			"construct/huge-label":    "got: no reason",
			"cancel/before":           "after a canceled search",
		}},
		"fails to close": {func() *mutant {
			return &mutant{close: func(plugins.Engine) error { return errMutant }}
		}, words{"graph/empty": "want no error from Close, got: no reason", "close/ends": "Close"}},
		"constructs after Close": {reopening(func(m *mutant) {
			m.construct = func(b build) (construction, error) {
				return serial.New().Construct(b.ctx, b.in)
			}
		}), words{"close/ends": "Construct after Close"}},
		"describes itself after Close": {reopening(func(m *mutant) {
			m.always = func(ctx context.Context) (description, error) { return serial.New().Describe(ctx) }
		}), words{"close/ends": "Describe after Close"}},
	}
}

// unrecovering makes an engine that returns only errors after its first error.
func unrecovering() *mutant {
	failed := false
	after := func(err error) error {
		if failed {
			return errMutant
		}
		failed = err != nil
		return err
	}
	return &mutant{
		construct: func(b build) (construction, error) {
			c, err := b.construct()
			return c, after(err)
		},
		search: func(c call) (traversal, error) {
			t, err := c.search()
			return t, after(err)
		},
	}
}

// reopening makes a correct engine that changes when it is closed.
func reopening(change func(m *mutant)) func() *mutant {
	return func() *mutant {
		m := &mutant{}
		m.close = func(right correct) error {
			change(m)
			return right.Close()
		}
		return m
	}
}
