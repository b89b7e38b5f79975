package reports

import (
	"testing"

	"github.com/tepsbench/teps/harness"
)

func TestARecordIsListedByItsWorstRun(t *testing.T) {
	r := sample([]string{"cpu", "interrupted", "invalid", "failed"}, 16)
	r.Runs[1].State = harness.Interrupted
	r.Runs[2].Valid, r.Runs[2].Roots[3].Violation = false, "a parent that is no neighbour"
	r.Runs[3].State, r.Runs[3].Failure = harness.Failed, "signal 9"
	for n, want := range []string{1: "VALID", 2: "INTERRUPTED", 3: "INVALID", 4: "INVALID"} {
		if n == 0 {
			continue
		}
		part := r
		part.Runs = r.Runs[:n]
		if got := List("a", part, nil).State; got != want {
			t.Errorf("the first %d runs: %s, want %s", n, got, want)
		}
	}
}
