// SPDX-License-Identifier: Apache-2.0

package team

import (
	"time"

	"github.com/tepsbench/teps/plugins"
)

// Phases of a level of several GPUs, named as in package distributed, in the order of ../kernels/search.cuh. "reduce"
// is the wait for the other GPUs.
const (
	Scan = iota
	Fold
	Update
	Expand
	Reduce
	NumPhases // PHASES
)

// Spent is what a GPU has spent on a level, or on several.
type Spent struct {
	Phase           [NumPhases]uint64 // nanoseconds
	Bytes, Messages [2]uint64         // of fold and of expand
}

// Phases returns the phases. Without a grid of several columns nothing is folded.
func (s *Spent) Phases(grid bool) (all []plugins.Phase) {
	for i, name := range [NumPhases]string{"scan", "fold", "update", "expand", "reduce"} {
		p := plugins.Phase{Name: name, Elapsed: time.Duration(s.Phase[i])}
		switch i {
		case Fold:
			p.Bytes, p.Messages = plugins.Counted(int64(s.Bytes[0])), plugins.Counted(int64(s.Messages[0]))
		case Expand:
			p.Bytes, p.Messages = plugins.Counted(int64(s.Bytes[1])), plugins.Counted(int64(s.Messages[1]))
		}
		if grid || i != Fold && i != Update {
			all = append(all, p)
		}
	}
	return all
}

// Add adds what a GPU has spent on another level.
func (s *Spent) Add(other *Spent) {
	for i, t := range other.Phase {
		s.Phase[i] += t
	}
	for i := range other.Bytes {
		s.Bytes[i] += other.Bytes[i]
		s.Messages[i] += other.Messages[i]
	}
}

// Describe adds it to a level, whose time becomes that of its phases.
func (s *Spent) Describe(level *plugins.Level, grid bool) {
	level.Elapsed, level.Phases = 0, s.Phases(grid)
	for _, p := range level.Phases {
		level.Elapsed += p.Elapsed
	}
	level.Bytes = plugins.Counted(int64(s.Bytes[0] + s.Bytes[1]))
	level.Messages = plugins.Counted(int64(s.Messages[0] + s.Messages[1]))
}

// LimitPhases drops the phases of levels if they are many.
func LimitPhases(levels []plugins.Level) {
	for i := range levels {
		if len(levels) > 1<<12 {
			levels[i].Phases = nil
		}
	}
}
