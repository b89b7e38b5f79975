// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"time"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// spent returns what one of several GPUs has spent on a level. Times go from the last barrier to the arrival of its
// last block at the next one. Vertices sent one by one leave in "scan" or "update", and are counted in "fold" or
// "expand".
func (l *deviceLevel) spent() *team.Spent {
	return &team.Spent{Phase: l.Phase, Bytes: l.Bytes, Messages: l.Messages}
}

// level returns what a GPU has recorded of a level, without its phases.
func (l *deviceLevel) level() plugins.Level {
	level := plugins.Level{Frontier: int64(l.Frontier), Edges: plugins.Counted(int64(l.Examined)),
		Elapsed: time.Duration(l.Nanoseconds)}
	if l.BottomUp != 0 {
		level.Direction = graph.BottomUp
	}
	return level
}
