package distributed

import (
	"math/bits"
	"slices"

	"github.com/tepsbench/teps/internal/memory"
)

// Groups, in parts whose rows are all owned by the rank (grids of one column, and one dimension).
//
// Nearly every vertex that finds a parent bottom-up finds it at its first neighbour, the one of largest degree. So a
// rank numbers its vertices by that neighbour: first its own hubs, by descending degree; then its vertices with a hub
// for a neighbour, in groups by the first of their hubs and by descending degree in each; then the rest. A hub in the
// frontier then discovers its whole group as a range of rows, without a look at an edge, and the template of the output
// has the parents.
//
// Hubs are the vertices that are among the first hubsPerRank of any rank, in the order of list indexes. Fewer of them
// leave more vertices without a group; more of them make the groups smaller than a word of a bitmap.

// hubShare is the number of vertices of a rank for each hub.
const hubShare = 16

// hubsPerRank returns how many of each rank's vertices are hubs.
func (p *Part) hubsPerRank() int { return min(max(p.width/(hubShare*p.grid.R)&^31, 32), p.width) }

// groupByHub orders the slots of the rank's own vertices as above, and sets the groups. The slots come by descending
// degree.
func (b *builder) groupByHub(slots []uint32) []uint32 {
	own := b.hubsPerRank()
	hubs := listIndex(own * b.grid.R)
	own = min(own, len(slots))
	byDegree := make([]uint32, b.Partition.Share) // others read it until the next exchange
	b.setNumbers(byDegree, slots)
	first := b.firstNeighbours(byDegree)
	group := func(slot uint32) uint32 { return uint32(min(first[slot], hubs)) }
	sorted := append(slots[:own:own], b.sortByKey(slices.Clone(slots[own:]), uint32(hubs), group)...)

	b.group = memory.Allocate[uint32](b.memory, "groups", int(hubs)+1)
	if b.memory.Err() != nil {
		return sorted // order returns the error
	}
	v := own
	for h := range hubs + 1 {
		for v < len(sorted) && group(sorted[v]) < uint32(h) {
			v++
		}
		b.group[h] = uint32(v)
	}
	return sorted
}

// firstNeighbours returns the smallest list index among the neighbours of each row slot, when vertices have the given
// numbers.
func (b *builder) firstNeighbours(number []uint32) []listIndex {
	index := b.listIndexes(number)
	first := slices.Repeat([]listIndex{maxUint32}, len(b.count))
	b.eachBucket(func(_ int, entries []uint32) {
		for k := 0; k+1 < len(entries); k += 2 {
			row := entries[k]
			first[row] = min(first[row], index[entries[k+1]])
		}
	})
	return first
}

// addGroups adds to rows, which stands for words from, from+1, ... of the part's rows, the groups of the hubs in the
// frontier.
func (s *Rank) addGroups(rows bitmap, from int) {
	if len(s.group) == 0 {
		return
	}
	hubs := len(s.group) - 1
	base := from << 5
	low, high := max(base, int(s.group[0])), min(base+len(rows)<<5, int(s.group[hubs]))
	if low >= high {
		return
	}
	h, _ := slices.BinarySearch(s.group, uint32(low+1)) // the first group that begins behind low
	for w := (h - 1) >> 5; w<<5 < hubs && int(s.group[w<<5]) < high; w++ {
		for word := s.expanded[s.listedColumn(w)>>5]; word != 0; word &= word - 1 {
			h := w<<5 + bits.TrailingZeros32(word)
			rows.addRange(max(int(s.group[h]), low)-base, min(int(s.group[h+1]), high)-base)
		}
	}
}

// inGroups returns the rows of word w of the part's rows that are in groups.
func (p *Part) inGroups(w int) uint32 {
	if len(p.group) == 0 {
		return 0
	}
	return below(w, int(p.group[len(p.group)-1])) &^ below(w, int(p.group[0]))
}
