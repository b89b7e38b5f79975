// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// planOn returns a plan of the graph that text names.
func planOn(t *testing.T, text string, engines ...string) record.Plan {
	t.Helper()
	p := planOf(8, engines...)
	p.Scales, p.Roots = []int{}, 4
	must.Do(p.AddGraph(text))
	return p
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	must.Do(os.WriteFile(name, []byte(text), 0o600))
}

// A compressed file is small until it is read.
func TestReadingEndsBeforeTheMemoryDoes(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	for range 1 << 8 {
		_, _ = z.Write(bytes.Repeat([]byte("1 2\n"), 1<<16))
	}
	must.Do(z.Close())
	looks, given := 0, int64(0)
	available := func(context.Context) (int64, string, error) {
		looks++
		return 150<<20 - given, "a test", nil
	}
	room := make([]graph.Edge, 1<<20)
	memory := func(n int) ([]graph.Edge, error) {
		given += int64(n) * graph.EdgeBytes
		return room[:n], nil
	}
	_, err := files.LoadFrom(t.Context(), &zipped, "a.el.gz",
		files.Options{Memory: memory, Reserve: withinMemory(t.Context(), available)})
	if !errors.Is(err, plugins.ErrMemory) || strings.Contains(err.Error(), "\n") ||
		!strings.HasPrefix(err.Error(), "a.el.gz: not enough memory: reading it takes 6") ||
		!strings.HasSuffix(err.Error(), " available (a test)") {
		t.Errorf("%v", err)
	}
	if looks != 3 || given > 150<<20 {
		t.Errorf("%d looks, %d bytes were given", looks, given)
	}
}

// A header may announce more vertices than fit any machine. Such a file is refused like one that cannot be read.
func TestFileThatCannotBeReadIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.mtx")
	const header = "%%MatrixMarket matrix coordinate pattern symmetric\n"
	for text, want := range map[string]string{
		header + "281474976710656 281474976710656 1\n2 1\n": "a.mtx: not enough memory: 281474976710656 vertices need ",
		header + "2 2 1\nx\n":                               name + ":3: ",
		header + "0 0 0\n":                                  "a.mtx: the graph has no vertices",
	} {
		writeFile(t, name, text)
		_, _, err := runs(t, t.Context(), hostOf(map[string]*serial{"a": {}}), planOn(t, name, "a"))
		var unread *ReadError
		if !errors.As(err, &unread) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want a ReadError that begins with %q", err, want)
		}
	}
}

// An engine that changes the tuples makes the harness read the file again for the next one.
func TestFileIsReadAgainAfterAnEngineChangedTheTuples(t *testing.T) {
	const text = "0 1\n1 2\n2 3\n3 4\n"
	name := filepath.Join(t.TempDir(), "a.el")
	for about, c := range map[string]struct{ before, want string }{
		"the same":       {text, ""},
		"another file":   {strings.Replace(text, "3 4", "3 5", 1), name + ": the file has changed since the run began"},
		"a longer file":  {text + "4 5\n", name + ": the file has changed since the run began"},
		"a shorter file": {"0 1\n", name + ": the file has changed since the run began"},
		"no graph":       {"x\n", name + ":1: want two vertices"},
	} {
		writeFile(t, name, text)
		clearing := tampering(0, func(tuples []graph.Edge) {
			clear(tuples)
			writeFile(t, name, c.before)
		})
		host := hostOf(map[string]plugins.Engine{"a": clearing, "b": &serial{}})
		r, _, err := runs(t, t.Context(), host, planOn(t, name, "a", "b"))
		switch {
		case c.want == "" && (err != nil || r.Runs[0].Valid || !r.Runs[1].Valid):
			t.Errorf("%s: %v, %+v", about, err, r.Runs)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: got %v, want %s", about, err, c.want)
		}
	}
}

func TestStandardInputIsReadOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.el")
	writeFile(t, name, "0 1\n1 2\n")
	file := must.Get(os.Open(name))
	defer file.Close()
	defer func(stdin *os.File) { os.Stdin = stdin }(os.Stdin)
	os.Stdin = file
	clearing := tampering(0, func(tuples []graph.Edge) { clear(tuples) })
	host := hostOf(map[string]plugins.Engine{"a": clearing, "b": &serial{}})
	r, _, err := runs(t, t.Context(), host, planOn(t, record.StandardInput, "a", "b"))
	if err == nil || !strings.Contains(err.Error(), "standard input cannot be read again") {
		t.Errorf("%v", err)
	}
	if g := r.Runs[0].Graph; g == nil || g.Tuples != 2 || len(g.File.SHA256) != 64 {
		t.Errorf("%+v", g)
	}
}

func TestEnergyOfAGraphWithoutAScale(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		plan := planOn(t, "path:64", "a")
		plan.Energy = loopTime
		engine := &looping{serial: &serial{}}
		r, store := must.Get2(runs(t, t.Context(), metering(engine, counter("wall", power.Wall, 50)), plan))
		run := r.Runs[0]
		if f, found := run.Energy.Headline(); !run.Valid || run.Compliance.Compliant || !found || f.MTEPSPerWatt <= 0 ||
			run.Energy.Loop.NEdge != 63*run.Energy.Loop.Searches {
			t.Errorf("valid %v, energy %+v", run.Valid, run.Energy)
		}
		if again, err := record.Load(store.Dir()); err != nil || again.Runs[0].Graph.Recipe != (graph.Kronecker{}) ||
			again.Runs[0].Energy == nil {
			t.Errorf("loaded: %v", err)
		}
	})
}

func TestInputServesSeveralRuns(t *testing.T) {
	host := hostOf(map[string]*serial{"a": {}, "b": {}})
	in := must.Get(NewInput(t.Context(), host, planOf(8), record.GraphID{Scale: 8}, Silent{}))
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

// only is the exchange of a single part.
type only struct{}

func (only) Rank() int                           { return 0 }
func (only) Size() int                           { return 1 }
func (only) All(send [][]byte) ([][]byte, error) { return send, nil }
func (only) Sum([]int64) error                   { return nil }
func (only) Min([]int64) error                   { return nil }

func TestAPartIsASliceOfTheTuples(t *testing.T) {
	host, plan := hostOf(map[string]plugins.Engine{"a": &serial{}}), planOf(8, "a")
	id := plan.GraphIDs()[0]
	whole, part := newLocal(host, plan, id, plan.Recipe(8)), must.Get(NewPart(host, plan, id, only{}))
	var made []Made
	for _, data := range []Data{whole, part} {
		made = append(made, must.Get(data.Make(t.Context(), &record.GraphRecord{Vertices: 1 << 8}, Silent{})))
		must.Do(data.Close())
	}
	must.Equal(t, made[1], made[0])
}
