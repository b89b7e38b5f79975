package cpu

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/tepsbench/teps/cpu/layout"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
)

// Searches of graphs in local order (package layout): roads, meshes and grids.
//
// They have thousands of levels, so a step must cost little more than a look at its entries. A search with one queue
// is like that: the vertices that have been discovered are in the queue, and the frontier is its end. An element of a
// queue is parent<<32 | vertex.
//
// So one worker expands frontiers level after level, without waiting for others, which write the parents that are known
// so far. If there are more than two workers, they expand wide frontiers together. The vertices are cut into blocks of
// consecutive numbers, and each part of the search owns every n-th block of n parts, with a queue for the vertices in
// them. In a step a part discovers only vertices that it owns. Frontier vertices that have neighbors elsewhere go to a
// list, the borders, and the owners of these neighbors look at them at the beginning of the next step. In local order
// edges are short and blocks are much longer, so that few vertices are on a border. Nothing is atomic, and nothing is
// discovered twice. But a look at an entry takes half as long again as alone, so two workers would gain nothing.

const (
	maxParts    = 32
	minFrontier = 64 // vertices of the frontier for each part; smaller ones are expanded by one worker
	blockReach  = 8  // blocks are this many times longer than the longest edges, on average
	erasePiece  = 1 << 15
	outputPiece = 128 // vertices whose parents a worker writes at a time
)

// local is the state of a search in local order.
type local struct {
	parts    []part
	at       []uint32 // of lists
	targets  []uint32 // of lists; nil if they are packed
	seen     []uint8  // [Searched] 1: discovered
	shift    uint     // the block of a vertex is vertex>>shift
	mask     uint32   // the owner of a block is block&mask, the number of parts less 1
	together bool     // each part expands its own vertices; otherwise part 0 has the frontier
	wide     int      // vertices of a frontier that the parts expand together
	fetched  uint32   // not used; keeps the compiler from dropping reads
}

// part is one part of a search.
type part struct {
	queue      []uint64 // room for one vertex more than the part ever has
	head, end  int      // the frontier is queue[head:end]
	tail       int      // the next frontier is queue[end:tail], without what is on borders
	entries    int      // that the last step looked at
	fetched    int      // the rows of queue[:fetched] have been asked for
	borders    []uint64 // frontier vertices with neighbors elsewhere: owners of these, 1 bit each <<32 | vertex
	old, known int      // borders[old:known] are of the last step
	last       int      // borders[known:last] are of this step
	published  int      // the last value of ready
	_          [64]byte
	ready      atomic.Int64 // the parents of queue[:ready] may be written
	_          [64]byte
	taken      atomic.Int64 // the parents of queue[:taken] are written, or a worker is about to write them
	_          [64]byte
}

// publish lets workers that wait write the parents of the vertices before the next frontier.
func (p *part) publish() {
	p.published = p.end
	p.ready.Store(int64(p.end))
}

// prepareLocal allocates what a search in local order needs.
func (s *search) prepareLocal(m *memory.Arena) {
	l, n := &s.local, s.g.Searched
	parts := 1
	for s.team.Size() > 2 && 2*parts <= min(s.team.Size(), maxParts) {
		parts *= 2
	}
	l.parts, l.mask = make([]part, parts), uint32(parts-1)
	l.wide = 2 * minFrontier * len(l.parts)
	if average := max(s.average, 1); s.serial/average < l.wide {
		l.wide = s.serial / average
	}
	l.at, _ = s.g.Lists.At.Narrow() // kernel 1 gives larger graphs another order
	l.targets = s.g.Lists.Targets
	l.seen = memory.Allocate[uint8](m, "vertices seen", n)
	if s.g.Lists.Packed {
		maxDegree := 0
		for v := range n {
			maxDegree = max(maxDegree, s.g.Lists.Degree(uint32(v)))
		}
		for w := range s.workers {
			s.workers[w].list = memory.Allocate[uint32](m, "list of a vertex", maxDegree)
		}
	}
	if m.Err() != nil {
		return
	}
	for l.shift = 6; 1<<l.shift < blockReach*s.reach() && 2*len(l.parts)<<l.shift < n; l.shift++ {
	}
	owned := make([]int, len(l.parts))
	for begin := 0; begin < n; begin += 1 << l.shift {
		owned[l.owner(uint32(begin))] += min(1<<l.shift, n-begin)
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.borders = memory.Allocate[uint64](m, "borders", owned[i])
		if i == 0 {
			owned[i] = n
		}
		p.queue = memory.Allocate[uint64](m, "queue", owned[i]+1)
	}
}

