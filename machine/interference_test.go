package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A busy thread waits 2 ms, an idle one 5 ms, a child of the process 1 ms.
func TestInterferenceIsThatOfBusyThreads(t *testing.T) {
	const main, idle, child = "proc/7/task/7/", "proc/7/task/8/", "proc/9/task/9/"
	files := map[string]string{
		main + "schedstat": "1000000 100 5\n", main + "children": "9 ", idle + "schedstat": "1000 0 2\n",
		child + "schedstat": "0 0 0\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 100 3 1 0 20\n",
		"proc/9/stat": "9 (rank) S 7 7 7 0 -1 4194560 10 0 0 0 2\n", "proc/stat": "cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1\n",
	}
	proc, _, _ := mount(t, files)
	before := now(proc, 7)
	fill(t, filepath.Dir(proc), map[string]string{
		main + "schedstat": "11000000 2000100 9\n", idle + "schedstat": "2000 5000000 3\n",
		child + "schedstat": "9000000 1000000 4\n", "proc/7/stat": "7 (a ) name) S 1 7 7 0 -1 4194560 130 3 4 0 20\n",
		"proc/stat": "cpu  1 2 3 4 5 6 7 253 0 0\n",
	})
	got := now(proc, 7).Since(before)
	if got.Period <= 0 {
		t.Errorf("measured for %v s", got.Period)
	}
	want := &Interference{Period: got.Period, Waited: 0.002, Stolen: 0.03, Switches: 9, Faults: 33}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if got := now(proc, 8).Since(before); got != nil {
		t.Errorf("a process that is not there: %+v", got)
	}
}

func TestInterferenceOfThisProcess(t *testing.T) {
	before := Now(os.Getpid())
	if before == nil {
		t.Skip("this system has no /proc/PID/schedstat")
	}
	if i := Now(os.Getpid()).Since(before); i.Waited < 0 || i.Switches < 0 || i.Faults < 0 {
		t.Errorf("got %+v", i)
	}
}
