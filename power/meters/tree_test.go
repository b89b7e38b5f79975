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
	check(t, err)
	m := emptyMachine(t)
	for _, f := range a.Files {
		m.write(f.Name, string(f.Data))
	}
	return m
}

// path returns the path of a file, whose directory exists.
func (m machine) path(name string) string {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	check(m.t, os.MkdirAll(filepath.Dir(path), 0o755))
	return path
}

// write replaces the content of a file, also while it is open.
func (m machine) write(name, text string) {
	m.t.Helper()
	check(m.t, os.WriteFile(m.path(name), []byte(text), 0o644))
}

// open opens the meters of a source and closes them when the test ends.
func (m machine) open(source Source) ([]power.Meter, error) {
	m.t.Helper()
	meters, err := source.Open(m.t.Context(), Request{Root: m.root})
	m.t.Cleanup(func() { check(m.t, power.Close(meters)) })
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

// check ends the test with an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// report reports the texts that an error does not contain.
func report(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !contains(err, text) {
			t.Errorf("%q is not among the reasons: %v", text, err)
		}
	}
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
