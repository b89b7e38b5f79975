// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"io"

	"github.com/tepsbench/teps/reports"
)

// JUnit writes a suite for each record with a test for each run, which fails if the run is not sound.
func JUnit(w io.Writer, r reports.Report) error { return fill(w, "junit.tmpl", r) }

// OpenMetrics writes the results of runs as gauges (OpenMetrics 1.0), for the textfile collector of Prometheus.
func OpenMetrics(w io.Writer, r reports.Report) error { return fill(w, "openmetrics.tmpl", r) }

func bad(run reports.Summary) bool { return run.Verdict().Grade >= reports.Bad }

func failures(runs []reports.Summary) (n int) {
	for _, run := range runs {
		if bad(run) {
			n++
		}
	}
	return n
}

// labels are those of a run in OpenMetrics, which escapes quotes, backslashes and line breaks as Go does.
func labels(r reports.Result, run reports.Summary) string {
	return fmt.Sprintf("{record=%q,host=%q,engine=%q,graph=%q}", r.Name(), reports.Name(r.Machine.Hostname), run.Label,
		run.GraphName())
}
