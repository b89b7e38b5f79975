package cpu

import (
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Output of narrow steps: workers clear the parent array and write the parents of what order has, as far as it goes,
// while another worker appends to it. Each takes a piece at a time, and all pieces are cleared before the first parent
// is written.

const (
	writePiece = 1024 // vertices that a worker takes at a time
	erasePiece = 1 << 15
	maxWriters = 3 // next to the worker that expands; more would only wait for it
)

// behind is how far the output of narrow steps is.
type behind struct {
	_       [64]byte
	erasing atomic.Int64 // labels below are taken
	erased  atomic.Int64 // labels that are cleared
	written atomic.Int64 // order[:written] is taken
	over    atomic.Bool  // order has its final length of this turn
	_       [32]byte
}

func (b *behind) reset() {
	b.erasing.Store(0)
	b.erased.Store(0)
	b.written.Store(0)
}

// expandOrWrite expands frontiers in piece 0 and writes parents in the others, and in piece 0 at the end.
func (s *search) expandOrWrite(_, piece, _ int) {
	if piece == 0 {
		s.topDownSerial()
		s.behind.over.Store(true)
	}
	s.writeBehind(0, 0, 0)
}

// writeBehind clears the parents and writes those of order, until order has its final length and all are written. It
// may return earlier, after a long wait: a later call, the last one by finish, writes the rest.
func (s *search) writeBehind(_, _, _ int) {
	b := &s.behind
	labels := int64(len(s.parent))
	for from := b.erasing.Add(erasePiece) - erasePiece; from < labels; from = b.erasing.Add(erasePiece) - erasePiece {
		to := min(from+erasePiece, labels)
		s.erase(0, int(from), int(to))
		b.erased.Add(to - from)
	}
	for look := 0; b.erased.Load() < labels; look++ {
		if !s.team.Pause(look) {
			return
		}
	}
	for look := 0; ; {
		over := b.over.Load()
		from, end := b.written.Load(), s.end.Load()
		switch {
		case from < end && (over || end-from >= writePiece):
			if to := min(from+writePiece, end); b.written.CompareAndSwap(from, to) {
				s.writeOrder(from, to)
			}
			look = 0
		case over || !s.team.Pause(look):
			return
		default:
			look++
		}
	}
}

// writeOrder writes the parents of order[from:to], and of their leaves.
func (s *search) writeOrder(from, to int64) {
	g := s.g
	for _, e := range s.order[from:to] {
		v := uint32(e)
		label := g.Label[v]
		s.parent[label] = graph.Vertex(g.Label[e>>32])
		for _, leaf := range g.LeavesOf(v) {
			s.parent[leaf] = graph.Vertex(label)
		}
	}
}
