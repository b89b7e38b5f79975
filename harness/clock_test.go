// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// lying is an engine of another process: every call costs something outside its clock, and it may report any time.
type lying struct {
	*serial
	cost, work time.Duration
	kernel1    func(time.Duration) time.Duration
	search     func(time.Duration) time.Duration
}

func (e lying) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	start := time.Now()
	built, err := e.serial.Construct(ctx, in)
	time.Sleep(e.work)
	built.Elapsed = e.kernel1(time.Since(start))
	return built, err
}

func (e lying) Search(ctx context.Context, root graph.Vertex, parents []graph.Vertex) (plugins.Traversal, error) {
	time.Sleep(e.cost)
	start := time.Now()
	t, err := e.serial.Search(ctx, root, parents)
	if len(e.csr.Neighbors(root)) > 0 {
		time.Sleep(e.work)
	}
	t.Elapsed = e.search(time.Since(start))
	return t, err
}

func TestClockLiesAreNotCompliant(t *testing.T) {
	honest := func(d time.Duration) time.Duration { return d }
	nanosecond := func(time.Duration) time.Duration { return 1 }
	divided := func(n time.Duration) func(time.Duration) time.Duration {
		return func(d time.Duration) time.Duration { return d / n }
	}
	const (
		leavesOut = "leaves out work"
		tooShort  = "the host cannot tell"
	)
	for name, c := range map[string]struct {
		engine lying
		want   map[string]string // by rule: a part of why it does not hold
	}{
		"honest, with dear calls": {engine: lying{cost: time.Millisecond, work: 5 * time.Millisecond}},
		"honest and fast, with dear calls": {
			engine: lying{cost: time.Millisecond}, want: map[string]string{"searches": tooShort},
		},
		"a nanosecond of a short search": {
			engine: lying{search: nanosecond}, want: map[string]string{"searches": tooShort},
		},
		"a third": {
			engine: lying{work: 15 * time.Millisecond, search: divided(3)}, want: map[string]string{"searches": leavesOut},
		},
		"kernel 1 in a nanosecond": {
			engine: lying{work: 5 * time.Millisecond, kernel1: nanosecond}, want: map[string]string{"kernel 1": tooShort},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				e := c.engine
				e.serial = &serial{}
				if e.kernel1 == nil {
					e.kernel1 = honest
				}
				if e.search == nil {
					e.search = honest
				}
				plan := planOf(8, "a")
				plan.Roots = 16
				plan.Engines[0] = record.EngineSpec{Name: "a", Path: "/an/engine"}
				r, _, err := runs(t, t.Context(), hostOf(map[string]plugins.Engine{"a": e}), plan)
				if err != nil || r.Runs[0].State != record.Complete {
					t.Fatal(err, r.Runs[0].Failure)
				}
				for _, rule := range r.Runs[0].Compliance.Rules {
					what, found := strings.CutPrefix(rule.Rule, "The engine's clock accounts for the time of ")
					if found && (rule.Holds != (c.want[what] == "") || !strings.Contains(rule.Detail, c.want[what])) {
						t.Errorf("%s: %v, %q; want %q", what, rule.Holds, rule.Detail, c.want[what])
					}
				}
			})
		})
	}
}
