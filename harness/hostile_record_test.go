package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// runInto executes a plan of an engine into a new directory, which the engine may know.
func runInto(t *testing.T, dir string, engine *serial) (record.Result, []string, error) {
	t.Helper()
	plan := planOf(7, "hostile")
	plan.Roots = 4
	store, err := record.Create(dir, record.NewManifest([]string{"teps", "run"}, plan, someSoftware, someMachine))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	progress := &note{}
	r, err := Execute(context.Background(), hostOf(map[string]*serial{"hostile": engine}), store, progress)
	return r, progress.notes, err
}

func TestARecordDamagedDuringARunFailsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, _, err := runInto(t, dir, &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
		if n != 4 {
			return nil
		}
		path := filepath.Join(dir, record.JournalFile)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.WriteAt([]byte("9"), int64(strings.LastIndex(string(text), `"nedge":`)+len(`"nedge":`)))
		return err
	}})
	if err == nil || !strings.Contains(err.Error(), "changed or damaged during the run") {
		t.Errorf("got %v, want an error about the record", err)
	}
	if !r.Runs[0].Sound() || len(r.Runs[0].Roots) != 4 {
		t.Errorf("the searches were not kept: %+v", r.Runs[0].State)
	}
}

// An engine that reports more about a search than a line of the record may have fails.
func TestWhatAnEngineReportsIsRecordedInBounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	_, _, err := runInto(t, dir, &serial{
		after: func(_ int, _ graph.Vertex, _ []graph.Vertex, traversal *plugins.Traversal) error {
			traversal.Phases = make([]plugins.Phase, 600000)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, record.JournalFile)); err != nil || info.Size() > 1<<20 {
		t.Errorf("the journal has %d bytes, %v", info.Size(), err)
	}
	r, err := record.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := "but at most 8 MiB are recorded"
	if run := r.Runs[0]; run.State != record.Failed || !strings.Contains(run.Failure, want) {
		t.Errorf("%s: %q, want %q", run.State, run.Failure, want)
	}
}
