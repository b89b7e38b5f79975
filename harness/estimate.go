// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"time"

	"github.com/tepsbench/teps/record"
)

// timeLeft estimates the time for the runs of a plan that are not complete. It assumes that each engine needs as much
// time for a tuple as on the last graph that it completed. The result is 0 if an engine has not completed any.
func timeLeft(plan record.Plan, runs []record.Run) (left time.Duration) {
	pace := map[string]float64{} // seconds for a tuple, by engine and kernel
	for _, run := range runs {
		key, tuples := run.Engine.Name+":"+string(run.Kernel), 0.0
		if source, err := plan.Generator(run.GraphID); err == nil && source != nil {
			tuples = float64(source.Tuples()) // of a file they are unknown
		}
		if run.State == record.Complete {
			seconds := run.ConstructWall + run.Graph.Generation/float64(len(plan.Engines))
			for _, root := range run.Roots {
				seconds += root.Wall + root.Validation
			}
			pace[key] = seconds / max(1, float64(run.Graph.Tuples))
			continue
		}
		if pace[key]*tuples == 0 {
			return 0
		}
		left += time.Duration(pace[key] * tuples * float64(time.Second))
		if run.Energy == nil {
			left += plan.Energy
		}
	}
	return left
}
