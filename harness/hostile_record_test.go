package harness

import (
	"context"
	"errors"
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

func TestWhatAnEngineReportsIsRecordedInBounds(t *testing.T) {
	for name, after := range map[string]func(*plugins.Traversal) error{
		"an error": func(*plugins.Traversal) error { return errors.New(strings.Repeat("it failed ", 3<<20/10)) },
		"levels": func(t *plugins.Traversal) error {
			t.Levels = make([]plugins.Level, 300000)
			return nil
		},
		"ranks": func(t *plugins.Traversal) error {
			t.Ranks = make([]plugins.Rank, 50000)
			return nil
		},
		"phases": func(t *plugins.Traversal) error {
			t.Phases = []plugins.Phase{{Name: strings.Repeat("x", 1<<20)}}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			_, notes, err := runInto(t, dir, &serial{
				after: func(_ int, _ graph.Vertex, _ []graph.Vertex, traversal *plugins.Traversal) error {
					return after(traversal)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, note := range notes {
				if len(note) > 1100 {
					t.Errorf("a note of %d bytes: %.200s...", len(note), note)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, record.JournalFile)); err != nil || info.Size() > 1<<20 {
				t.Errorf("the journal has %d bytes, %v", info.Size(), err)
			}
			if r, err := record.Load(dir); err != nil || (r.Runs[0].Cut == nil) != (name == "an error" || name == "phases") {
				t.Errorf("%v; the record says %q", err, r.Runs[0].Cut)
			}
		})
	}
}
