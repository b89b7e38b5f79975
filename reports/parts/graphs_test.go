// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// onGraph is a run on a graph without a scale.
func onGraph(engine, source string, tuples int64, gteps float64) record.Run {
	run := samples.Run(engine, 0, 16, 2)
	run.GraphID = record.GraphID{Source: source}
	run.Graph = &record.GraphRecord{Vertices: 1000, Tuples: max(tuples, 1<<20), SHA256: "ab12"}
	run.Statistics.TEPS.Mean = gteps * 1e9
	return run
}
