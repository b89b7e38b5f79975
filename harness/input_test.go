package harness

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/record"
)

func createStore(t *testing.T, plan record.Plan) *record.Store {
	t.Helper()
	manifest := record.NewManifest(nil, plan, someSoftware, someMachine)
	store, err := record.Create(filepath.Join(t.TempDir(), "run"), manifest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func TestInputServesSeveralRuns(t *testing.T) {
	host := hostOf(map[string]*serial{"a": {}, "b": {}})
	in, err := NewInput(t.Context(), host, planOf(8), record.GraphID{Scale: 8}, Silent{})
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"a", "b"} {
		r, err := ExecuteOn(t.Context(), host, createStore(t, planOf(8, engine)), in, Silent{})
		if err != nil || len(r.Runs) != 1 || !r.Runs[0].Valid {
			t.Errorf("engine %s: error %v, %+v", engine, err, r.Runs)
		}
	}
	if err := in.Close(); err != nil || host.lent != 0 {
		t.Errorf("close: error %v, %d blocks of memory were not released", err, host.lent)
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
		r.Runs[0].Failure != "memory for 256 parents: out of memory" || host.lent != 0 {
		t.Errorf("got %v, %q, %d blocks of memory were not released", err, r.Runs[0].Failure, host.lent)
	}
}
