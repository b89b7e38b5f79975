// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/internal/hubs"
	"github.com/tepsbench/teps/internal/lookup"
)

// scanBottomUp is the local part of a bottom-up step: it discovers every unvisited row with an entry in a column of the
// frontier and makes the first such column its parent.
func (s *Rank) scanBottomUp() {
	s.takeHubs(s.j, s.expanded, s.width/32)
	s.discovered.toBitmap()
	words, size := s.rows/32, s.rows/32
	if workers := s.team.Size(); workers > 1 {
		size = min(max(words/(piecesShare*workers), 1), wordsPiece)
	}
	for k := range s.workers {
		s.workers[k].members = 0
	}
	s.do(words, size, (*Rank).bottomUp)
	for k := range s.workers {
		s.discovered.counted += s.workers[k].members
	}
}

// bottomUp scans words from..to-1 of the part's rows, which belong to one worker.
//
// Most rows that find a parent find it at their first column, which the template has: those of a group at once
// (groups.go), the others one by one. The first few columns are stored column by column; the rest of the lists is
// fetched for many rows at once.
func (s *Rank) bottomUp(k, from, to int) {
	x, base, words := &s.workers[k], s.firstRow>>5, s.width/32
	var room [wordsPiece]uint32
	n, found, members := 0, 0, 0
	for from < to {
		block := from / words
		groups := bitmap(room[:min(wordsPiece, to-from, (block+1)*words-from)])
		clear(groups)
		hubs.Add(s.groupsOf(block), groups, from-block*words, s.hubs)
		for i, grouped := range groups {
			w := from + i
			grouped &^= s.visited[base+w]
			left, discovered := s.more[0][w]&^s.visited[base+w]&^grouped, uint32(0)
			if grouped|left == 0 {
				continue
			}
			if block == s.j {
				discovered = grouped // otherwise its owner does the same
			}
			if first := left &^ s.grouped[w]; first != 0 {
				x.edges += int64(bits.OnesCount32(first))
				hit := lookup.In32(s.expanded, s.entry[0][w<<5:], first)
				found = x.find(found, hit&s.remote[w], w<<5, s.entry[0])
				discovered |= hit
				left &^= hit
			}
			for c := 1; c < numColumns; c++ {
				if left &= s.more[c][w]; left == 0 {
					break
				}
				x.edges += int64(bits.OnesCount32(left))
				hit := lookup.In32(s.expanded, s.entry[c][w<<5:], left)
				found = x.find(found, hit, w<<5, s.entry[c])
				discovered |= hit
				left &^= hit
			}
			s.visited[base+w] |= grouped | discovered
			s.discovered.bits[base+w] = discovered
			members += bits.OnesCount32(discovered)
			for left &= s.more[numColumns][w]; left != 0; left &= left - 1 {
				x.row[n&(batch-1)] = uint32(w<<5 + bits.TrailingZeros32(left))
				n++
			}
			if n+found > batch-32 {
				s.scanRows(x, n, found)
				n, found = 0, 0
			}
		}
		from += len(groups)
	}
	x.members += members
	s.scanRows(x, n, found)
}

// find adds the rows of a word with their columns to those that have found a parent.
func (x *worker) find(n int, word uint32, base int, column []uint32) int {
	for ; word != 0; word &= word - 1 {
		v := base + bits.TrailingZeros32(word)
		x.found[n&(batch-1)], x.column[n&(batch-1)] = uint32(v), column[v]
		n++
	}
	return n
}

// fetched is how far into a list entries are fetched before it is scanned. Most scans end before.
const fetched = 12

// scanRows searches the lists of the first n rows of x, behind the columns. Then it stores the parents of all rows that
// have found one, beginning with those that the columns have found.
func (s *Rank) scanRows(x *worker, n, found int) {
	const mask = batch - 1
	targets := s.up.targets
	for k, v := range x.row[:n] {
		x.at[k&mask], x.end[k&mask] = s.up.at[v]+numColumns, s.up.at[v+1] // not empty
	}
	for k, at := range x.at[:n] { // fetch the lists at once: each is somewhere else in memory
		x.touched += targets[at] + targets[min(at+fetched, x.end[k&mask]-1)]
	}
	known := found
	for k, v := range x.row[:n] {
		list := targets[x.at[k&mask]:x.end[k&mask]]
		looked, hit := len(list), 0
		for i, u := range list {
			if s.expanded[u>>5]>>(u&31)&1 != 0 {
				x.found[found&mask], x.column[found&mask] = v, u
				looked, hit = i+1, 1
				break
			}
		}
		x.edges += int64(looked)
		found += hit
	}
	first := s.firstRow >> 5
	visited, discovered, corrected := s.visited[first:], s.discovered.bits[first:], s.corrected[first:]
	parent := s.parent[s.firstRow:]
	x.members += found - known
	for _, v := range x.found[known:found] {
		bit := uint32(1) << (v & 31)
		visited[v>>5] |= bit
		discovered[v>>5] |= bit
	}
	for k, v := range x.found[:found] {
		corrected[v>>5] |= 1 << (v & 31)
		parent[v] = x.column[k]
	}
}
