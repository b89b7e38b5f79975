package distributed

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/internal/lookup"
)

// The local parts of both steps, where a rank spends its time computing. They work on bitmaps and on the lists of the
// part, and know nothing about messages, ranks or grids. The workers of a rank share them out.
//
// Whether a neighbour is visited, and which entry of a list is the first one in the frontier, is almost random, so a
// branch on it would be mispredicted all the time. Instead, every candidate is written behind those that are kept, and
// the number of those kept grows only if it is to be kept.

// batch is how many entries or rows are processed at a time; a power of two.
const batch = 512

// worker is what one worker of a rank writes during a scan. The padding keeps workers off each other's cache lines.
type worker struct {
	row        [batch]Row    // rows to process, or unvisited ones
	at         [batch]uint32 // next entry to read
	end        [batch]uint32
	found      [batch]Row    // rows with a column in the frontier
	column     [batch]Column // that column
	sources    [touchAhead]source
	long       []source // with long lists
	discovered []uint32 // rows, top-down
	edges      int64    // adjacency entries read, and of the frontier in addEdges
	members    int      // in a part of a bitmap, or before it
	copied     copied   // of the output's template
	touched    uint32   // not used; keeps the compiler from dropping reads
	_          [64]byte
}

// takeEdges returns how many entries the workers have read since the last call.
func (s *Rank) takeEdges() (edges int64) {
	for k := range s.workers {
		edges += s.workers[k].edges
		s.workers[k].edges = 0
	}
	return edges
}

// source is a vertex of the frontier whose list is to be scanned.
type source struct {
	list  uint32 // its index
	links int    // its length
	label uint32 // label + 1 of the vertex
}

// candidate is an unvisited row with a neighbour in the frontier, which has the given label + 1.
type candidate struct {
	row   Row
	label uint32
}

const (
	aloneMembers = 64      // a frontier of fewer words in messages is left to one worker
	touchAhead   = 32      // sources whose lists are fetched together
	wordsPiece   = 64      // words of rows that a worker takes at a time, bottom-up
	manyWords    = 1 << 10 // words that a worker takes at a time where it does little with each
	clearWords   = 1 << 12 // words that a worker clears at a time
	degreesPiece = 1 << 8  // numbers or words of a frontier whose degrees a worker adds up at a time
	piecesShare  = 8       // pieces for each worker that there should be at least
)

// cut returns part k of n about equally long parts of a slice.
func cut[E any](all []E, k, n int) []E { return all[len(all)*k/n : len(all)*(k+1)/n] }

// eachPart calls task for the parts of n blocks with size words in all, which are cut into s.cuts parts each. At most
// alone words are left to one worker.
func (s *Rank) eachPart(n, size, alone int, task func(worker, from, to int)) {
	s.cuts = 1
	if size <= alone || s.team.Size() == 1 {
		task(0, 0, n)
		return
	}
	s.cuts = max(piecesShare*s.team.Size()/n, 1)
	s.team.Pieces(n*s.cuts, 1, task)
}

// scanTopDown discovers the unvisited rows in the lists of the frontier's vertices, and makes these their parents. The
// frontier is in n blocks with size words in all. tasks.topDown scans parts of the blocks, whose short lists lead
// anywhere, and then tasks.long the long lists by segment: all that lead to a range of rows are scanned by one worker.
func (s *Rank) scanTopDown(n, size int) {
	s.eachPart(n, size, aloneMembers, s.tasks.topDown)
	for k := range s.workers {
		x := &s.workers[k]
		s.long, x.long = append(s.long, x.long...), x.long[:0]
	}
	if len(s.long) > 0 {
		s.discovered.toBitmap()
		s.team.Pieces(s.ranges, 1, s.tasks.long)
		s.long = s.long[:0]
	}
	s.takeDiscovered()
}

