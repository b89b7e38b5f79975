// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// Two builds are a comparison, another machine is another history, and runs without a result are in none.
func TestRunsWithoutHistory(t *testing.T) {
	must.Equal(t, len(histories(all(samples.Store(3, 1, 0.8)...))), 0, "histories of two builds")
	store := samples.Store(1, 1, 1, 1, 1)
	store[1].Machine.Hostname = "node18"
	store[2].Runs[0].State = record.Failed
	if got := histories(all(store...)); len(got) != 1 || got[0].points[0].Label != "serial" || len(got[0].points) != 3 {
		t.Errorf("%d histories, want that of serial", len(got))
	}
}
