package power

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A machine is a tree of files as Linux shows them, in a folder that goes with the test.
type machine struct {
	t    testing.TB
	root string
}

// unpack makes the tree of an archive in testdata. (Names of zones have colons, which files of a Go module may not.)
func unpack(t *testing.T, archive string) machine {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	m := machine{t, t.TempDir()}
	for _, f := range a.Files {
		m.write(f.Name, string(f.Data))
	}
	return m
}

// write puts a text into a file that may be open, as a driver would: what it has is gone.
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

func (m machine) tree() fs.FS { return os.DirFS(m.root) }

// denied is a tree in which files of one name may not be read, whoever runs the test.
type denied struct {
	fs.FS
	name string
}

func (d denied) Open(path string) (fs.File, error) {
	if strings.HasSuffix(path, d.name) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return d.FS.Open(path)
}

// vanishing is a tree whose files answer as those of a device that was taken away, once it is gone.
type vanishing struct {
	fs.FS
	gone *atomic.Bool
	name string // of files that go
}

type vanishingFile struct {
	fs.File
	io.ReaderAt
	gone *atomic.Bool
}

func (v vanishing) Open(path string) (fs.File, error) {
	f, err := v.FS.Open(path)
	if at, ok := f.(io.ReaderAt); ok && err == nil && strings.Contains(path, v.name) {
		return vanishingFile{f, at, v.gone}, nil
	}
	return f, err
}

func (v vanishingFile) ReadAt(p []byte, off int64) (int, error) {
	if v.gone.Load() {
		return 0, &fs.PathError{Op: "read", Path: "energy_uj", Err: syscall.ENODEV}
	}
	return v.ReaderAt.ReadAt(p, off)
}

// only reads a meter that must give one reading.
func only(t *testing.T, m Meter) float64 {
	t.Helper()
	readings, err := m.Read(t.Context())
	if err != nil || len(readings) != 1 {
		t.Fatalf("%s: %v, %v", m.Info().Name, readings, err)
	}
	if readings[0].Time.IsZero() {
		t.Errorf("%s: a reading of no time", m.Info().Name)
	}
	return readings[0].Value
}

func byName(meters []Meter) map[string]Meter {
	all := map[string]Meter{}
	for _, m := range meters {
		all[m.Info().Name] = m
	}
	return all
}

func closeAll(t *testing.T, meters []Meter) {
	t.Cleanup(func() {
		if err := Close(meters); err != nil {
			t.Error(err)
		}
	})
}

func reasons(absences []Absence) string {
	var all []string
	for _, a := range absences {
		all = append(all, a.Source+": "+a.Reason)
	}
	return strings.Join(all, "\n")
}
