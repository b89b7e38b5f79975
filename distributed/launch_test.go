package distributed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// withLauncher puts a shell script into PATH as mpirun, and a program as teps-rank.
func withLauncher(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the launcher of this test is a shell script")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"mpirun.openmpi": script, "teps-rank": "#!/bin/sh\nexit 1\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// withStandIn makes this program the launcher: it takes the number of ranks from the arguments, as mpirun would.
func withStandIn(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	withLauncher(t, fmt.Sprintf("#!/bin/sh\necho a library says hello\nwhile [ \"$1\" != --ranks ]; do shift; done\nexec '%s' -distributed.standin \"$2\"\n", self))
}

func TestLastWordsKeepTheReasonBeforeALongTrace(t *testing.T) {
	var words lastWords
	for _, part := range []string{"warning\npan", "ic: distributed: too long\n", "goroutine 1 [running]:\n", strings.Repeat("at some place\n", 1000), "mpirun noticed\n"} {
		if n, err := words.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := words.String(); !strings.HasPrefix(got, "panic: distributed: too long ... at some place") || !strings.HasSuffix(got, "mpirun noticed") {
		t.Errorf("got %q", got)
	}
	var lost lastWords
	_, _ = lost.Write([]byte("ssh: Could not resolve hostname node1\n" + strings.Repeat("* one of many guesses\n", 30)))
	if got := lost.String(); !strings.HasPrefix(got, "ssh: Could not resolve hostname node1 ... * one of") {
		t.Errorf("got %q", got)
	}
	var short lastWords
	_, _ = short.Write([]byte("panic: boom\nbye"))
	if got := short.String(); got != "panic: boom bye" {
		t.Errorf("got %q", got)
	}
}

// leftovers are folders of jobs that have ended.
func leftovers(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-*", folderPrefix, os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The engine and rank 0 on different hosts talk over standard input and output; the rest is as with MPI.
func TestEngineTalksToRanksOverStandardInputAndOutput(t *testing.T) {
	withStandIn(t)
	set := map[string]string{optionRanks: "4"}
	for _, c := range enginetest.Cases() {
		switch name, _, _ := strings.Cut(c.Name, "/"); name {
		case "cancel", "options", "construct", "close", "time", "describe":
		default:
			if c.Name != "graph/kronecker-10" && c.Name != "graph/high-labels" {
				continue
			}
		}
		if testing.Short() && strings.HasPrefix(c.Name, "cancel/during") {
			continue
		}
		o := c.Run(t.Context(), func(context.Context) (plugins.Engine, error) { return &fixed{NewMPI(), set}, nil }, nil)
		if o.Err != nil || o.Skipped != "" {
			t.Errorf("%s: %v %s", c.Name, o.Err, o.Skipped)
		}
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("folders are left: %v", left)
	}
}

// Ranks generate from the recipe what the host would have sent.
func TestRanksGenerateTheirSlices(t *testing.T) {
	withStandIn(t)
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	e := NewMPI()
	defer e.Close()
	if _, err := e.Construct(t.Context(), plugins.Graph{Recipe: &recipe, Options: map[string]string{optionRanks: "3"}}); err != nil {
		t.Fatal(err)
	}
	tuples := kronecker(t, 10, 16)
	validator, err := graph.NewValidator(tuples, 1<<10, 0)
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

func TestLaunchersThatFailAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"ends":         {"#!/bin/sh\necho 'no slots are left' >&2\nexit 7\n", "mpirun ended (exit status 7): no slots are left"},
		"says rubbish": {"#!/bin/sh\necho 'teps-rank: standard input and output'\necho rubbish rubbish rubbish\n", "mpirun ended"},
		"is killed":    {"#!/bin/sh\nkill -9 $$\n", "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			withLauncher(t, c.script)
			e := NewMPI()
			defer e.Close()
			_, err := e.Construct(t.Context(), plugins.Graph{})
			if !errors.Is(err, plugins.ErrUnavailable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got: %v", c.want, err)
			}
			if left := leftovers(t); len(left) > 0 {
				t.Errorf("folders are left: %v", left)
			}
		})
	}
}

// A launcher that hangs is given up when the context ends.
func TestLauncherThatHangsIsGivenUp(t *testing.T) {
	withLauncher(t, "#!/bin/sh\nexec sleep 60\n")
	e := NewMPI()
	defer e.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := e.Construct(ctx, plugins.Graph{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("want the context's error, got: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("folders are left: %v", left)
	}
}

// A folder of an engine that was killed is removed by the next job, and one of a living engine is not.
func TestFoldersOfTheDeadAreSwept(t *testing.T) {
	base := t.TempDir()
	dead, living := filepath.Join(base, folderPrefix+"999999999-1"), filepath.Join(base, fmt.Sprintf("%s%d-1", folderPrefix, os.Getpid()))
	for _, folder := range []string{dead, living} {
		if err := os.MkdirAll(filepath.Join(folder, "inside"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(base)
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the dead engine's folder is there: %v", err)
	}
	if _, err := os.Stat(living); err != nil {
		t.Errorf("the living engine's folder: %v", err)
	}
}
