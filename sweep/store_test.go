package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tepsbench/teps/harness"
)

func someCell(t *testing.T) (Cell, harness.Manifest) {
	t.Helper()
	c := someSweep().Cells()[0]
	if err := c.name(someSoftware, someMachine); err != nil {
		t.Fatal(err)
	}
	return c, harness.NewManifest([]string{"teps", "sweep"}, c.Plan, someSoftware, someMachine)
}

// What a process leaves that is killed at any point of a measurement is no record, and the cell is to be had again.
func TestACellThatWasLeftIsToBeHadAgain(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, path string){
		"an empty folder": func(t *testing.T, path string) { must(t, os.MkdirAll(path, 0o777)) },
		"an empty journal": func(t *testing.T, path string) {
			must(t, os.MkdirAll(path, 0o777))
			touch(t, path, harness.JournalFile)
		},
		"a plan without an end":      func(t *testing.T, path string) {},
		"a result that is not whole": func(t *testing.T, path string) { touch(t, path, "."+harness.ResultFile+".123") },
	} {
		t.Run(name, func(t *testing.T) {
			c, m := someCell(t)
			s := NewStore(filepath.Join(t.TempDir(), "store"))
			must(t, s.Make())
			if strings.HasPrefix(name, "a ") {
				run, _, _, err := s.Claim(c, m, false)
				must(t, err)
				must(t, run.Close())
			}
			leave(t, s.Path(c))
			if state, _, err := s.Look(c); state != Stopped || err != nil {
				t.Errorf("the cell is %s, %v", state, err)
			}
			run, _, _, err := s.Claim(c, m, false)
			if run == nil {
				t.Fatalf("the cell cannot be had: %v", err)
			}
			defer run.Close()
			list, _ := os.ReadDir(s.Path(c))
			if len(list) != 2 {
				t.Errorf("the new folder holds %v", list)
			}
			if list, _ := filepath.Glob(filepath.Join(s.Dir(), discarded+"*")); len(list) > 0 {
				t.Errorf("thrown away and still there: %v", list)
			}
			if state, _, _ := s.Look(c); state != Busy {
				t.Errorf("while it is measured, the cell is %s", state)
			}
		})
	}
}

// Of many who want the same cell at the same moment, one has it, whatever the one before has left.
func TestOneOfManyHasACell(t *testing.T) {
	c, m := someCell(t)
	s := NewStore(t.TempDir())
	for round := range 200 {
		var have atomic.Int32
		var start, tried, closed sync.WaitGroup
		const many = 8
		start.Add(1)
		tried.Add(many)
		for range many {
			closed.Go(func() {
				start.Wait()
				run, state, _, err := s.Claim(c, m, false)
				if run != nil {
					have.Add(1)
				} else if err != nil || state != Busy {
					t.Errorf("round %d: %s, %v", round, state, err)
				}
				tried.Done()
				tried.Wait() // the one that has it keeps it until all have tried
				if run != nil {
					run.Close()
				}
			})
		}
		start.Done()
		closed.Wait()
		if n := have.Load(); n != 1 {
			t.Fatalf("round %d: %d have the cell", round, n)
		}
	}
}

// A removal that was cut short is ended by the next process.
func TestAStoreIsTidied(t *testing.T) {
	s := NewStore(t.TempDir())
	must(t, os.MkdirAll(filepath.Join(s.Dir(), discarded+"1", "deep"), 0o777))
	must(t, os.MkdirAll(filepath.Join(s.Dir(), "somebody's"), 0o777))
	must(t, s.Make())
	if list, _ := os.ReadDir(s.Dir()); len(list) != 2 || list[0].Name() != lockFile || list[1].Name() != "somebody's" {
		t.Errorf("the store holds %v", list)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
}
