package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// tampering is an engine that keeps its input and changes it.
type tampering struct {
	*serial
	tuples      []graph.Edge
	inConstruct func([]graph.Edge)
	inSearch    func(n int, tuples []graph.Edge, parents []graph.Vertex)
	searches    int
}

func (e *tampering) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	built, err := e.serial.Construct(ctx, in)
	if e.tuples = in.Tuples; e.inConstruct != nil {
		e.inConstruct(in.Tuples)
	}
	return built, err
}

func (e *tampering) Search(
	ctx context.Context, root graph.Vertex, parents []graph.Vertex) (plugins.Traversal, error) {
	t, err := e.serial.Search(ctx, root, parents)
	if e.searches++; e.inSearch != nil {
		e.inSearch(e.searches, e.tuples, parents)
	}
	return t, err
}

func TestEngineThatChangesTheTuplesFailsAlone(t *testing.T) {
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
	for name, e := range map[string]*tampering{
		"relabels in place": {inConstruct: relabel},
		"zeros":             {inConstruct: func(tuples []graph.Edge) { clear(tuples) }},
		"swaps two tuples": {inConstruct: func(tuples []graph.Edge) {
			tuples[0], tuples[len(tuples)-1] = tuples[len(tuples)-1], tuples[0]
		}},
		"sets one bit in the last searches": {inSearch: func(n int, tuples []graph.Edge, _ []graph.Vertex) {
			if n > 60 {
				u, v := tuples[77].Ends()
				tuples[77] = graph.MakeEdge(u|1<<20, v)
			}
		}},
		"makes a star between searches": {inSearch: func(n int, tuples []graph.Edge, _ []graph.Vertex) {
			if n == 9 {
				star(tuples)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e.serial = &serial{}
			host := hostOf(map[string]plugins.Engine{"a": e, "b": &serial{}})
			r, store, err := runs(t, t.Context(), host, planOf(8, "a", "b"))
			if err != nil {
				t.Fatal(err)
			}
			bad, good := r.Runs[0], r.Runs[1]
			if bad.State != record.Failed || !bad.Void || bad.Valid || bad.Compliance.Compliant ||
				!strings.Contains(bad.Failure, "the engine changed the tuples") || strings.Contains(bad.Failure, "\n") {
				t.Errorf("state %s, void %v, valid %v, %q", bad.State, bad.Void, bad.Valid, bad.Failure)
			}
			if !good.Valid || !good.Compliance.Compliant {
				t.Errorf("the engine after it: state %s, valid %v, %q", good.State, good.Valid, good.Failure)
			}
			e.inConstruct, e.inSearch = nil, nil
			again := resume(t, host, store.Dir()).Runs[0]
			if !again.Valid || again.Void || again.Sessions != 1 || len(again.Roots) != 64 {
				t.Errorf("resumed without changes: state %s, %d sessions, %d roots", again.State, again.Sessions, len(again.Roots))
			}
		})
	}
}

func TestTuplesThatAreChangedWithoutAnEngineEndTheRun(t *testing.T) {
	in, err := NewInput(t.Context(), hostOf[*serial](nil), planOf(8), record.GraphID{Scale: 8}, Silent{})
	if err != nil {
		t.Fatal(err)
	}
	in.sum++
	if err := in.restore(t.Context(), Silent{}); err == nil || !strings.Contains(err.Error(), "while no engine runs") {
		t.Errorf("got %v", err)
	}
}

// An engine that keeps its parent array cannot see or change the results of another one.
func TestParentsAreOfOneEngineOnly(t *testing.T) {
	var kept []graph.Vertex
	a := &tampering{serial: &serial{}, inSearch: func(_ int, _ []graph.Edge, parents []graph.Vertex) { kept = parents }}
	b := &tampering{serial: &serial{}, inSearch: func(_ int, _ []graph.Edge, parents []graph.Vertex) {
		before := kept[0]
		parents[0]++
		if kept[0] != before {
			t.Error("an engine sees the parents of another one")
		}
		parents[0]--
		for v := range kept {
			kept[v] = graph.Unwritten
		}
	}}
	r, _, err := runs(t, t.Context(), hostOf(map[string]plugins.Engine{"a": a, "b": b}), planOf(8, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range r.Runs {
		if !run.Valid {
			t.Errorf("%s: %s %s", run.Engine.Name, run.State, run.Failure)
		}
	}
}
