// SPDX-License-Identifier: Apache-2.0

//go:build cgo

package native

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

func TestMain(m *testing.M) {
	code := 0
	Serve(func() { code = m.Run() })
	os.Exit(code)
}

// compile makes a library of a C file.
func compile(t testing.TB, source string) string {
	t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("a C compiler is needed: %v", err)
	}
	library := filepath.Join(t.TempDir(), "lib"+filepath.Base(source)+".so")
	cmd := exec.Command(compiler, "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
		"-I", ".", "-o", library, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return library
}

// notLoaded returns a library that has not been loaded, and its engine.
func notLoaded(t testing.TB, path string) (*library, plugins.Engine) {
	l := newLibrary(path)
	e := plugins.New(l.describe, l.build)
	t.Cleanup(func() { e.Close() })
	return l, e
}

var (
	exampleInC = filepath.Join("..", "examples", "c", "mine.c")
	repeater   = filepath.Join("testdata", "repeat.c")
)

// What the adapter of libraries has a part in; graphs are those of the example.
func TestExampleInCConforms(t *testing.T) {
	path := compile(t, exampleInC)
	open := func(context.Context) (plugins.Engine, error) { return New(path), nil }
	enginetest.TestQuick(t, open, []string{"describe/*", "graph/kronecker-10", "paths/[^e]*", "search/*", "repeat/*",
		"construct/*", "options/*", "cancel/before", "report/*", "close/ends"})
}