// scanPart scans the lists of part k of the vertices in a list or bitmap. The list of vertex 32*w+b has the index
// 32*(w*blocks+block)+b, and the label of vertex u is labels[u].
func scanPart[V Row | Column](
	s *Rank, x *worker, all *lists[V], members []uint32, words bitmap, k int, labels []uint32, block, blocks uint32,
) {
	n := 0
	add := func(u uint32) {
		list := (u>>5*blocks+block)<<5 | u&31
		links := int(all.at[list+1] - all.at[list])
		x.edges += int64(links)
		switch {
		case links == 0:
		case list < s.segmented && links >= minSegment*s.ranges:
			x.long = append(x.long, source{list, links, labels[u]})
		default:
			x.sources[n&(touchAhead-1)] = source{list, links, labels[u]}
			if n++; n == touchAhead {
				scanLists(s, x, all, x.sources[:n])
				n = 0
			}
		}
	}
	for _, u := range cut(members, k, s.cuts) {
		add(u)
	}
	base := len(words) * k / s.cuts
	for w, word := range cut(words, k, s.cuts) {
		for ; word != 0; word &= word - 1 {
			add(uint32((base+w)<<5 + bits.TrailingZeros32(word)))
		}
	}
	scanLists(s, x, all, x.sources[:n])
}

// scanLists scans the lists of sources.
func scanLists[V Row | Column](s *Rank, x *worker, all *lists[V], sources []source) {
	for _, u := range sources { // fetch them at once: each is somewhere else in memory
		x.touched += uint32(all.targets[all.at[u.list]])
	}
	for _, u := range sources {
		scanList(s, x, all.of(int(u.list)), u.label)
	}
}

// scanList makes a vertex the parent of the unvisited rows in its list.
func scanList[V Row | Column](s *Rank, x *worker, list []V, label uint32) {
	for rows := range slices.Chunk(list, batch) {
		unvisited := x.row[:keepUnvisited(rows, s.visited, &x.row)]
		if s.team.Size() > 1 {
			s.discoverShared(x, unvisited, label)
		} else {
			s.discover(x, unvisited, label)
		}
	}
}

// scanLong scans the segments of the long lists that lead to the ranges from..to-1 of rows.
func scanLong[V Row | Column](s *Rank, x *worker, all *lists[V], from, to int) {
	for k := from; k < to; k++ {
		for part := range slices.Chunk(s.long, touchAhead) {
			for _, u := range part {
				if segment := s.segment(u.list, k); segment < u.links {
					x.touched += uint32(all.of(int(u.list))[segment])
				}
			}
			for _, u := range part {
				list := all.of(int(u.list))[s.segment(u.list, k):s.segment(u.list, k+1)]
				for rows := range slices.Chunk(list, batch) {
					s.discoverInRange(x.row[:keepUnvisited(rows, s.visited, &x.row)], u.label)
				}
			}
		}
	}
}

// keepUnvisited writes the unvisited ones of at most batch rows to unvisited and returns their number. Other workers
// may visit rows meanwhile; on amd64 an atomic read costs no more than another.
func keepUnvisited[V Row | Column](rows []V, visited bitmap, unvisited *[batch]Row) int {
	n := 0
	for _, v := range rows {
		unvisited[n&(batch-1)] = Row(v)
		n += int(^atomic.LoadUint32(&visited[v>>5]) >> (v & 31) & 1)
	}
	return n
}

// discover visits rows and gives them a parent, which has the given label.
func (s *Rank) discover(x *worker, rows []Row, label uint32) {
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if s.visited[v>>5]&bit != 0 {
			continue // a duplicate
		}
		s.visited[v>>5] |= bit
		s.corrected[v>>5] |= bit
		s.parent[v] = label
		x.discovered = append(x.discovered, uint32(v))
	}
}

// discoverCandidates discovers the candidates of expandFrontierAndAddUp.
func (s *Rank) discoverCandidates() {
	x := &s.workers[0]
	x.edges += s.looked
	for _, c := range s.candidates {
		s.discover(x, []Row{c.row}, c.label)
	}
}

// discoverInRange is discover for rows of a range that belongs to the worker. There may be many, so discovered is a
// bitmap.
func (s *Rank) discoverInRange(rows []Row, label uint32) {
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if s.visited[v>>5]&bit == 0 {
			s.visited[v>>5] |= bit
			s.corrected[v>>5] |= bit
			s.discovered.bits[v>>5] |= bit
			s.parent[v] = label
		}
	}
}

