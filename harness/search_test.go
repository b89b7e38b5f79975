package harness

import (
	"context"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// lazy writes only the entries of the vertices that it reaches, from its third search on. What it leaves is right by
// chance if the array still has the parents of the search before.
type lazy struct{ *serial }

func (l lazy) Search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	before := append([]graph.Vertex(nil), parent...)
	t, err := l.serial.Search(ctx, root, parent)
	for v, p := range parent {
		if l.searches >= 3 && p == graph.Unreached {
			parent[v] = before[v]
		}
	}
	return t, err
}

func TestParentsAreOverwrittenBetweenSearches(t *testing.T) {
	r, _, err := runs(t, t.Context(), hostOf(map[string]lazy{"a": {&serial{}}}), planOf(8, "a"))
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if run.Valid || run.State != record.Complete || len(run.Roots) != 64 {
		t.Fatalf("valid %v, state %s, %d roots", run.Valid, run.State, len(run.Roots))
	}
	for i, root := range run.Roots { // the first search is the warm-up, so the second of these is the third
		if wrong := strings.Contains(root.Violation, "never written"); wrong != (i >= 1) {
			t.Errorf("search %d: violation %q", i, root.Violation)
		}
	}
}
