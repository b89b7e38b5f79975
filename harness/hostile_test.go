// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// tampering returns an engine that changes its tuples in one search, or before kernel 1 if search is 0.
func tampering(search int, change func([]graph.Edge)) *serial {
	var tuples []graph.Edge
	return &serial{
		input: func(in plugins.Input) {
			if tuples = in.Tuples; search == 0 {
				change(tuples)
			}
		},
		after: report(search, func(*plugins.Traversal) { change(tuples) }),
	}
}

func TestEngineThatChangesTheTuples(t *testing.T) {
	relabel := func(tuples []graph.Edge) {
		for i, e := range tuples {
			u, v := e.Ends()
			tuples[i] = graph.MakeEdge(u^1, v^1)
		}
	}
	star := func(tuples []graph.Edge) {
		for i := range tuples {
			tuples[i] = graph.MakeEdge(0, graph.Vertex(i%256))
		}
	}
	for name, c := range map[string]struct {
		search int // that changes them; 0: kernel 1
		change func(tuples []graph.Edge)
	}{
		"relabels in place": {0, relabel},
		"zeros":             {0, func(tuples []graph.Edge) { clear(tuples) }},
		"swaps two tuples": {0, func(tuples []graph.Edge) {
			tuples[0], tuples[len(tuples)-1] = tuples[len(tuples)-1], tuples[0]
		}},
		"sets one bit in a late search": {61, func(tuples []graph.Edge) {
			u, v := tuples[77].Ends()
			tuples[77] = graph.MakeEdge(u|1<<20, v)
		}},
		"makes a star between searches": {9, star},
	} {
		t.Run(name, func(t *testing.T) {
			e := tampering(c.search, c.change)
			host := hostOf(map[string]plugins.Engine{"a": e, "b": &serial{}})
			r, store := must.Get2(runs(t, t.Context(), host, planOf(8, "a", "b")))
			bad, good := r.Runs[0], r.Runs[1]
			if bad.State != record.Failed || !bad.Void || bad.Valid || bad.Compliance.Compliant ||
				!strings.Contains(bad.Failure, "the engine changed the tuples") || strings.Contains(bad.Failure, "\n") {
				t.Errorf("state %s, void %v, valid %v, %q", bad.State, bad.Void, bad.Valid, bad.Failure)
			}
			if !good.Valid || !good.Compliance.Compliant {
				t.Errorf("the engine after it: state %s, valid %v, %q", good.State, good.Valid, good.Failure)
			}
			e.input, e.after = nil, nil
			again := resume(t, t.Context(), host, store.Dir()).Runs[0]
			if !again.Valid || again.Void || again.Sessions != 1 || len(again.Roots) != 64 {
				t.Errorf("resumed without changes: state %s, %d sessions, %d roots", again.State, again.Sessions, len(again.Roots))
			}
		})
	}
}

func TestTuplesThatChangeWithoutAnEngineEndTheRun(t *testing.T) {
	in := must.Get(NewInput(t.Context(), hostOf[*serial](nil), planOf(8), record.GraphID{Scale: 8}, Silent{}))
	in.Data.(*local).sum++
	if err := in.Restore(t.Context(), Silent{}); err == nil || !strings.Contains(err.Error(), "while no engine runs") {
		t.Errorf("got %v", err)
	}
}

// An engine that keeps its parent array cannot see or change the results of another one.
func TestParentsAreOfOneEngineOnly(t *testing.T) {
	var kept []graph.Vertex
	a := &serial{after: func(_ int, _ graph.Vertex, parents []graph.Vertex, _ *plugins.Traversal) error {
		kept = parents
		return nil
	}}
	b := &serial{after: func(_ int, _ graph.Vertex, parents []graph.Vertex, _ *plugins.Traversal) error {
		before := kept[0]
		parents[0]++
		if kept[0] != before {
			t.Error("an engine sees the parents of another one")
		}
		parents[0]--
		for v := range kept {
			kept[v] = graph.Unwritten
		}
		return nil
	}}
	r, _ := must.Get2(runs(t, t.Context(), hostOf(map[string]plugins.Engine{"a": a, "b": b}), planOf(8, "a", "b")))
	for _, run := range r.Runs {
		if !run.Valid {
			t.Errorf("%s: %s %s", run.Engine.Name, run.State, run.Failure)
		}
	}
}

// The record of a run that is damaged on the disk fails the run, which keeps its searches.
func TestRecordDamagedDuringARunFailsIt(t *testing.T) {
	store := createStore(t, planOf(7, "a"))
	e := &serial{after: report(4, func(*plugins.Traversal) {
		path := filepath.Join(store.Dir(), record.JournalFile)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.Replace(string(text), `"nedge":`, `"nedge":9`, 1)), 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	})}
	r, err := Execute(t.Context(), hostOf(map[string]*serial{"a": e}), store, Silent{})
	if err == nil || !strings.Contains(err.Error(), "changed or damaged during the run") ||
		!r.Runs[0].Sound() || len(r.Runs[0].Roots) != 64 {
		t.Errorf("got %v, want an error about the record; %+v", err, r.Runs[0].State)
	}
}

// stingy is a Host without memory for parents.
type stingy struct{ *inside }

func (stingy) Parents(int64) ([]graph.Vertex, func() error, error) {
	return nil, nil, errors.New("out of memory")
}

func TestEngineWithoutMemoryForParentsFails(t *testing.T) {
	host := stingy{hostOf(map[string]*serial{"a": {}})}
	r, err := Execute(t.Context(), host, createStore(t, planOf(8, "a")), Silent{})
	if err != nil || r.Runs[0].State != record.Failed ||
		!strings.HasSuffix(r.Runs[0].Failure, "memory for 256 parents: out of memory") || host.lent != 0 {
		t.Errorf("got %v, %q, %d blocks of memory were not released", err, r.Runs[0].Failure, host.lent)
	}
}
