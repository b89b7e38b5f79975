// SPDX-License-Identifier: Apache-2.0

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
// They have thousands of levels, so a step must cost little more than a look at its entries. One worker expands
// frontiers level after level in one queue (sequential.go), while the others write the parents that are known so far.
// The discovered vertices are in the queue, and the frontier is its end.
//
// If there are more than two workers, they share wide frontiers. The vertices are cut into blocks of consecutive
// numbers, and each of n parts of the search owns every n-th block, with a queue for the vertices in them. In a step a
// part discovers only vertices that it owns. Frontier vertices that have neighbors elsewhere go to a list, the borders,
// and the owners of these neighbors look at them at the beginning of the next step. Nothing is atomic, and nothing is
// discovered twice. Blocks are much longer than edges, so few vertices are on a border. But a look at an entry takes
// 1.5 times as long as in a sequential expansion, so two workers would gain nothing.

const (
	maxParts    = 32
	minFrontier = 64 // vertices of the frontier for each part; smaller ones are expanded by one worker
	blockReach  = 8  // blocks are this many times longer than the longest edges, on average
	erasePiece  = 1 << 15
	outputPiece = 128 // vertices whose parents a worker writes at a time
)

// local is a search in local order.
type local struct {
	*search
	parts   []part
	at      []uint32 // of lists
	targets []uint32 // of lists
	seen    []uint8  // [Searched] 1: discovered
	shift   uint     // the block of a vertex is vertex>>shift
	mask    uint32   // the owner of a block is block&mask, the number of parts less 1
	shared  bool     // each part expands its own vertices; otherwise part 0 has the frontier
	wide    int      // vertices of a frontier that the parts share
	fetched uint32   // not used; keeps the compiler from dropping reads
}

