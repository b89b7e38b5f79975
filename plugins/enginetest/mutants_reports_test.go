// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// wrongReports are mutants that report something untrue or malformed.
func wrongReports() map[string]wrong {
	return map[string]wrong{
		"searches longer than the call": {after(func(_ vertex, _ []vertex, t *traversal) { t.Elapsed += time.Second }),
			words{"report/search": "that the call took"}},
		"searches in no time": {after(func(_ vertex, _ []vertex, t *traversal) { t.Elapsed = 0 }),
			words{"report/search": "is not positive"}},
		"has levels longer than the search": {after(func(_ vertex, _ []vertex, t *traversal) {
			t.Levels[0].Elapsed = t.Elapsed + 1
		}), words{"report/search": "levels' times within Traversal.Elapsed"}},
		"has phases longer than their level": {after(func(_ vertex, _ []vertex, t *traversal) {
			t.Levels[0].Phases = []plugins.Phase{{Name: "scan", Elapsed: t.Levels[0].Elapsed}, {Name: "rest", Elapsed: 1}}
		}), words{"report/search": "want the 2 phases' times within"}},
		"constructs longer than the call": {built(func(c *construction) { c.Elapsed *= 1000 }),
			words{"report/construct": "that the call took"}},
		"has phases without names": {built(func(c *construction) { c.Phases = []plugins.Phase{{Elapsed: 1}} }),
			words{"report/construct": "want a name for each phase"}},
		"counts the frontier one too high": {after(func(_ vertex, _ []vertex, t *traversal) {
			t.Levels[len(t.Levels)-1].Frontier++
		}), words{"report/search": "want a frontier of"}},
		"leaves out two levels": {after(func(_ vertex, _ []vertex, t *traversal) {
			t.Levels = t.Levels[:max(1, len(t.Levels)-2)]
		}), words{"report/search": "levels (or one less"}},
		"holds nothing": {built(func(c *construction) { c.Bytes = 0 }),
			words{"report/construct": "Construction.Bytes"}},
		"invents entries": {built(func(c *construction) { c.Entries = plugins.Counted(1 << 40) }),
			words{"report/construct": "Construction.Entries"}},
		"claims no width": {built(func(c *construction) { c.Claims.ParentBits = 0 }),
			words{"report/construct": "Claims.ParentBits"}},
		"claims no tuning": {built(func(c *construction) { c.Claims.Tuning = "" }),
			words{"report/construct": "Claims.Tuning"}},
		"makes no tuples from a recipe": {said(func(d *description) { d.MakesTuples = true }),
			words{"construct/recipe": "from the recipe"}},
		"has no version": {said(func(d *description) { d.Version = "" }),
			words{"describe/words": "Description.Version"}},
		"needs no memory": {said(func(d *description) { d.Memory = plugins.Memory{} }),
			words{"describe/words": "want Memory"}},
		"has a device of no kind": {said(func(d *description) { d.Devices = []plugins.Device{{Name: "x"}} }),
			words{"describe/words": "device 0"}},
		"has an option twice": {said(func(d *description) { d.Options = append(d.Options, d.Options[0]) }),
			words{"describe/options": "want different names"}},
		"has an impossible default": {said(func(d *description) { d.Options[0].Default = "sideways" }),
			words{"describe/options": "passes its own check"}},
		"has an option of no kind": {said(func(d *description) {
			d.Options[6] = plugins.Option{Name: "n", Kind: "number", Meaning: "a number"}
		}),
			words{"describe/options": "options[6].kind is \"number\""}},
		"has an option of no meaning": {said(func(d *description) { d.Options[6].Meaning = "" }),
			words{"describe/options": "a meaning"}},
		"has bounds for a choice": {said(func(d *description) { d.Options[0].Min = plugins.Bound(1) }),
			words{"describe/options": "bounds for numbers only"}},
		"has choices for a number": {said(func(d *description) { d.Options[6].Choices = []string{"1"} }),
			words{"describe/options": "choices for the kind choice"}},
		"has a choice twice": {said(func(d *description) { d.Options[0].Choices = []string{"linear", "linear"} }),
			words{"describe/options": "each choice once"}},
		"has a detail without a name": {built(func(c *construction) { c.Details = []plugins.Fact{{Value: "3"}} }),
			words{"report/construct": "a name for each detail"}},
		"has a device detail without a name": {said(func(d *description) {
			d.Devices = []plugins.Device{{Kind: "cpu", Name: "x", Details: []plugins.Fact{{Value: "3"}}}}
		}), words{"describe/words": "a name for each detail"}},
		"has no summary": {said(func(d *description) { d.Summary = "" }), words{"describe/words": "Description.Summary"}},
	}
}

