// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/parents"
)

// The local part of a top-down step. The workers of a rank share it out.
//
// Whether a neighbor is visited is almost random, so there is no branch on it: every candidate is written behind the
// kept ones, and their number grows only if the candidate is to be kept.

// batch is the number of entries or rows that are processed at a time; a power of two.
const batch = 512

// worker is the memory that one worker of a rank writes during a scan. The padding keeps workers off each other's
// cache lines.
type worker struct {
	row         [batch]uint32 // rows to process, or unvisited ones
	at          [batch]uint32 // next entry to read
	end         [batch]uint32
	found       [batch]uint32 // rows with a column in the frontier
	column      [batch]uint32 // that column
	sources     [touchAhead]source
	long        []source // with long lists
	discovered  []uint32 // rows, top-down
	edges       int64    // adjacency entries read, and of the frontier in addEdges
	members     int      // in a part of a bitmap, or before it; discovered bottom-up
	corrections parents.Corrections
	touched     uint32 // not used; keeps the compiler from dropping reads
	_           [64]byte
}

// takeEdges returns how many entries the workers have read since the last call.
func (s *Rank) takeEdges() (edges int64) {
	for k := range s.workers {
		edges += s.workers[k].edges
		s.workers[k].edges = 0
	}
	return edges
}

type source struct {
	list   uint32 // its index
	links  int    // its length
	column uint32 // of the vertex
}

// candidate is an unvisited row with a neighbor in the frontier, which has the given column.
type candidate struct{ row, column uint32 }

const (
	fewMembers   = 64      // a frontier of fewer words in messages is left to one worker
	touchAhead   = 32      // sources whose lists are fetched at once
	wordsPiece   = 64      // words of rows that a worker takes at a time, bottom-up
	manyWords    = 1 << 10 // words that a worker takes at a time where it does little with each
	clearWords   = 1 << 12 // words that a worker clears at a time
	degreesPiece = 1 << 8  // numbers or words of a frontier whose degrees a worker adds up at a time
	piecesShare  = 8       // pieces for each worker that there should be at least
)

// scan is the memory that the workers of a top-down scan share.
type scan struct {
	blocks []block  // of the frontier
	cuts   int      // parts of each block that workers share out
	long   []source // vertices with long lists
}

// block is a part of the frontier, a list or a bitmap. Vertex v has column first+v.
type block struct {
	list  []uint32
	words bitmap
	first uint32
}

// cut returns part k of n about equally long parts of a slice.
func cut[E any](all []E, k, n int) []E { return all[len(all)*k/n : len(all)*(k+1)/n] }

// do lets the workers share out 0..n-1 in pieces. It allocates nothing if step is a method expression.
func (s *Rank) do(n, piece int, step step) {
	s.step = step
	s.team.Do(n, piece, s)
}

// step is a part of a level that workers share out. It does from..to-1.
type step func(s *Rank, worker, from, to int)

func (s *Rank) Piece(worker, from, to int) { s.step(s, worker, from, to) }

// eachPart calls step for the parts of n blocks with size words in all, which are cut into s.cuts parts each. At most
// few words are left to one worker.
func (s *Rank) eachPart(n, size, few int, step step) {
	s.cuts = 1
	if size <= few || s.team.Size() == 1 {
		step(s, 0, 0, n)
		return
	}
	s.cuts = max(piecesShare*s.team.Size()/n, 1)
	s.do(n*s.cuts, 1, step)
}

// scanTopDown discovers the unvisited rows in the lists of the vertices of s.blocks. First workers share out the
// vertices with short lists. Then they share out ranges of rows: one worker scans the segments of all long lists that
// lead to a range.
func (s *Rank) scanTopDown() {
	size := 0
	for _, b := range s.blocks {
		size += len(b.list) + len(b.words)
	}
	s.eachPart(len(s.blocks), size, fewMembers, (*Rank).shortLists)
	for k := range s.workers {
		x := &s.workers[k]
		s.long, x.long = append(s.long, x.long...), x.long[:0]
	}
	if len(s.long) > 0 {
		s.discovered.toBitmap()
		s.do(s.ranges, 1, (*Rank).longLists)
		s.long = s.long[:0]
	}
	s.takeDiscovered()
}

// shortLists scans the short lists of the vertices in parts from..to-1 of the blocks.
func (s *Rank) shortLists(worker, from, to int) {
	x := &s.workers[worker]
	for k := from; k < to; k++ {
		n, b := 0, &s.blocks[k/s.cuts]
		add := func(u uint32) {
			list := (u>>5*uint32(len(s.blocks))+uint32(k/s.cuts))<<5 | u&31 // as in listOf
			links := int(s.down.at[list+1] - s.down.at[list])
			x.edges += int64(links)
			switch {
			case links == 0:
			case list < s.segmented && links >= minSegment*s.ranges:
				x.long = append(x.long, source{list, links, b.first + u})
			default:
				x.sources[n&(touchAhead-1)] = source{list, links, b.first + u}
				if n++; n == touchAhead {
					s.scanLists(x, n)
					n = 0
				}
			}
		}
		for _, u := range cut(b.list, k%s.cuts, s.cuts) {
			add(u)
		}
		base := len(b.words) * (k % s.cuts) / s.cuts
		for w, word := range cut(b.words, k%s.cuts, s.cuts) {
			for ; word != 0; word &= word - 1 {
				add(uint32((base+w)<<5 + bits.TrailingZeros32(word)))
			}
		}
		s.scanLists(x, n)
	}
}

