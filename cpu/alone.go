package cpu

import "github.com/tepsbench/teps/graph"

// The steps of one worker in local order (local.go): a queue, and a byte for each vertex.
//
// Whether a neighbour is unvisited cannot be predicted in roads and meshes. So where lists are short, each neighbour is
// written behind the queue, and stays there if it is unvisited: no branch depends on it. None depends on the length of a
// list either, because every vertex has a row of four, some of them the vertex itself, and the four looks come before
// the stores. A look after a store waits until the processor knows where it goes, and it goes where the queue ends.
//
// With five to seven neighbours on average rows have eight. Branches do not cost more than waiting there, but a row is
// one cache line, where a list and its beginning are two or three, and its place is known: the processor can fetch it
// while it expands others.
//
// Longer lists are expanded as in a search with one queue. So are narrow frontiers, where each vertex waits for the one
// before, and all that follows the levels that are reported, where nothing has to be done for each level.
//
// Loops have functions of their own, which are not inlined, because they need all registers. They are unchecked: the
// entries of targets and rows are vertices, seen has a byte for each, and a queue has room for all and one more.

const (
	expansions      = 1 << 16 // vertices that are expanded before the caller looks for a cancelled search
	narrowFrontier  = 8       // vertices; a frontier of fewer is narrow
	fetchedTogether = 64      // vertices whose lists are read before any is expanded
	fetchedAhead    = 16      // vertices that are expanded while as many rows are fetched
	// Vertices are published by as many: workers that write close behind the one that expands take its cache lines.
	publishedPiece = 1 << 10
)

// stepsAlone expands the frontier and those that follow until one is wide, or for a while. It returns the number of
// vertices in the next frontier.
func (s *search) stepsAlone(state *graph.SwitchState) (next int) {
	l, p := &s.local, &s.local.parts[0]
	for begun := p.end; ; {
		p.head = p.end
		limit, entries := p.tail, 0
		counted := len(s.levels) > maxLevels // and not reported: where one ends does not matter
		if counted {
			limit = p.head + publishedPiece
		}
		switch {
		case (counted || limit-p.head < narrowFrontier) && !s.g.Lists.Packed:
			p.end, p.tail, entries = l.expandLists(p.queue, p.head, limit, p.tail)
		case s.g.Lists.Packed:
			p.end = p.tail
			entries = s.expandPacked(p)
		default:
			p.end = p.tail
			entries = s.expandWide(p)
		}
		state.Frontier = int64(p.end - p.head)
		s.recordLevel(state, entries)
		if p.end-p.published >= publishedPiece {
			p.publish()
		}
		next = p.tail - p.end
		if next == 0 || s.isWide(next) || p.end-begun >= expansions {
			return next
		}
	}
}

// expandLists makes the vertices queue[head:limit] the parents of their unvisited neighbours, and adds these to the
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

// expandWide does the same for the frontier of p, and fetches what it needs for some vertices at a time: lists before
// the vertices are expanded, and rows, whose place is known, while others are.
func (s *search) expandWide(p *part) (entries int) {
	l, rows := &s.local, s.g.Rows
	piece := fetchedTogether
	if rows != nil {
		piece = fetchedAhead
	}
	for head := p.head; head < p.end; {
		end, n := min(head+piece, p.end), 0
		if rows != nil {
			if to := min(head+2*fetchedAhead, p.tail); to > p.fetched {
				from := max(p.fetched, head)
				prefetch(&rows[0], s.g.RowLength, &p.queue[from], to-from)
				p.fetched = to
			}
		}
		switch us := p.queue[head:end]; {
		case rows == nil:
			l.fetched += fetchLists(us, l.at, l.targets, l.seen)
			_, p.tail, n = l.expandLists(p.queue, head, end, p.tail)
		case s.g.RowLength == 8:
			p.tail, n = l.expandLongRows(rows, p.queue, head, end, p.tail)
		default:
			p.tail = expandRows(us, rows, l.seen, p.queue, p.tail)
			for _, e := range us {
				begin, end := int(l.at[uint32(e)]), int(l.at[uint32(e)+1])
				n += end - begin
				for i := begin + 4; i < end; i++ {
					v := l.targets[i]
					p.queue[p.tail] = e<<32 | uint64(v)
					p.tail += int(1 ^ l.seen[v])
					l.seen[v] = 1
				}
			}
		}
		entries += n
		head = end
	}
	return entries
}

// fetchLists reads the first neighbours of the vertices us, so that they are in the cache soon. It returns a number
// that depends on all of them, which the caller must use.
//
//go:noinline
func fetchLists(us []uint64, at, targets []uint32, seen []uint8) (sum uint32) {
	begin, target, known := uncheckedOf(at), uncheckedOf(targets), uncheckedOf(seen)
	for _, e := range us {
		sum |= uint32(*known.at(int(*target.at(int(*begin.at(int(uint32(e))))))))
	}
	return sum
}

// expandRows adds the unvisited ones in the rows of the vertices us, which have four entries, to the queue.
//
//go:noinline
func expandRows(us []uint64, rows []uint32, seen []uint8, queue []uint64, tail int) (newTail int) {
	q, row, known := uncheckedOf(queue), uncheckedOf(rows), uncheckedOf(seen)
	for _, e := range us {
		r := row.four(4 * int(uint32(e)))
		e <<= 32
		s0, s1 := known.at(int(r[0])), known.at(int(r[1]))
		s2, s3 := known.at(int(r[2])), known.at(int(r[3]))
		a, b, c, d := *s0, *s1, *s2, *s3
		*s0, *s1, *s2, *s3 = 1, 1, 1, 1
		*q.at(tail) = e | uint64(r[0])
		tail += int(1 ^ a)
		*q.at(tail) = e | uint64(r[1])
		tail += int(1 ^ b)
		*q.at(tail) = e | uint64(r[2])
		tail += int(1 ^ c)
		*q.at(tail) = e | uint64(r[3])
		tail += int(1 ^ d)
	}
	return tail
}

// expandLongRows is expandLists with rows of eight entries.
//
//go:noinline
func (l *local) expandLongRows(rows []uint32, queue []uint64, head, limit, tail int) (newTail, entries int) {
	row, seen, q := uncheckedOf(rows), uncheckedOf(l.seen), uncheckedOf(queue)
	for ; head < limit; head++ {
		e := *q.at(head)
		u := uint32(e)
		i, end := 8*int(u), 8*int(u)+8
		for ; i < end; i++ {
			v := *row.at(i)
			if v == u {
				break
			}
			if s := seen.at(int(v)); *s == 0 {
				*s = 1
				*q.at(tail) = e<<32 | uint64(v)
				tail++
			}
		}
		if i < end {
			entries += 8 - (end - i)
			continue
		}
		n := 0
		_, tail, n = l.expandLists(queue, head, head+1, tail)
		entries += n
	}
	return tail, entries
}

// expandPacked does the same for the frontier of p in packed lists, without a branch for each neighbour.
func (s *search) expandPacked(p *part) (entries int) {
	seen := s.local.seen
	for _, e := range p.queue[p.head:p.end] {
		list := s.unpack(&s.workers[0], uint32(e))
		entries += len(list)
		for _, v := range list {
			p.queue[p.tail] = e<<32 | uint64(v)
			p.tail += int(1 ^ seen[v])
			seen[v] = 1
		}
	}
	return entries
}