// owner returns the part that owns a vertex.
func (l *local) owner(v uint32) uint32 { return v >> (l.shift & 31) & l.mask }

// reach returns how much larger the largest neighbor of a vertex is than the vertex, on average over some vertices.
func (s *search) reach() int {
	const samples = 1 << 10
	n, sum := s.g.Searched, 0
	step := max(n/samples, 1)
	for v := 0; v < n; v += step {
		if list := s.list(&s.workers[0], uint32(v)); len(list) > 0 {
			sum += max(int(list[len(list)-1])-v, 0)
		}
	}
	return sum * step / n
}

// unpack returns the neighbors of v, until the worker's next call.
func (s *search) unpack(mine *worker, v uint32) []uint32 {
	l := &s.g.Lists
	n := l.Degree(v)
	near, far := l.Split(v, 0, n)
	for i, u := range near {
		mine.list[i] = uint32(u)
	}
	for i := len(near); i < n; i++ {
		mine.list[i] = l.Far.Get(far)
		far++
	}
	return mine.list[:n]
}

// list returns the neighbors of v, until the worker's next call.
func (s *search) list(mine *worker, v uint32) []uint32 {
	if s.g.Lists.Packed {
		return s.unpack(mine, v)
	}
	return s.g.Lists.Targets[s.local.at[v]:s.local.at[v+1]]
}

// stepsLocally takes all steps of a search.
func (s *search) stepsLocally(root graph.Vertex, state *graph.SwitchState) error {
	l := &s.local
	for i := range l.parts {
		p := &l.parts[i]
		p.head, p.end, p.tail, p.old, p.known, p.last, p.fetched = 0, 0, 0, 0, 0, 0, 0
		p.publish()
		p.taken.Store(0)
	}
	v := s.g.Vertex[root]
	if v == layout.None { // isolated
		state.Frontier = 1
		s.recordLevel(state, 0)
		return nil
	}
	first := &l.parts[0]
	first.queue[0], first.tail, l.together = uint64(v)<<32|uint64(v), 1, false
	l.seen[v] = 1
	s.team.Meanwhile(s.tasks.writeAhead)
	for next := 1; next > 0; {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		switch {
		case l.together && next < l.wide/2:
			next = s.gather()
		case l.together:
			next = s.stepTogether(state)
		case s.isWide(next):
			s.share()
		default:
			next = s.stepsAlone(state)
		}
	}
	for i := range l.parts {
		l.parts[i].publish()
	}
	return nil
}

// isWide reports whether the parts should expand a frontier of n vertices together. After the levels that are reported
// a frontier may be parts of two.
func (s *search) isWide(n int) bool {
	return n >= s.local.wide && len(s.local.parts) > 1 && len(s.levels) <= maxLevels
}

// share gives the vertices of the next frontier, which part 0 has, to their owners.
func (s *search) share() {
	l, first := &s.local, &s.local.parts[0]
	next := first.queue[first.end:first.tail]
	first.tail, l.together = first.end, true
	for _, e := range next {
		p := &l.parts[l.owner(uint32(e))]
		p.queue[p.tail] = e
		p.tail++
	}
}

// gather gives all vertices of the next frontier to part 0. It returns their number.
func (s *search) gather() (next int) {
	l, first := &s.local, &s.local.parts[0]
	for i := range l.parts {
		s.cross(0, i)
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.old = p.known
		if i > 0 {
			first.tail += copy(first.queue[first.tail:], p.queue[p.end:p.tail])
			p.tail = p.end
		}
	}
	l.together = false
	return first.tail - first.end
}

// stepTogether expands the frontier by all parts. It returns the number of vertices in the next frontier, or a little
// more.
func (s *search) stepTogether(state *graph.SwitchState) (next int) {
	l := &s.local
	s.team.Pieces(len(l.parts), 1, s.tasks.expandPart)
	entries := 0
	state.Frontier = 0
	for i := range l.parts {
		p := &l.parts[i]
		state.Frontier += int64(p.end - p.head)
		entries += p.entries
		next += p.tail - p.end + p.last - p.known
		p.old, p.known = p.known, p.last
	}
	if state.Frontier > 0 {
		s.recordLevel(state, entries)
	}
	return next
}

// expandPart is the share of a part in a step.
func (s *search) expandPart(worker, i, _ int) {
	s.cross(worker, i)
	p := &s.local.parts[i]
	p.head, p.end = p.end, p.tail
	s.expand(worker, i, p.queue[p.head:p.end])
	p.publish()
}

