// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
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
		"claims bits as bytes": {built(func(c *construction) { c.Claims.VertexBits = 4 }),
			words{"report/construct": "VertexBits"}},
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
			words{"describe/options": "a unique name"}},
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
		}), words{"repeat/duration": "the parents of the last of"}},
		"keeps the parents of its loop": {repeated(func(l loop) (int64, error) {
			l.parent = make([]vertex, len(l.parent))
			return l.repeat()
		}), words{"repeat/duration": "the parents of the last of"}},
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
			m, looped := &mutant{}, false
			m.repeat = func(l loop) (int64, error) {
				looped = looped || l.duration > time.Millisecond
				return l.repeat()
			}
			m.search = func(c call) (traversal, error) {
				t, err := c.search()
				if looped && err == nil {
					c.parent[c.root] = graph.Unreached
				}
				return t, err
			}
			return m
		}, words{"repeat/duration": "after a Repeat: "}},
	}
}
