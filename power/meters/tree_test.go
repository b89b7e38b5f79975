// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/tepsbench/teps/power"
)

// A machine is a directory with the files that Linux would show.
type machine struct {
	t    testing.TB
	root string
}

func emptyMachine(t testing.TB) machine { return machine{t, t.TempDir()} }

// unpack makes the machine that an archive in testdata describes. (The names of zones have colons, which names of
// files in a Go module cannot have.)
func unpack(t testing.TB, archive string) machine {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	m := emptyMachine(t)
	for _, f := range a.Files {
		m.write(f.Name, string(f.Data))
	}
	return m
}

// write replaces the content of a file, also while it is open.
func (m machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) remove(name string) {
	m.t.Helper()
	if err := os.RemoveAll(filepath.Join(m.root, name)); err != nil {
		m.t.Fatal(err)
	}
}

// link makes a symbolic link.
func (m machine) link(name, target string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		m.t.Fatal(err)
	}
}

// open opens the meters of a source and closes them when the test ends.
func (m machine) open(source Source) ([]power.Meter, error) {
	m.t.Helper()
	meters, err := source.Open(m.t.Context(), Request{Root: m.root})
	m.t.Cleanup(func() {
		if err := power.Close(meters); err != nil {
			m.t.Error(err)
		}
	})
	return meters, err
}

// only reads a meter and returns the value of its only reading.
func only(t testing.TB, m power.Meter) float64 {
	t.Helper()
	readings, err := m.Read(t.Context())
	if err != nil || len(readings) != 1 || readings[0].Time.IsZero() {
		t.Fatalf("%s: got %v, %v, want one reading", m.Info().Name, readings, err)
	}
	return readings[0].Value
}

func byName(meters []power.Meter) map[string]power.Meter {
	all := map[string]power.Meter{}
	for _, m := range meters {
		all[m.Info().Name] = m
	}
	return all
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
