//go:build unix

package harness

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// The process that a test stops, as Ctrl-Z and the pause of a virtual machine do.
const stoppedKey = "TEPS_TEST_STOPPED"

// TestStoppedHostAccusesNoEngine stops a host during kernel 1, then during a search. The time of the engine, whose
// process is not stopped, is then a small part of the call.
func TestStoppedHostAccusesNoEngine(t *testing.T) {
	if os.Getenv(stoppedKey) != "" {
		runThatIsStopped(t)
		return
	}
	t.Parallel()
	host := exec.Command(os.Args[0], "-test.run=^TestStoppedHostAccusesNoEngine$")
	host.Env = append(os.Environ(), stoppedKey+"=1")
	stdin, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(&output, lines.Text())
		if lines.Text() != "in a call" {
			continue
		}
		host.Process.Signal(syscall.SIGSTOP)
		time.Sleep(standstillLimit + 500*time.Millisecond) // the fault itself
		host.Process.Signal(syscall.SIGCONT)
		fmt.Fprintln(stdin, "go on")
	}
	if err := host.Wait(); err != nil {
		t.Errorf("%v\n%s", err, output.String())
	}
}

// TestSuspendedMachineAccusesNoEngine moves the wall clock during a search, and not the monotonic clock, as a machine
// does that is suspended. The clock of the engine counts that time.
func TestSuspendedMachineAccusesNoEngine(t *testing.T) {
	var asleep atomic.Int64
	e := &serial{after: func(n int, _ graph.Vertex, _ []graph.Vertex, found *plugins.Traversal) error {
		if n == 4 {
			asleep.Store(int64(time.Hour))
			found.Elapsed += time.Hour
		}
		return nil
	}}
	store := createStore(t, planOf(8, "a"))
	r := newRun(hostOf(map[string]*serial{"a": e}), store, Silent{})
	clocks := r.still.clocks
	r.still.clocks = func() (time.Duration, time.Time) {
		monotonic, wall := clocks()
		return monotonic, wall.Add(time.Duration(asleep.Load()))
	}
	if err := r.graphs(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := store.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if run := result.Runs[0]; !run.Valid || !run.Compliance.Compliant || run.Roots[2].Repeats != 1 {
		t.Errorf("state %s, %q, %+v, repeats of the search: %d", run.State, run.Failure, run.Compliance.Rules,
			run.Roots[2].Repeats)
	}
}

// The searches of a run count if the machine was suspended during the energy loop; the energy does not.
func TestSuspendedMachineHasNoEnergy(t *testing.T) {
	var asleep atomic.Int64
	repeat := func(_ context.Context, _ []graph.Vertex, d time.Duration) (int64, error) {
		asleep.Store(int64(time.Hour))
		time.Sleep(d)
		return 5, nil
	}
	engine := &looping{serial: &serial{}, repeat: repeat}
	store := createStore(t, energyPlan(loopTime))
	r := newRun(metering(engine, counter("node", power.Node, 70)), store, Silent{})
	clocks := r.still.clocks
	r.still.clocks = func() (time.Duration, time.Time) {
		monotonic, wall := clocks()
		return monotonic, wall.Add(time.Duration(asleep.Load()))
	}
	if err := r.graphs(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := store.Finish()
	if err != nil {
		t.Fatal(err)
	}
	run := result.Runs[0]
	if !run.Valid || run.Energy == nil || !strings.Contains(run.Energy.Failure, "stood still during the energy loop") {
		t.Errorf("valid %v, energy %+v", run.Valid, run.Energy)
	}
}

func runThatIsStopped(t *testing.T) {
	pause := func() { // until the test has stopped this process and let it continue
		fmt.Println("in a call")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	constructions, searches := 0, 0
	e := &serial{
		build: func(c *plugins.Construction) error {
			if constructions++; constructions == 1 {
				c.Elapsed = time.Microsecond
				pause()
			}
			return nil
		},
		after: func(n int, _ graph.Vertex, _ []graph.Vertex, _ *plugins.Traversal) error {
			if searches = n; n == 4 {
				pause()
			}
			return nil
		},
	}
	r, _, err := runs(t, t.Context(), hostOf(map[string]*serial{"a": e}), planOf(8, "a"))
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if !run.Valid || !run.Compliance.Compliant || constructions != 2 || searches != 66 {
		t.Fatalf("state %s, %q, %+v, %d constructions, %d searches",
			run.State, run.Failure, run.Compliance.Rules, constructions, searches)
	}
	if run.Roots[2].Repeats != 1 || run.Roots[3].Repeats != 0 {
		t.Errorf("the record has %d repeats of the search that was repeated, and %d of the next",
			run.Roots[2].Repeats, run.Roots[3].Repeats)
	}
	if run.ConstructRepeats != 1 {
		t.Errorf("the record has %d repeats of kernel 1", run.ConstructRepeats)
	}
}
