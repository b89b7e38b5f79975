// SPDX-License-Identifier: Apache-2.0

package cpu

import "github.com/tepsbench/teps/cpu/layout"

// Sequential expansion in local order (local.go): one worker, a queue, and a byte for each vertex.
//
// Whether a neighbor is unvisited cannot be predicted in roads and meshes. So with up to four neighbors on average
// every vertex has a row of four, some of them the vertex itself. Each is written behind the queue and stays there if
// it is unvisited: no branch depends on it. The four looks come before the stores to the queue, because a look after a
// store waits until the processor knows the end of the queue. Most vertices of a road have two neighbors. One is the
// parent, so they need one look.
//
// With five to seven neighbors on average rows have eight. Branches do not cost more than waiting there, but a row is
// one cache line at a known place, where a list and its beginning are two or three: the processor can fetch it while it
// expands others. A vertex with more neighbors than its row has room for is expanded with its list.
//
// Graphs with more neighbors have lists only. Narrow frontiers, where each vertex waits for the one before, and levels
// that are not reported are expanded with branches, too.
//
// Loops are functions that are not inlined, because they need all registers. They are unchecked: the entries of targets
// and rows are vertices, seen has a byte for each, and a queue has room for all and one more.

const (
	narrowFrontier  = 8  // vertices; a frontier of fewer is narrow
	fetchedTogether = 64 // vertices whose lists are read before any is expanded
	fetchedAhead    = 16 // vertices that are expanded while as many rows are fetched
	// This many vertices are published at a time, because workers that write close behind the expanding one take its
	// cache lines.
	publishedPiece = 1 << 10
)

// expandSequentially expands the frontier and the following ones until one is wide, or until it is time to check for a
// canceled search. It returns the number of vertices in the next frontier.
func (l *local) expandSequentially() (next int) {
	p := &l.parts[0]
	for begun := p.end; ; {
		p.head = p.end
		limit, entries := p.tail, 0
		counted := l.levels.full() // and not reported, so it does not matter where one ends
		if counted {
			limit = p.head + publishedPiece
		}
		switch narrow := counted || limit-p.head < narrowFrontier; {
		case narrow && l.g.Rows != nil:
			p.end, p.tail, entries = l.expandRows(p.queue, p.head, limit, p.tail, false)
		case narrow:
			p.end, p.tail, entries = l.expandLists(p.queue, p.head, limit, p.tail)
		default:
			p.end = p.tail
			entries = l.expandWide(p)
		}
		l.state.Frontier = int64(p.end - p.head)
		l.recordLevel(entries)
		if p.end-p.published >= publishedPiece {
			p.publish()
		}
		next = p.tail - p.end
		if next == 0 || l.isWide(next) || p.end-begun >= expansions {
			return next
		}
	}
}

// expandLists makes the vertices queue[head:limit] the parents of their unvisited neighbors, and adds these to the
// queue. If the queue ends before limit, it stops there.
//
//go:noinline
func (l *local) expandLists(queue []uint64, head, limit, tail int) (newHead, newTail, entries int) {
	at, targets, seen, q := uncheckedOf(l.at), uncheckedOf(l.targets), uncheckedOf(l.seen), uncheckedOf(queue)
	for ; head < tail && head < limit; head++ {
		e := *q.at(head)
		u := int(uint32(e))
		i, end := int(*at.at(u)), int(*at.at(u + 1))
		entries += end - i
		for ; i < end; i++ {
			v := *targets.at(i)
			if s := seen.at(int(v)); *s == 0 {
				*s = 1
				*q.at(tail) = e<<32 | uint64(v)
				tail++
			}
		}
	}
	return head, tail, entries
}

// expandWide does the same for the frontier of p, and fetches lists before vertices are expanded, or rows while others
// are.
func (l *local) expandWide(p *part) (entries int) {
	rows := l.g.Rows
	piece := fetchedTogether
	if rows != nil {
		piece = fetchedAhead
	}
	for head := p.head; head < p.end; {
		end, n := min(head+piece, p.end), 0
		if rows != nil {
			if to := min(head+2*fetchedAhead, p.tail); to > p.fetched {
				from := max(p.fetched, head)
				prefetch(&rows[0], 1<<l.g.RowBits, &p.queue[from], to-from)
				p.fetched = to
			}
		}
		if rows == nil {
			l.fetched += fetchLists(p.queue[head:end], l.at, l.targets, l.seen)
			_, p.tail, n = l.expandLists(p.queue, head, end, p.tail)
		} else {
			_, p.tail, n = l.expandRows(p.queue, head, end, p.tail, l.g.RowBits == 2)
		}
		entries += n
		head = end
	}
	return entries
}

