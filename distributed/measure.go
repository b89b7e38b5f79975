// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Measurements of a rank during a search: time, bytes and messages of each phase of each level. Everything that is sent
// to another rank is counted as a network sends it (comm.Traffic), reductions too.

// Phase is a part of a level, or of a search outside its levels.
type Phase int

const (
	Expand       Phase = iota // frontiers are sent to the ranks that store their columns
	Scan                      // local adjacency lists are searched
	Fold                      // discovered vertices are sent to their owners
	Update                    // owners add newly discovered vertices to the next frontier
	Reduce                    // all ranks add up their counts
	levelPhases               // number of phases of a level
	Clear        = levelPhases
	Predecessors = levelPhases + 1 // owners fetch the parents that other ranks have found
	Output       = levelPhases + 2 // parents are written in original labels
	numPhases    = levelPhases + 3
)

func (p Phase) String() string {
	return [numPhases]string{"expand", "scan", "fold", "update", "reduce", "clear", "predecessors", "output"}[p]
}

// Measure is the time and traffic of a phase on one rank.
type Measure struct {
	Elapsed  time.Duration
	Bytes    int64 // sent to other ranks
	Messages int64 // sent to other ranks
}

func (m *Measure) add(other Measure) {
	m.Elapsed += other.Elapsed
	m.Bytes += other.Bytes
	m.Messages += other.Messages
}

func (m *Measure) sent(t comm.Traffic) {
	m.Messages += t.Messages
	m.Bytes += t.Bytes
}

// Level is one level on one rank.
type Level struct {
	Direction graph.Direction
	Frontier  int64 // vertices, over all ranks
	Edges     int64 // adjacency entries read by this rank
	Phases    [levelPhases]Measure
}

// Record is one search on one rank.
type Record struct {
	Elapsed time.Duration
	Levels  []Level            // the first maxLevels, and one more if there were more
	Phases  [numPhases]Measure // those of a level added up over all levels
}

// maxLevels is the number of levels recorded separately. A path has as many levels as vertices; records of all would
// take more memory than the graph.
const maxLevels = 1 << 12

func (r *Record) add(l *Level) {
	r.Levels = append(r.Levels[:min(len(r.Levels), maxLevels)], *l)
	for p, m := range l.Phases {
		r.Phases[p].add(m)
	}
}

// addReduction adds the time in which the ranks learned that the frontier is empty to the last level.
func (r *Record) addReduction(none *Level) {
	reduction := Level{}
	for _, m := range none.Phases {
		reduction.Phases[Reduce].add(m)
	}
	r.addLast(&reduction)
}

// addLast adds what belongs to no other level to the last one, if there is one.
func (r *Record) addLast(l *Level) {
	for p, m := range l.Phases {
		if n := len(r.Levels); n > 0 {
			r.Levels[n-1].Phases[p].add(m)
		}
		r.Phases[p].add(m)
	}
}

// recorder is the record of a search that is under way.
type recorder struct {
	record Record
	watch  stopwatch
}

// stopwatch assigns the time between its laps to phases.
type stopwatch struct{ started, last time.Time }

func (s *stopwatch) lap(m *Measure) {
	now := time.Now()
	m.Elapsed += now.Sub(s.last)
	s.last = now
}

// Traversal combines the records of all ranks. The phases of its levels are means and sums over ranks; each rank has
// its own phases, added up over all levels.
func Traversal(records []*Record) plugins.Traversal {
	ranks := make([]plugins.Traversal, len(records))
	for i, r := range records {
		ranks[i] = r.traversal()
	}
	return plugins.CombineTraversals(ranks)
}

// traversal is the report of one rank.
func (r *Record) traversal() plugins.Traversal {
	t := plugins.Traversal{
		Elapsed: r.Elapsed, Phases: phases(r.Phases[levelPhases:], levelPhases),
		Ranks: []plugins.Rank{{Phases: phases(r.Phases[:], 0)}},
	}
	if len(r.Levels) > maxLevels {
		return t // an incomplete list would be taken for a complete one
	}
	for _, l := range r.Levels {
		var total Measure
		for _, m := range l.Phases {
			total.add(m)
		}
		t.Levels = append(t.Levels, plugins.Level{
			Frontier: l.Frontier, Direction: l.Direction, Edges: plugins.Counted(l.Edges),
			Bytes: plugins.Counted(total.Bytes), Messages: plugins.Counted(total.Messages), Elapsed: total.Elapsed,
			Phases: phases(l.Phases[:], 0),
		})
	}
	return t
}

// phases converts measures of consecutive phases.
func phases(measures []Measure, first Phase) (all []plugins.Phase) {
	for i, m := range measures {
		p := first + Phase(i)
		phase := plugins.Phase{Name: p.String(), Elapsed: m.Elapsed}
		if p == Expand || p == Fold || p == Reduce || p == Predecessors {
			phase.Bytes, phase.Messages = plugins.Counted(m.Bytes), plugins.Counted(m.Messages)
		}
		all = append(all, phase)
	}
	return all
}