// cross discovers vertices of part i that have parents in other parts.
func (s *search) cross(worker, i int) {
	l, p := &s.local, &s.local.parts[i]
	for j := range l.parts {
		other := &l.parts[j]
		for _, e := range other.borders[other.old:other.known] {
			if e>>(32+i)&1 == 0 {
				continue
			}
			for _, v := range s.list(&s.workers[worker], uint32(e)) {
				if int(l.owner(v)) == i && l.seen[v] == 0 {
					l.seen[v] = 1
					p.queue[p.tail] = e<<32 | uint64(v)
					p.tail++
				}
			}
		}
	}
}

// expand makes the vertices us the parents of their unvisited neighbors that part i owns, which it adds to the part's
// queue.
func (s *search) expand(worker, i int, us []uint64) {
	l, p, me := &s.local, &s.local.parts[i], uint32(i)
	seen, queue := uncheckedOf(l.seen), uncheckedOf(p.queue)
	shift, mask, tail := l.shift&31, l.mask, p.tail
	entries := 0
	for _, e := range us {
		list := s.list(&s.workers[worker], uint32(e))
		entries += len(list)
		elsewhere := uint64(0)
		for _, v := range list {
			if owner := v >> shift & mask; owner != me {
				elsewhere |= 1 << (owner & 63)
			} else if known := seen.at(int(v)); *known == 0 {
				*known = 1
				*queue.at(tail) = e<<32 | uint64(v)
				tail++
			}
		}
		if elsewhere != 0 {
			p.borders[p.last] = elsewhere<<32 | e&(1<<32-1)
			p.last++
		}
	}
	p.tail, p.entries = tail, entries
}

// writeAhead writes the parents of some vertices, if there are any whose parents may be written.
func (s *search) writeAhead(worker int) (did, more bool) {
	parts, mine := s.local.parts, &s.workers[worker]
	for i := range parts {
		p := &parts[(worker+i)%len(parts)]
		from, end := p.taken.Load(), p.ready.Load()
		if to := min(from+outputPiece, end); from < to && p.taken.CompareAndSwap(from, to) {
			mine.touched += writeParents(p.queue[from:to], s.g.Label, s.parent, &mine.neighbors)
			return true, true
		}
	}
	return false, true
}

// writeParents writes the parents of at most outputPiece vertices. It reads all that it is going to overwrite first:
// many reads wait for memory together, and a write waits for those before it. It returns a number that depends on all
// reads, which the caller must use.
//
//go:noinline
func writeParents(discovered []uint64, labels []uint32, parents []graph.Vertex, room *[pieceSize]uint32) (sum uint32) {
	label, parent := uncheckedOf(labels), uncheckedOf(parents)
	for i, e := range discovered {
		l := *label.at(int(uint32(e)))
		sum |= uint32(*parent.at(int(l)))
		room[i&(pieceSize-1)] = l
	}
	for i, e := range discovered {
		*parent.at(int(room[i&(pieceSize-1)])) = graph.Vertex(*label.at(int(e >> 32)))
	}
	return sum
}

// finishLocally writes the parents.
func (s *search) finishLocally() {
	s.team.EndMeanwhile()
	s.team.Pieces(s.team.Size(), 1, s.tasks.writeRest)
	if s.reached < int64(s.g.Searched) {
		s.team.Pieces(s.g.Searched, erasePiece, s.tasks.eraseUnseen)
	}
	if s.g.Searched < len(s.parent) {
		s.team.Pieces(len(s.parent), erasePiece, s.tasks.eraseIsolated)
	}
}

// writeRest writes the parents that are left.
func (s *search) writeRest(worker, _, _ int) {
	for did := true; did; {
		did, _ = s.writeAhead(worker)
	}
}

// eraseUnseen makes those of vertices from..to-1 unreached that the search has not reached.
func (s *search) eraseUnseen(_, from, to int) {
	const allSeen = (1<<64 - 1) / 255 // in eight vertices
	seen := s.local.seen
	for v := from; v < to; v++ {
		if v+8 <= to && binary.LittleEndian.Uint64(seen[v:]) == allSeen {
			v += 7
		} else if seen[v] == 0 {
			s.parent[s.g.Label[v]] = graph.Unreached
		}
	}
}

// eraseIsolated makes the isolated ones of labels from..to-1 unreached.
func (s *search) eraseIsolated(_, from, to int) {
	for i, v := range s.g.Vertex[from:to] {
		if v == layout.None {
			s.parent[from+i] = graph.Unreached
		}
	}
}