// discoverShared is discover while other workers discover rows too: one of those that discover a row gets it.
func (s *Rank) discoverShared(x *worker, rows []Row, label uint32) {
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if atomic.OrUint32(&s.visited[v>>5], bit)&bit != 0 {
			continue
		}
		atomic.OrUint32(&s.corrected[v>>5], bit)
		s.parent[v] = label
		x.discovered = append(x.discovered, uint32(v))
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
			s.team.Pieces(len(s.workers), 1, s.tasks.addDiscovered)
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
		if len(s.workers) == 1 {
			for _, v := range x.discovered {
				d.add(v)
			}
		} else {
			for _, v := range x.discovered {
				atomic.OrUint32(&d[v>>5], 1<<(v&31))
			}
		}
		x.discovered = x.discovered[:0]
	}
}

// scanBottomUp discovers every unvisited row with an entry in a column of the frontier and makes the first such column
// its parent.
func (s *Rank) scanBottomUp() {
	s.takeHubs(s.j, s.expanded, s.width/32)
	s.discovered.toBitmap()
	words, size := s.rows/32, s.rows/32
	if workers := s.team.Size(); workers > 1 {
		size = min(max(words/(piecesShare*workers), 1), wordsPiece)
	}
	s.team.Pieces(words, size, s.tasks.bottomUp)
}

// bottomUpPiece is scanBottomUp for words from..to-1 of the part's rows, which belong to one worker.
//
// Most rows that find a parent find it at their first column: those of a group together (groups.go), the others one by
// one. It needs no writing: the template of the output has it already. The first few columns are stored column by
// column, for 32 rows a word; the rest of the lists is scanned for many rows in step.
func (s *Rank) bottomUpPiece(k, from, to int) {
	x, base, words := &s.workers[k], s.firstRow>>5, s.width/32
	var room [wordsPiece]uint32
	n, found := 0, 0
	for from < to {
		block := from / words
		groups := bitmap(room[:min(wordsPiece, to-from, (block+1)*words-from)])
		clear(groups)
		s.addGroups(groups, block, from-block*words)
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
			for left &= s.more[numColumns][w]; left != 0; left &= left - 1 {
				x.row[n&(batch-1)] = Row(w<<5 + bits.TrailingZeros32(left))
				n++
			}
			if n+found > batch-32 {
				s.scanRows(x, n, found)
				n, found = 0, 0
			}
		}
		from += len(groups)
	}
	s.scanRows(x, n, found)
}

// find adds the rows of a word with their columns to those that have found a parent.
func (x *worker) find(n int, word uint32, base int, column []uint32) int {
	for ; word != 0; word &= word - 1 {
		v := base + bits.TrailingZeros32(word)
		x.found[n&(batch-1)], x.column[n&(batch-1)] = Row(v), Column(column[v])
		n++
	}
	return n
}

// scanRows searches the lists of the first n rows of x, behind the columns. All rows advance together: each reads one
// entry, then those left read their next one, and so on. Then it stores the parents of all rows that have found one,
// beginning with those that the columns have already found.
func (s *Rank) scanRows(x *worker, n, found int) {
	const mask = batch - 1
	targets := s.up.targets
	for k, v := range x.row[:n] {
		x.at[k&mask], x.end[k&mask] = s.up.at[v]+numColumns, s.up.at[v+1] // not empty
	}
	for _, at := range x.at[:n] { // fetch the lists at once: each is somewhere else in memory
		x.touched += uint32(targets[at])
	}
	known, kept := found, n
	for n = kept; n > 0; n = kept {
		x.edges += int64(n)
		kept = 0
		for k := range n {
			v, at, end := x.row[k&mask], x.at[k&mask], x.end[k&mask]
			u := targets[at]
			hit := int(s.expanded[u>>5] >> (u & 31) & 1)
			x.found[found&mask], x.column[found&mask] = v, u
			found += hit
			at++
			x.row[kept&mask], x.at[kept&mask], x.end[kept&mask] = v, at, end
			kept += less(at, end) &^ hit
		}
	}
	first := s.firstRow >> 5
	visited, discovered, corrected := s.visited[first:], s.discovered.bits[first:], s.corrected[first:]
	parent := s.parent[s.firstRow:]
	for _, v := range x.found[known:found] {
		bit := uint32(1) << (v & 31)
		visited[v>>5] |= bit
		discovered[v>>5] |= bit
	}
	for k, v := range x.found[:found] {
		corrected[v>>5] |= 1 << (v & 31)
		parent[v] = s.label[x.column[k]]
	}
}

// less returns 1 if a < b and 0 otherwise.
func less(a, b uint32) int { return int((uint64(a) - uint64(b)) >> 63) }
