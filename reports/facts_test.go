// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// A wait inside the clock of a search delays it; one that may have been outside does not.
func TestDisturbedSearches(t *testing.T) {
	r := samples.Result([]string{"cpu"}, 16)
	run := Summary{Run: r.Runs[0]}
	n := 0
	for i := range run.Roots {
		root := &run.Roots[i]
		root.Interference = &machine.Interference{Period: root.Time * 1.5, Waited: root.Time * 0.55}
		if i%8 == 0 {
			root.Interference.Stolen = root.Time * 0.1
			n++
		}
	}
	want := fmt.Sprintf("%d of %d searches of ", n, len(run.Roots))
	if got := Disturbance(run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
	for i := range run.Roots {
		if run.Roots[i].Interference.Stolen = 0; i == 0 {
			run.Roots[i].Interference.Stolen = run.Roots[i].Time
		}
	}
	must.Equal(t, Disturbance(run), "", "a single delayed search")
	calm := run
	calm.Roots, run.Roots = run.Roots[8:], run.Roots[:8]
	want = "1 of 8 searches of " + run.Label + " at scale 16 was delayed by more than a tenth of its time, "
	if got := Disturbance(run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
	want = fmt.Sprintf("2 of %d searches, among them 1 of 8 searches of ", 16+len(calm.Roots)) // of all runs
	if got := Disturbance(run, calm, run); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
}

// all is a report of everything.
func all(records ...record.Result) Report {
	return must.Get(New(nil, records...))
}