// fetchLists reads the first neighbors of the vertices us, so that they are in the cache soon. The caller must use the
// result, which depends on all of them.
//
//go:noinline
func fetchLists(us []uint64, at, targets []uint32, seen []uint8) (sum uint32) {
	begin, target, known := uncheckedOf(at), uncheckedOf(targets), uncheckedOf(seen)
	for _, e := range us {
		sum |= uint32(*known.at(int(*target.at(int(*begin.at(int(uint32(e))))))))
	}
	return sum
}

// expandRows is expandLists with rows, or in rows of four without a branch for each neighbor.
func (l *local) expandRows(queue []uint64, head, limit, tail int, fours bool) (newHead, newTail, entries int) {
	g := l.g
	for head < tail && head < limit {
		n := 0
		if fours {
			head, tail, n = expandFours(g.Rows, l.seen, queue, head, limit, tail)
		} else {
			head, tail, n = expandByBranch(g.Rows, g.RowBits, l.seen, queue, head, limit, tail)
		}
		entries += n
		if head < tail && head < limit { // its row has no room for all neighbors
			head, tail, n = l.expandLists(queue, head, head+1, tail)
			entries += n
		}
	}
	return head, tail, entries
}

// expandFours expands vertices up to the first whose row has no room for all neighbors. None is the root, whose
// frontier is narrow.
//
//go:noinline
func expandFours(rows []uint32, seen []uint8, queue []uint64, head, limit, tail int) (newHead, newTail, entries int) {
	row, known, q := uncheckedOf(rows), uncheckedOf(seen), uncheckedOf(queue)
	for ; head < limit; head++ {
		e := *q.at(head)
		r := row.four(4 * int(uint32(e)))
		first, n := layout.RowBegin(r[0])
		if n == 0 {
			break
		}
		entries += n
		if n <= 2 { // of the row's two, one is the parent; the other may be the vertex itself
			v := first ^ r[1] ^ uint32(e>>32)
			s := known.at(int(v))
			a := int(*s)
			*s = 1
			*q.at(tail) = e<<32 | uint64(v)
			tail += 1 - a
			continue
		}
		e <<= 32
		s0, s1 := known.at(int(first)), known.at(int(r[1]))
		s2, s3 := known.at(int(r[2])), known.at(int(r[3]))
		a, b, c, d := int(*s0), int(*s1), int(*s2), int(*s3)
		*s0, *s1, *s2, *s3 = 1, 1, 1, 1
		*q.at(tail) = e | uint64(first)
		tail -= a
		*q.at(tail + 1) = e | uint64(r[1])
		tail -= b
		*q.at(tail + 2) = e | uint64(r[2])
		tail -= c
		*q.at(tail + 3) = e | uint64(r[3])
		tail += 4 - d
	}
	return head, tail, entries
}

// expandByBranch is expandFours with a branch for each neighbor, in rows of any length. It stops where the queue ends.
//
//go:noinline
func expandByBranch(rows []uint32, bits uint, seen []uint8, queue []uint64, head, limit, tail int) (
	newHead, newTail, entries int) {
	row, known, q := uncheckedOf(rows), uncheckedOf(seen), uncheckedOf(queue)
	for ; head < tail && head < limit; head++ {
		e := *q.at(head)
		at := int(uint32(e)) << (bits & 63)
		v, n := layout.RowBegin(*row.at(at))
		if n == 0 {
			break
		}
		entries += n
		for end := at + n; ; v = *row.at(at) {
			if s := known.at(int(v)); *s == 0 {
				*s = 1
				*q.at(tail) = e<<32 | uint64(v)
				tail++
			}
			if at++; at == end {
				break
			}
		}
	}
	return head, tail, entries
}
