// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// withLauncher puts a shell script into PATH as mpirun.
func withLauncher(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the launcher of this test is a shell script")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "mpirun.openmpi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// withStandIn makes this program the launcher. Like mpirun, it takes the number of ranks from its arguments. It is
// killed as soon as the returned file exists.
func withStandIn(t *testing.T) (killer string) {
	t.Helper()
	killer = filepath.Join(t.TempDir(), "kill")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	withLauncher(t, fmt.Sprintf("#!/bin/sh\necho a line printed by a library\n"+
		"while [ \"$1\" != --ranks ]; do shift; done\n"+
		"(while [ ! -e '%s' ]; do sleep 0.1; kill -0 $$ || exit; done; kill -9 $$) >/dev/null 2>&1 &\n"+
		"exec '%s' -mpi.standin \"$2\"\n", killer, self))
	return killer
}

// checkLeftovers fails if directories of jobs that have ended remain.
func checkLeftovers(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-*", dirPrefix, os.Getpid())))
	memory, memoryErr := filepath.Glob("/dev/shm/teps-rank-*-1") // of a launcher of these tests
	if left = append(left, memory...); len(left) > 0 || err != nil || memoryErr != nil {
		t.Errorf("got directories %v, %v, want none", left, errors.Join(err, memoryErr))
	}
}

// An engine on another host than rank 0 is connected to it through standard input and output. These are the cases of
// the conformance suite that depend on the connection.
func TestEngineOverStandardInputAndOutput(t *testing.T) {
	withStandIn(t)
	open := func(context.Context) (plugins.Engine, error) { return New(), nil }
	for _, c := range enginetest.Cases() {
		switch name, _, _ := strings.Cut(c.Name, "/"); name {
		case "cancel", "repeat", "close":
			if testing.Short() && strings.HasPrefix(c.Name, "cancel/during") {
				continue
			}
		default:
			if c.Name != "graph/kronecker-10" && c.Name != "graph/high-labels" {
				continue
			}
		}
		o := c.Run(t.Context(), open, map[string]string{"ranks": "4"}, enginetest.Limit)
		if o.Err != nil || o.Skipped != "" {
			t.Errorf("%s: %v %s", c.Name, o.Err, o.Skipped)
		}
	}
	checkLeftovers(t)
}

// Ranks generate the same tuples from the recipe as the host would have sent.
func TestRanksGenerateTheirSlices(t *testing.T) {
	withStandIn(t)
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	e := New()
	defer e.Close()
	in := plugins.Input{Recipe: &recipe, Options: map[string]string{"ranks": "3"}}
	if _, err := e.Construct(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	_, tuples := enginetest.Generated(t, "kron:10")
	validator, err := validate.New(tuples, 1<<10, 0)
	if err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, 1<<10)
	for root := graph.Vertex(0); root < 20; root++ {
		if _, err := e.Search(t.Context(), root, parent); err != nil {
			t.Fatal(err)
		}
		if _, err := validator.Validate(t.Context(), root, parent); err != nil {
			t.Errorf("root %d: %v", root, err)
		}
	}
}

// If the ranks end during a search, that search fails, and the graph is gone.
func TestLauncherThatEndsDuringASearch(t *testing.T) {
	killer := withStandIn(t)
	const labels = 1 << 20 // levels, too: the search must not end before the launcher is killed
	var path []graph.Edge
	for v := graph.Vertex(1); v < labels; v++ {
		path = append(path, graph.MakeEdge(v-1, v))
	}
	e := New()
	defer e.Close()
	if _, err := e.Construct(t.Context(), plugins.Input{Tuples: path}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(killer, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	parent := make([]graph.Vertex, labels)
	_, err := e.Search(t.Context(), 0, parent)
	if err == nil || !strings.Contains(err.Error(), "mpirun ended (signal: killed") {
		t.Errorf("got %v, want the end of mpirun", err)
	}
	if _, err := e.Search(t.Context(), 0, parent); !errors.Is(err, plugins.ErrNotConstructed) {
		t.Errorf("search again: got %v, want %v", err, plugins.ErrNotConstructed)
	}
}

// A launcher that fails is an error with its cause and its last output. One that hangs is ended with the context.
func TestLaunchersThatFailAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		is     error
		want   string
	}{
		"ends": {"echo 'no slots are left' >&2\nexit 7", plugins.ErrUnavailable,
			"mpirun ended (exit status 7); its last output: no slots are left"},
		"leaves memory":       {"mkdir -p /dev/shm/teps-rank-$$-1\nexit 7", plugins.ErrUnavailable, "exit status 7"},
		"prints garbage":      {"echo garbage garbage garbage", plugins.ErrUnavailable, "mpirun ended"},
		"has another version": {`echo '{"Version":"mpi-rank/1"}'; exec sleep 60`, plugins.ErrUnavailable, `"mpi-rank/1"`},
		"is killed":           {"kill -9 $$", plugins.ErrUnavailable, "signal: killed"},
		"hangs":               {"exec sleep 60", context.DeadlineExceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			withLauncher(t, "#!/bin/sh\n"+c.script+"\n")
			e := New()
			defer e.Close()
			ctx := t.Context()
			if c.is == context.DeadlineExceeded {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
			}
			start := time.Now()
			if _, err := e.Construct(ctx, plugins.Input{}); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q of %v", err, c.want, c.is)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			checkLeftovers(t)
		})
	}
}

// shortTempDir makes a directory with a path that is short enough for sockets, and makes it TMPDIR.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "teps-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

// Without space for its files, mpirun would hang.
func TestFullTemporaryDirectoryIsAnError(t *testing.T) {
	withLauncher(t, "#!/bin/sh\nexec sleep 60\n")
	dir := shortTempDir(t)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	e := New()
	defer e.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := e.Construct(ctx, plugins.Input{})
	want := "mpirun needs 16 MiB for temporary files in " + dir
	if !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	checkLeftovers(t)
}

func TestErrorsKeepTheirCause(t *testing.T) {
	for _, cause := range causes {
		err := asError("tuple 7: " + cause.Error())
		if !errors.Is(err, cause) || err.Error() != "tuple 7: "+cause.Error() {
			t.Errorf("got %v, want %v", err, cause)
		}
	}
	if err := asError("no cause"); err == nil || err.Error() != "no cause" {
		t.Errorf("got %v, want the text", err)
	}
}

func TestMessagesAndTuplesArriveAsSent(t *testing.T) {
	want := request{Command: search, Roots: []graph.Vertex{7, 1 << 60}}
	var got request
	if err := unpack(pack(want), &got); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("error %v, want -, got +:\n%s", err, cmp.Diff(want, got))
	}
	edges := []graph.Edge{graph.MakeEdge(1, 1<<47), graph.MakeEdge(1<<40+3, 2)}
	var connection bytes.Buffer
	w := newWire(&connection, &connection)
	if err := w.send(want, wordsOf(edges)); err != nil {
		t.Fatal(err)
	}
	got = request{}
	if err := w.receive(&got); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("error %v, want -, got +:\n%s", err, cmp.Diff(want, got))
	}
	words, err := w.receiveWords(len(edges) * edgeWords)
	if err != nil {
		t.Fatal(err)
	}
	if got := edgesOf(words); !slices.Equal(got, edges) {
		t.Errorf("got %v, want %v", got, edges)
	}
}