func TestRepeatUsesTheLibrarysOwnOrItsSearch(t *testing.T) {
	for _, source := range []string{repeater, exampleInC} {
		l, e := notLoaded(t, compile(t, source))
		_, tuples := enginetest.Generated(t, "path:1000")
		must.Get(e.Construct(t.Context(), plugins.Input{Tuples: tuples}))
		if own := l.functions.repeat != nil; own != (source == repeater) {
			t.Errorf("%s: has teps_repeat: %v", source, own)
		}
		repeat := e.(plugins.Repeater).Repeat
		start := time.Now()
		parent, roots := make([]graph.Vertex, 1000), []graph.Vertex{0, 500, 999}
		n, err := repeat(t.Context(), roots, 50*time.Millisecond, plugins.Output{Parent: parent})
		if took := time.Since(start); err != nil || n < 1 || took < 50*time.Millisecond || took > 5*time.Second {
			t.Errorf("%s: %d searches in %v: %v", source, n, took, err)
		}
		if last := roots[max(n-1, 0)%3]; parent[last] != last {
			t.Errorf("%s: the parent of the last root %d is %d", source, last, parent[last])
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		_, err = repeat(ctx, []graph.Vertex{0}, time.Hour, plugins.Output{Parent: parent})
		must.Is(t, err, context.DeadlineExceeded)
		cancel()
	}
}

func TestMissingLibraryIsAnErrorOfEveryCall(t *testing.T) {
	e := New("missing.so")
	for range 2 {
		must.Fail(t, must.Err(e.Describe(t.Context())), "missing.so")
	}
	must.Do(e.Close())
}

// odd returns the engine of a library with the given lines in its functions.
func odd(t *testing.T, describe, construct, search string) plugins.Engine {
	t.Helper()
	source := filepath.Join(t.TempDir(), "odd.c")
	code := fmt.Sprintf(`#include "teps_engine.h"
#include <time.h>
int teps_describe(teps_description *d) { d->abi = TEPS_ABI; strcpy(d->name, "odd"); %s; return TEPS_OK; }
int teps_construct(teps_call *c, const teps_tuple *t, int64_t n, teps_graph *g) {
	g->state = c; g->vertices = 2; g->entries = 2; (void)t; (void)n; %s; return TEPS_OK; }
int teps_search(teps_call *c, const teps_graph *g, int64_t r, int64_t *p) {
	p[0] = p[1] = r; (void)c; (void)g; %s; return TEPS_OK; }
void teps_free(teps_graph *g) { memset(g, 0, sizeof *g); }
`, describe, construct, search)
	must.Do(os.WriteFile(source, []byte(code), 0o600))
	_, e := notLoaded(t, compile(t, source))
	return e
}

const oddOptions = `
	teps_option o[] = {
		{.name = "n", .kind = TEPS_INT, .bounded = 1, .min = 1, .max = 9, .value = "3", .meaning = "a number"},
		{.name = "how", .kind = TEPS_CHOICE, .choices = "a,b", .value = "a"}, {.name = "word", .kind = TEPS_TEXT}};
	memcpy(d->options, o, sizeof o);
	strcpy(d->device, "abacus");
	d->units = 4`

func TestAnswersOfLibrariesAreChecked(t *testing.T) {
	long := map[string]string{"word": strings.Repeat("x", 256)}
	for name, c := range map[string]struct {
		describe, construct, search string
		options                     map[string]string
		want                        string
	}{
		"describe fails":       {describe: "return TEPS_FAILED", want: "teps_describe returned 100"},
		"another version":      {describe: "d->abi = 1", want: "compiled for version 1"},
		"an unknown kind":      {describe: `d->options[0] = (teps_option){.name = "n", .kind = 9}`, want: "unknown kind 9"},
		"a long value":         {describe: oddOptions, options: long, want: "has 256 bytes; a library takes at most 255"},
		"no state":             {construct: "g->state = NULL", want: "left graph->state NULL"},
		"negative sizes":       {construct: "g->bytes = -1", want: "reports 2 vertices, -1 bytes and 2 entries; they"},
		"a message":            {construct: `return teps_fail(c, TEPS_MEMORY, "%d bytes", 8)`, want: "8 bytes: not enough"},
		"another code":         {construct: "return 7", want: "teps_construct returned 7"},
		"too many levels":      {search: "c->level_count = 5000", want: "5000 levels"},
		"canceled by itself":   {search: "return TEPS_CANCELED", want: "but call->canceled was not set"},
		"a negative time":      {search: "c->elapsed_ns = -1", want: "reports -1 ns"},
		"a value out of range": {describe: oddOptions, options: map[string]string{"n": "10"}, want: "from 1 to 9"},
	} {
		t.Run(name, func(t *testing.T) {
			e := odd(t, c.describe, c.construct, c.search)
			_, err := e.Construct(t.Context(), plugins.Input{Options: c.options})
			if err == nil {
				_, err = e.Search(t.Context(), 0, plugins.Output{Parent: make([]graph.Vertex, 2)})
			}
			must.Fail(t, err, c.want)
		})
	}
}

func TestAnswersOfLibrariesAreConverted(t *testing.T) {
	e := odd(t, oddOptions, `if (teps_set_int(c, "n") != 5 || strcmp(teps_set(c, "how"), "a")) return TEPS_OPTION`,
		"c->level_count = 2; c->levels[0].edges = -1; c->levels[1].bottom_up = 1; c->levels[1].frontier = 1")
	d, err := e.Describe(t.Context())
	if err != nil || len(d.Options) != 3 || len(d.Options[1].Choices) != 2 || *d.Options[0].Max != 9 ||
		d.Devices[0].Name != "abacus" || d.Devices[0].Units != 4 {
		t.Errorf("got %+v, %v", d, err)
	}
	c, err := e.Construct(t.Context(), plugins.Input{Options: map[string]string{"n": "5"}})
	if n, known := c.Entries.Get(); err != nil || !known || n != 2 {
		t.Fatalf("got %+v, %v", c, err)
	}
	s, err := e.Search(t.Context(), 1, plugins.Output{Parent: make([]graph.Vertex, 2)})
	if err != nil || len(s.Levels) != 2 || s.Levels[0].Direction != graph.TopDown ||
		s.Levels[1].Direction != graph.BottomUp {
		t.Fatalf("got %+v, %v", s, err)
	}
	if _, known := s.Levels[0].Edges.Get(); known || s.Levels[1].Frontier != 1 {
		t.Errorf("got %+v", s.Levels)
	}
}

// The time of a library that has a clock counts; the host compares it with the time of its calls.
func TestTimeOfALibraryWithAClockCounts(t *testing.T) {
	e := odd(t, "", "", "c->elapsed_ns = 7")
	_ = must.Get(e.Construct(t.Context(), plugins.Input{}))
	if s := must.Get(e.Search(t.Context(), 1, plugins.Output{Parent: make([]graph.Vertex, 2)})); s.Elapsed != 7 {
		t.Errorf("got %v, want 7 ns", s.Elapsed)
	}
}

func TestAllCallsComeFromOneThread(t *testing.T) {
	e := odd(t, "", "static __thread int here; here = 1; g->state = &here", "if (!*(int *)g->state) return TEPS_FAILED;"+
		" static __thread int there; if (&there - (int *)g->state > 64 || (int *)g->state - &there > 64) return TEPS_FAILED")
	for range 20 {
		done := make(chan error)
		go func() {
			_, err := e.Construct(t.Context(), plugins.Input{})
			if err == nil {
				_, err = e.Search(t.Context(), 0, plugins.Output{Parent: make([]graph.Vertex, 2)})
			}
			done <- err
		}()
		must.Do(<-done)
	}
}

func TestHeaderIsCPlusPlus(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("g++ is needed")
	}
	if header := string(must.Get(os.ReadFile("teps_engine.h"))); Header() != header {
		t.Error("Header is another file")
	}
	for _, standard := range []string{"c++11", "c++20"} {
		out, err := exec.Command("g++", "-std="+standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
			"-include", "teps_engine.h", "/dev/null").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", standard, err, out)
		}
	}
}

// check ends the test with an error.