// scanLists makes the first n sources of x the parents of the unvisited rows in their lists.
func (s *Rank) scanLists(x *worker, n int) {
	for _, u := range x.sources[:n] { // fetch the lists at once: each is somewhere else in memory
		x.touched += s.down.targets[s.down.at[u.list]]
	}
	for _, u := range x.sources[:n] {
		for rows := range slices.Chunk(s.down.of(int(u.list)), batch) {
			s.discover(x, x.row[:keepUnvisited(rows, s.visited, &x.row)], u.column)
		}
	}
}

// longLists scans the segments of the long lists that lead to the ranges from..to-1 of rows.
func (s *Rank) longLists(worker, from, to int) {
	x := &s.workers[worker]
	for k := from; k < to; k++ {
		for part := range slices.Chunk(s.long, touchAhead) {
			for _, u := range part {
				if segment := s.segment(u.list, k); segment < u.links {
					x.touched += s.down.of(int(u.list))[segment]
				}
			}
			for _, u := range part {
				list := s.down.of(int(u.list))[s.segment(u.list, k):s.segment(u.list, k+1)]
				for rows := range slices.Chunk(list, batch) {
					s.discoverInRange(x.row[:keepUnvisited(rows, s.visited, &x.row)], u.column)
				}
			}
		}
	}
}

// keepUnvisited writes the unvisited ones of at most batch rows to unvisited and returns their number. Other workers
// may visit rows at the same time; on amd64 an atomic read costs no more than another.
func keepUnvisited(rows []uint32, visited bitmap, unvisited *[batch]uint32) int {
	n := 0
	for _, v := range rows {
		unvisited[n&(batch-1)] = v
		n += int(^atomic.LoadUint32(&visited[v>>5]) >> (v & 31) & 1)
	}
	return n
}

// discover visits rows and gives them a parent, which has the given column. Several workers may discover a row at once;
// one of them gets it.
func (s *Rank) discover(x *worker, rows []uint32, column uint32) {
	shared := len(s.workers) > 1
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if shared {
			if atomic.OrUint32(&s.visited[v>>5], bit)&bit != 0 {
				continue
			}
			atomic.OrUint32(&s.corrected[v>>5], bit)
		} else {
			if s.visited[v>>5]&bit != 0 {
				continue // a duplicate
			}
			s.visited[v>>5] |= bit
			s.corrected[v>>5] |= bit
		}
		s.parent[v] = column
		x.discovered = append(x.discovered, v)
	}
}

// discoverCandidates discovers the candidates of expandFrontierAndAddUp.
func (s *Rank) discoverCandidates() {
	x := &s.workers[0]
	x.edges += s.looked
	for _, c := range s.candidates {
		s.discover(x, []uint32{c.row}, c.column)
	}
}

// discoverInRange is discover for rows of a range that belongs to the worker, where discovered is a bitmap.
func (s *Rank) discoverInRange(rows []uint32, column uint32) {
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if s.visited[v>>5]&bit == 0 {
			s.visited[v>>5] |= bit
			s.corrected[v>>5] |= bit
			s.discovered.bits[v>>5] |= bit
			s.parent[v] = column
		}
	}
}

// takeDiscovered makes discovered the set of the rows that the workers have discovered top-down.
func (s *Rank) takeDiscovered() {
	d, n := &s.discovered, 0
	for k := range s.workers {
		n += len(s.workers[k].discovered)
	}
	if !d.listed || n >= s.width/32 || s.form == "bitmaps" {
		d.toBitmap()
		if n <= manyWords {
			s.addDiscovered(0, 0, len(s.workers))
		} else {
			s.do(len(s.workers), 1, (*Rank).addDiscovered)
		}
		return
	}
	for k := range s.workers {
		x := &s.workers[k]
		d.list = append(d.list, x.discovered...)
		x.discovered = x.discovered[:0]
	}
}

// addDiscovered adds the rows that workers from..to-1 have discovered to the bitmap discovered.
func (s *Rank) addDiscovered(_, from, to int) {
	d := s.discovered.bits
	for k := from; k < to; k++ {
		x := &s.workers[k]
		for _, v := range x.discovered {
			if len(s.workers) == 1 {
				d.add(v)
			} else {
				atomic.OrUint32(&d[v>>5], 1<<(v&31))
			}
		}
		x.discovered = x.discovered[:0]
	}
}
