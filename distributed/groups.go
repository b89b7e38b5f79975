// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/hubs"
	"github.com/tepsbench/teps/internal/parents"
)

// Groups (package hubs).
//
// A rank numbers its vertices so: first its own hubs, by descending degree; then its vertices with a hub for a
// neighbor, in groups by the first of their hubs and by descending degree in each; then the rest.
//
// Hubs are the first hubsPerRank vertices of every rank. Fewer of them leave more vertices without a group; more of
// them make the groups smaller than a word of a bitmap.
//
// In two dimensions every rank knows the groups of all its rows and the hubs in the frontier: those of other grid
// columns from the ranks of its grid row. So the owners discover groups, the others do not look for them, and nothing
// is sent.

const (
	hubShare = 16 // vertices of a rank for each hub

	// A top-down step discovers the groups of a frontier's hubs as groups if they have 1/groupedShare of the rank's
	// vertices or more. It writes no parents for them, and the output has none to correct.
	groupedShare = 16
)

// hubsPerRank returns the number of each rank's vertices that are hubs.
func (p *Part) hubsPerRank() int { return min(max(p.width/(hubShare*p.grid.Ranks())&^31, 32), p.width) }

// hubAt returns the first hub of word w of a rank's hubs, in the order of all hubs: 32 of every rank in turn.
func (p *Part) hubAt(rank, w int) int { return (w*p.grid.Ranks() + rank) << 5 }

// groupByHub orders the rank's own vertices, which come by descending degree, and sets the groups.
func (b *builder) groupByHub(places []uint32) []uint32 {
	own := b.hubsPerRank()
	hubs := own * b.grid.Ranks()
	if b.grid.C > 1 && hubs > b.width {
		return places // groups of less than a vertex each, in C blocks, are not worth their memory
	}
	byDegree := make([]uint32, b.width) // others read it until the next exchange
	b.setNumbers(byDegree, places)
	first := b.firstHubs(byDegree)
	own = min(own, len(places))
	group := func(place uint32) uint32 { return first[place] }
	sorted := append(places[:own:own], b.sortByKey(slices.Clone(places[own:]), uint32(hubs), group)...)

	begin, v := make([]uint32, hubs+1), own
	for h := range begin {
		for v < len(sorted) && group(sorted[v]) < uint32(h) {
			v++
		}
		begin[h] = uint32(v)
	}
	if b.grid.C > 1 {
		b.shareHubLabels(sorted[:own])
	}
	blocks := comm.Allgather(b.row, begin)
	b.groups = b.allocate("groups", b.grid.C*(hubs+1))
	for m := range blocks {
		copy(b.groupsOf(m), blocks[m]) // none if memory has run out: order returns the error
	}
	return sorted
}

// shareHubLabels sets hubLabel. places are those of the own hubs.
func (b *builder) shareHubLabels(places []uint32) {
	slots := b.present.members()
	own := make([]uint32, len(places))
	for v, place := range places {
		own[v] = slots[place]
	}
	hubs := b.hubsPerRank() * b.grid.Ranks()
	b.hubLabel = parents.NewLabels(b.memory, "hubs", hubs, b.Partition.Labels)
	for rank, slots := range comm.Allgather(b.world, own) {
		for v, slot := range slots {
			b.hubLabel.Set(uint32(b.hubAt(rank, v>>5)|v&31), b.Partition.Label(rank, slot))
		}
	}
}

// firstHubs returns the first hub among the neighbors of each own place, or the number of hubs, if number is that of
// every place.
func (b *builder) firstHubs(number []uint32) []uint32 {
	index, own := b.listIndexes(number), b.hubsPerRank()
	none := uint32(own * b.grid.Ranks())
	first := slices.Repeat([]uint32{none}, len(b.count))
	b.eachBucket(func(_, _ int, entries []uint32) {
		for k := 0; k < len(entries); k += b.entryWords {
			row, column := entries[k], entries[k+1]
			if list := index[column]; int(list) < own*b.grid.R {
				rank := b.columnOwner(int(list>>5)%b.grid.R, b.j)
				hub := uint32(b.hubAt(rank, int(list>>5)/b.grid.R)) | list&31
				first[row] = min(first[row], hub)
			}
		}
	})
	return b.combine(first, func(a, b uint32) uint32 { return min(a, b) })
}

// groupsOf returns the first row of each group in a block of rows, and behind the last one its end.
func (p *Part) groupsOf(block int) hubs.Groups {
	n := len(p.groups) / p.grid.C
	return p.groups[block*n : (block+1)*n]
}

// markGrouped sets grouped and remote, and the template of remote rows.
func (b *builder) markGrouped() {
	for block := range b.grid.C {
		groups := b.groupsOf(block)
		for h := range max(len(groups), 1) - 1 {
			from, to := int(groups[h]), int(groups[h+1])
			if _, column := b.columnsOf(h >> 5 % b.grid.Ranks()); column == b.j {
				hubs.AddRange(b.grouped, block*b.width+from, block*b.width+to)
			} else if block == b.j {
				hubs.AddRange(b.remote, block*b.width+from, block*b.width+to)
				for _, slot := range b.slot[from:to] {
					b.template.Set(slot, b.hubLabel.At(uint32(h)))
				}
			}
		}
	}
}

// takeHubs stores which hubs of a grid column are in the frontier. Word w of those in its block is
// words[block*stride+w].
func (s *Rank) takeHubs(column int, words bitmap, stride int) {
	if len(s.groups) == 0 {
		return
	}
	for block := range s.grid.R {
		for w, word := range words[block*stride:][:s.hubsPerRank()/32] {
			s.hubs[s.hubAt(s.columnOwner(block, column), w)>>5] = word
		}
	}
}

// visitGroups discovers the groups of the hubs in the frontiers that the grid column has sent, if these groups are
// large. In grids of several columns a rank does not know the hubs of the other columns.
func (s *Rank) visitGroups() {
	if s.grid.C > 1 || s.addressed {
		return
	}
	clear(s.hubs)
	own := s.hubsPerRank()
	for rank, message := range s.inColumn.received {
		list, words := s.form.decode(message, s.width/32)
		for _, v := range list {
			if int(v) < own {
				s.hubs.add(uint32(s.hubAt(rank, int(v>>5))) | v&31)
			}
		}
		for w := range min(len(words), own/32) {
			s.hubs[s.hubAt(rank, w)>>5] = words[w]
		}
	}
	groups, grouped := s.groupsOf(0), 0
	for w, word := range s.hubs {
		for ; word != 0; word &= word - 1 {
			grouped += groups.Size(w<<5 + bits.TrailingZeros32(word))
		}
	}
	if grouped < s.vertices/groupedShare {
		return
	}
	s.discovered.toBitmap()
	s.do(s.rows/32, wordsPiece, (*Rank).visitWords)
}

// visitWords discovers the rows of these groups in words from..to-1.
func (s *Rank) visitWords(_, from, to int) {
	var room [wordsPiece]uint32
	groups := bitmap(room[:to-from])
	hubs.Add(s.groupsOf(0), groups, from, s.hubs)
	for i, word := range groups {
		s.discovered.bits[from+i] |= word &^ s.visited[from+i]
		s.visited[from+i] |= word
	}
}