// wrongInTheLoop are mutants with correct searches and a wrong Repeat.
func wrongInTheLoop() map[string]wrong {
	repeated := func(repeat func(l loop) (int64, error)) func() *mutant {
		return func() *mutant { return &mutant{repeat: repeat} }
	}
	looped := false
	return map[string]wrong{
		"repeats nothing": {repeated(func(loop) (int64, error) { return 1000, nil }),
			words{"repeat/duration": "got 1000 searches"}},
		"repeats for too long": {repeated(func(l loop) (int64, error) {
			l.duration += 3 * time.Second
			return l.repeat()
		}), words{"repeat/duration": "want Repeat to search for 1ms"}},
		"skips roots that it has searched from": {repeated(func(l loop) (int64, error) {
			n, err := l.repeat()
			return 100_000 * n, err
		}), words{"repeat/count": "want no more searches than there is time for"}},
		"repeats the first root only": {repeated(func(l loop) (int64, error) {
			l.roots = l.roots[:1]
			n, err := l.repeat()
			return 3*n - 1, err // which three roots would have ended with the second
		}), words{"repeat/duration": "the result of the last of"}},
		"keeps the parents of its loop": {repeated(func(l loop) (int64, error) {
			l.Parent = make([]vertex, len(l.Parent))
			return l.repeat()
		}), words{"repeat/duration": "the result of the last of"}},
		"repeats to the end": {repeated(func(l loop) (int64, error) {
			l.ctx, l.duration = context.WithoutCancel(l.ctx), min(l.duration, 4*time.Second)
			return l.repeat()
		}), words{"repeat/cancel": "want an end within 2s of the cancel"}},
		"ends quietly when it is canceled": {repeated(func(l loop) (int64, error) {
			n, err := l.repeat()
			if l.ctx.Err() != nil {
				return n, nil
			}
			return n, err
		}), words{"repeat/cancel": "want an error that wraps"}},
		"repeats from whatever comes": {repeated(func(l loop) (int64, error) {
			for i := range l.roots {
				l.roots[i] = max(l.roots[i], 0) % 100
			}
			return l.repeat()
		}), words{"repeat/refuses": "Repeat from roots [1 -1] for 10ms: want an error"}},
		"is changed by a loop": {func() *mutant {
			m := after(func(root vertex, parent []vertex, _ *traversal) {
				if looped {
					parent[root] = graph.Unreached
				}
			})()
			m.repeat = func(l loop) (int64, error) {
				looped = looped || l.duration > time.Millisecond
				return l.repeat()
			}
			return m
		}, words{"repeat/duration": "after a Repeat: "}},
	}
}

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
			return c.right.Search(c.ctx, min(max(c.root, 0), vertex(len(c.Parent))-1), c.Output)
		}), words{"search/refused": "root -1 with 100 parents: want an error that wraps [\"root is not a vertex\"]"}},
		"panics on a root outside": {searching(func(c call) (traversal, error) {
			c.Parent[c.root] = c.root
			return c.search()
		}), words{"search/refused": "want no panic"}},
		"searches into a short array": {searching(func(c call) (traversal, error) {
			if len(c.Parent) > 0 && len(c.Parent) < 100 {
				c.Parent = make([]vertex, 100)
			}
			return c.search()
		}), words{
			"search/refused": "root 0 with 99 parents: want an error that wraps [\"parent array is too short\"], got: none",
		}},
		"searches without a graph": {searching(func(c call) (traversal, error) {
			t, err := c.search()
			if c.root == 3 {
				err = nil
			}
			return t, err
		}), words{"search/before-construct": "Search before any Construct: want an error"}},
		"takes labels that it cuts": {onInput(func(b *build) {
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
		"fails to close": {closing(func(correct) error { return errMutant }),
			words{"graph/empty": "want no error from Close, got: no reason", "close/ends": "Close"}},
		"constructs after Close": {reopening(func(m *mutant) {
			m.construct = func(b build) (construction, error) { return serial.New().Construct(b.ctx, b.in) }
		}), words{"close/ends": "Construct after Close"}},
		"describes itself after Close": {reopening(func(m *mutant) { m.always = serial.New().Describe }),
			words{"close/ends": "Describe after Close"}},
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
