// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"slices"
	"time"
)

// Functions that combine the reports of ranks. Combinations of the same number of ranks can be combined again: the time
// of a whole call is the longest, other times are means over ranks, and counts are sums.

// CombinePhases combines the phases of several ranks, which have the same phases.
func CombinePhases(ranks [][]Phase) []Phase {
	all := make([]Phase, len(ranks[0]))
	for i := range all {
		p := &all[i]
		p.Name = ranks[0][i].Name
		for _, r := range ranks {
			if i < len(r) {
				p.Elapsed += r[i].Elapsed
				p.Slowest = max(p.Slowest, r[i].Slowest, r[i].Elapsed)
				p.Bytes = p.Bytes.plus(r[i].Bytes)
				p.Messages = p.Messages.plus(r[i].Messages)
			}
		}
		p.Elapsed /= time.Duration(len(ranks))
	}
	return all
}

// CombineTraversals combines the reports of a search. Those of single ranks become Ranks.
func CombineTraversals(ranks []Traversal) Traversal {
	all := Traversal{Levels: make([]Level, len(ranks[0].Levels))}
	var outside [][]Phase
	for _, t := range ranks {
		all.Elapsed = max(all.Elapsed, t.Elapsed)
		all.Ranks = append(all.Ranks, t.Ranks...)
		outside = append(outside, t.Phases)
	}
	all.Phases = CombinePhases(outside)
	for k := range all.Levels {
		l := &all.Levels[k]
		l.Frontier, l.Direction = ranks[0].Levels[k].Frontier, ranks[0].Levels[k].Direction
		var phases [][]Phase
		for _, t := range ranks {
			if k < len(t.Levels) {
				r := &t.Levels[k]
				l.Edges, l.Bytes, l.Messages = l.Edges.plus(r.Edges), l.Bytes.plus(r.Bytes), l.Messages.plus(r.Messages)
				l.Elapsed += r.Elapsed
				phases = append(phases, r.Phases)
			}
		}
		l.Elapsed /= time.Duration(len(ranks))
		l.Phases = CombinePhases(phases)
	}
	return all
}

// CombineConstructions combines the reports of kernel 1. A claim holds if all ranks make it. Details are those of the
// first rank, with the devices of all.
func CombineConstructions(ranks []Construction) Construction {
	all := ranks[0]
	all.Bytes, all.Entries = 0, Count{}
	var phases [][]Phase
	for _, c := range ranks {
		all.Elapsed = max(all.Elapsed, c.Elapsed)
		all.Bytes += c.Bytes
		all.Entries = all.Entries.plus(c.Entries)
		phases = append(phases, c.Phases)
		for _, f := range c.Details {
			if f.Name == DeviceUUID && !slices.Contains(all.Details, f) {
				all.Details = append(slices.Clip(all.Details), f)
			}
		}
		all.Claims.OriginalLabelsInClock = all.Claims.OriginalLabelsInClock && c.Claims.OriginalLabelsInClock
		all.Claims.ClearingInClock = all.Claims.ClearingInClock && c.Claims.ClearingInClock
		all.Claims.ParentBits = min(all.Claims.ParentBits, c.Claims.ParentBits)
		all.Claims.VertexBits = min(all.Claims.VertexBits, c.Claims.VertexBits)
	}
	all.Phases = CombinePhases(phases)
	return all
}
