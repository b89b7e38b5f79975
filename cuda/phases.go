// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Phases of a level of a multi-GPU search, named as in package distributed, in the order of kernels/search.cuh. Each
// GPU's times go from the last barrier to the arrival of its last block at the next one, and "reduce" is the wait for
// the other GPUs. Vertices sent one by one leave during "scan" or "update", and are counted in "fold" or "expand".
const (
	scanPhase = iota
	foldPhase
	updatePhase
	expandPhase
	reducePhase
	numPhases // PHASES
)

var phaseNames = [numPhases]string{"scan", "fold", "update", "expand", "reduce"}

// phases returns the phases of a level on one GPU, or of several levels that were added up. Without a grid of several
// columns nothing is folded.
func (l *deviceLevel) phases(grid bool) (all []plugins.Phase) {
	for i, name := range phaseNames {
		p := plugins.Phase{Name: name, Elapsed: time.Duration(l.Phase[i])}
		switch i {
		case foldPhase:
			p.Bytes, p.Messages = plugins.Counted(int64(l.Bytes[0])), plugins.Counted(int64(l.Messages[0]))
		case expandPhase:
			p.Bytes, p.Messages = plugins.Counted(int64(l.Bytes[1])), plugins.Counted(int64(l.Messages[1]))
		}
		if grid || i != foldPhase && i != updatePhase {
			all = append(all, p)
		}
	}
	return all
}

// add adds what a GPU has recorded of another level.
func (l *deviceLevel) add(other *deviceLevel) {
	for i, t := range other.Phase {
		l.Phase[i] += t
	}
	for i := range other.Bytes {
		l.Bytes[i] += other.Bytes[i]
		l.Messages[i] += other.Messages[i]
	}
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

// ofRank returns what one of several GPUs has recorded of a level. Its time is that of its phases.
func (l *deviceLevel) ofRank(grid bool) plugins.Level {
	level := l.level()
	level.Elapsed, level.Phases = 0, l.phases(grid)
	for _, p := range level.Phases {
		level.Elapsed += p.Elapsed
	}
	level.Bytes = plugins.Counted(int64(l.Bytes[0] + l.Bytes[1]))
	level.Messages = plugins.Counted(int64(l.Messages[0] + l.Messages[1]))
	return level
}