// part is one part of a search.
type part struct {
	queue      []uint64 // parent<<32 | vertex, with room for one more than the part ever has
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

// newLocal allocates a search in local order.
func newLocal(s *search, m *memory.Arena) *local {
	l, n := &local{search: s}, s.g.Searched
	parts := 1
	for s.team.Size() > 2 && 2*parts <= min(s.team.Size(), maxParts) {
		parts *= 2
	}
	l.parts, l.mask = make([]part, parts), uint32(parts-1)
	l.wide = min(2*minFrontier*parts, s.narrow.limit/max(s.average, 1))
	l.at, _ = s.g.Lists.At.Narrow() // kernel 1 gives larger graphs another order
	l.targets = s.g.Lists.Targets
	l.seen = memory.Allocate[uint8](m, "vertices seen", n)
	for l.shift = 6; 1<<l.shift < blockReach*l.reach() && 2*len(l.parts)<<l.shift < n; l.shift++ {
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
	return l
}

func (l *local) owner(v uint32) uint32 { return v >> (l.shift & 31) & l.mask }

// reach returns how much larger the largest neighbor of a vertex is than the vertex, on average over some vertices.
func (l *local) reach() int {
	const samples = 1 << 10
	n, sum := l.g.Searched, 0
	step := max(n/samples, 1)
	for v := 0; v < n; v += step {
		if list := l.list(uint32(v)); len(list) > 0 {
			sum += max(int(list[len(list)-1])-v, 0)
		}
	}
	return sum * step / n
}

func (l *local) list(v uint32) []uint32 { return l.targets[l.at[v]:l.at[v+1]] }

func (l *local) steps(root graph.Vertex) error {
	for i := range l.parts {
		p := &l.parts[i]
		p.head, p.end, p.tail, p.old, p.known, p.last, p.fetched = 0, 0, 0, 0, 0, 0, 0
		p.publish()
		p.taken.Store(0)
	}
	v := l.g.Vertex[root]
	if v == layout.None { // isolated
		l.state.Frontier = 1
		l.recordLevel(0)
		return nil
	}
	first := &l.parts[0]
	first.queue[0], first.tail, l.shared = uint64(v)<<32|uint64(v), 1, false
	l.seen[v] = 1
	l.team.WhileIdle((*writeAhead)(l))
	for next := 1; next > 0; {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		switch {
		case l.shared && next < l.wide/2:
			next = l.gather()
		case l.shared:
			next = l.sharedStep()
		case l.isWide(next):
			l.share()
		default:
			next = l.expandSequentially()
		}
	}
	for i := range l.parts {
		l.parts[i].publish()
	}
	return nil
}

// isWide reports whether the parts should share a frontier of n vertices. After the last reported level a frontier may
// be parts of two levels.
func (l *local) isWide(n int) bool {
	return n >= l.wide && len(l.parts) > 1 && !l.levels.full()
}

// share gives the vertices of the next frontier, which part 0 has, to their owners.
func (l *local) share() {
	first := &l.parts[0]
	next := first.queue[first.end:first.tail]
	first.tail, l.shared = first.end, true
	for _, e := range next {
		p := &l.parts[l.owner(uint32(e))]
		p.queue[p.tail] = e
		p.tail++
	}
}

// gather gives all vertices of the next frontier to part 0. It returns their number.
func (l *local) gather() (next int) {
	first := &l.parts[0]
	for i := range l.parts {
		l.cross(i)
	}
	for i := range l.parts {
		p := &l.parts[i]
		p.old = p.known
		if i > 0 {
			first.tail += copy(first.queue[first.tail:], p.queue[p.end:p.tail])
			p.tail = p.end
		}
	}
	l.shared = false
	return first.tail - first.end
}

// sharedStep expands the frontier by all parts. It returns the number of vertices in the next frontier, or a little
// more.
func (l *local) sharedStep() (next int) {
	l.do(len(l.parts), 1, (*search).expandPart)
	entries := 0
	l.state.Frontier = 0
	for i := range l.parts {
		p := &l.parts[i]
		l.state.Frontier += int64(p.end - p.head)
		entries += p.entries
		next += p.tail - p.end + p.last - p.known
		p.old, p.known = p.known, p.last
	}
	if l.state.Frontier > 0 {
		l.recordLevel(entries)
	}
	return next
}

func (s *search) expandPart(_, i, _ int) {
	l := s.local
	l.cross(i)
	p := &l.parts[i]
	p.head, p.end = p.end, p.tail
	l.expand(i, p.queue[p.head:p.end])
	p.publish()
}

// cross discovers vertices of part i that have parents in other parts.
func (l *local) cross(i int) {
	p := &l.parts[i]
	for j := range l.parts {
		other := &l.parts[j]
		for _, e := range other.borders[other.old:other.known] {
			if e>>(32+i)&1 == 0 {
				continue
			}
			for _, v := range l.list(uint32(e)) {
				if int(l.owner(v)) == i && l.seen[v] == 0 {
					l.seen[v] = 1
					p.queue[p.tail] = e<<32 | uint64(v)
					p.tail++
				}
			}
		}
	}
}

// expand makes the vertices us the parents of their unvisited neighbors that part i owns, and adds these to its queue.
func (l *local) expand(i int, us []uint64) {
	p, me := &l.parts[i], uint32(i)
	seen, queue := uncheckedOf(l.seen), uncheckedOf(p.queue)
	shift, mask, tail := l.shift&31, l.mask, p.tail
	entries := 0
	for _, e := range us {
		list := l.list(uint32(e))
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

// writeAhead writes parents while workers wait.
type writeAhead local

// Idle writes the parents of some vertices, if there are any whose parents may be written.
func (w *writeAhead) Idle(worker int) (did, more bool) {
	parts, mine := w.parts, &w.workers[worker]
	for i := range parts {
		p := &parts[(worker+i)%len(parts)]
		from, end := p.taken.Load(), p.ready.Load()
		if to := min(from+outputPiece, end); from < to && p.taken.CompareAndSwap(from, to) {
			mine.touched += writeParents(p.queue[from:to], w.g.Label, w.parent, &mine.neighbors)
			return true, true
		}
	}
	return false, true
}

// writeParents writes the parents of at most outputPiece vertices. It first reads all entries that it is going to
// overwrite: many reads wait for memory together, and a write waits for those before it. The caller must use the
// result, which depends on all reads.
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

func (l *local) finish() {
	l.team.EndIdle()
	l.do(l.team.Size(), 1, (*search).writeRest)
	if l.reached < int64(l.g.Searched) {
		l.do(l.g.Searched, erasePiece, (*search).eraseUnseen)
	}
	if l.g.Searched < len(l.parent) {
		l.do(len(l.parent), erasePiece, (*search).eraseIsolated)
	}
}

func (s *search) writeRest(worker, _, _ int) {
	for did := true; did; {
		did, _ = (*writeAhead)(s.local).Idle(worker)
	}
}

// eraseUnseen makes the unseen ones of vertices from..to-1 unreached.
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
