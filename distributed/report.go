package distributed

import (
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// report makes of the ranks' records what the contract wants. Times of phases are means over ranks, beside the time of
// the slowest; bytes and messages are sums. Its slices are used again by the next search.
type report struct {
	levels []plugins.Level
	phases []plugins.Phase
	ranks  []plugins.Rank
	beside []plugins.Phase
}

// mostDetailed is the number of levels up to which phases are told; deeper searches than that are not looked at level by
// level.
const mostDetailed = 1024

func (r *report) traversal(elapsed time.Duration, records []*SearchRecord) plugins.Traversal {
	r.levels, r.phases, r.beside, r.ranks = r.levels[:0], r.phases[:0], r.beside[:0], r.ranks[:0]
	depth := len(records[0].Levels)
	if records[0].Deeper.Frontier > 0 {
		depth = 0 // a list that is not whole would be taken for one
	}
	for k := range depth {
		level := plugins.Level{Frontier: records[0].Levels[k].Frontier}
		if records[0].Levels[k].BottomUp {
			level.Direction = graph.BottomUp
		}
		var edges, bytes, messages int64
		for _, record := range records {
			edges += record.Levels[k].Edges
		}
		begin := len(r.phases)
		for p := range levelPhases {
			phase, sent := combine(p, records, func(s *SearchRecord) *Measure { return &s.Levels[k].Phases[p] })
			level.Elapsed += phase.Elapsed
			bytes, messages = bytes+sent.Bytes, messages+sent.Messages
			if k < mostDetailed {
				r.phases = append(r.phases, phase)
			}
		}
		level.Phases = r.phases[begin:len(r.phases):len(r.phases)]
		level.Edges, level.Bytes, level.Messages = plugins.Counted(edges), plugins.Counted(bytes), plugins.Counted(messages)
		r.levels = append(r.levels, level)
	}
	for p := levelPhases; p < phases; p++ {
		phase, _ := combine(p, records, func(s *SearchRecord) *Measure { return &s.Beside[p-levelPhases] })
		r.beside = append(r.beside, phase)
	}
	for _, record := range records {
		r.ranks = append(r.ranks, plugins.Rank{Phases: record.totals()})
	}
	return plugins.Traversal{Elapsed: elapsed, Levels: r.levels, Phases: r.beside, Ranks: r.ranks}
}

// combine makes one phase of that of all ranks.
func combine(p Phase, records []*SearchRecord, of func(*SearchRecord) *Measure) (plugins.Phase, Measure) {
	var sum Measure
	var slowest time.Duration
	for _, record := range records {
		m := of(record)
		sum.add(*m)
		slowest = max(slowest, m.Elapsed)
	}
	phase := plugins.Phase{Name: p.String(), Elapsed: sum.Elapsed / time.Duration(len(records)), Slowest: slowest}
	if p.sends() {
		phase.Bytes, phase.Messages = plugins.Counted(sum.Bytes), plugins.Counted(sum.Messages)
	}
	return phase, sum
}

// sends says whether messages of the phase are counted.
func (p Phase) sends() bool { return p == Expand || p == Fold || p == Predecessors }

// totals are the rank's phases, added up over all levels.
func (s *SearchRecord) totals() []plugins.Phase {
	list := make([]plugins.Phase, phases)
	for p := range phases {
		var sum Measure
		if p < levelPhases {
			for k := range s.Levels {
				sum.add(s.Levels[k].Phases[p])
			}
			sum.add(s.Deeper.Phases[p])
		} else {
			sum = s.Beside[p-levelPhases]
		}
		list[p] = plugins.Phase{Name: p.String(), Elapsed: sum.Elapsed}
		if p.sends() {
			list[p].Bytes, list[p].Messages = plugins.Counted(sum.Bytes), plugins.Counted(sum.Messages)
		}
	}
	return list
}

// meanPhases are the means over ranks of phases that all ranks have.
func meanPhases(ranks [][]timed) []plugins.Phase {
	mean := make([]plugins.Phase, len(ranks[0]))
	for k := range mean {
		mean[k].Name = ranks[0][k].Name
		for _, rank := range ranks {
			mean[k].Elapsed += rank[k].Elapsed
			mean[k].Slowest = max(mean[k].Slowest, rank[k].Elapsed)
		}
		mean[k].Elapsed /= time.Duration(len(ranks))
	}
	return mean
}
