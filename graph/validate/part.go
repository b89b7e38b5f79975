// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/graph"
)

// Part is one of several validators that validate searches of one graph together, each in a separate process, with the
// verdicts of a Validator. No part holds more than its share of the tuples, parents or levels.
//
// A part has a slice of the tuples. It owns the vertices v with v mod parts == rank, and their slot is v / parts. Its
// tuples are pairs of 32-bit numbers: the slots of its own vertices, and above them the ghosts, which are the vertices
// of other parts in its tuples, by owner and slot. Each part subscribes to its ghosts once, and their owners publish
// their words for each search, so the scan of the tuples is that of a Validator.
//
// The methods with a context are collective: all parts call them in the same order, and get the same result. If one
// part fails or its context ends, all return an error (ErrOtherPart).
type Part struct {
	exchange   Exchange
	rank, size int
	vertices   int64 // of the graph
	labels     int   // vertices of this part
	scanners   []scanner
	failed     error

	tupleSlice
	joined []uint64 // bitmap of the slots that a tuple of any part joins to another vertex
	ghostSubscriptions

	numberMarks
	levels  []int32  // of each slot
	pending []uint64 // bitmap of the slots whose tree edge was not among the tuples so far
	parentSubscriptions
	queue  []uint32 // slots with a level, in the order of levels
	queued atomic.Int64
	out    []byte // messages

	grain, roundTuples, roundWords int64 // items for a thread; tuples, and words for all parts, between two exchanges
}

// tupleSlice is the slice of the tuples.
type tupleSlice struct {
	pairs   []pair    // as numbers
	keys    []uint8   // of each tuple
	weights []float32 // nil: none
	first   int64     // position of the slice in the list
	tuples  int64     // of all parts
}

// numberMarks are what a search gives each number.
type numberMarks struct {
	words    []uint16
	wide     []int32   // levels, if the tree is too deep for words
	deep     bool      // it is
	distance []float32 // in kernel 3
}

// ghostSubscriptions are the vertices whose words parts send each other in every search.
type ghostSubscriptions struct {
	ghosts     []uint32 // the slot of each ghost
	ghostAt    []int    // [owner] its first ghost
	published  []uint32 // slots of the ghosts of other parts, by part
	publishAt  []int    // [part]
	maxPublish int64    // ghosts of one part at one owner, maximum
}

// parentSubscriptions are the parents whose levels the parts of their children wait for in one search.
type parentSubscriptions struct {
	children  []uint32 // a slot with the parent of each subscription
	siblings  []uint32 // of each slot, the next one of the subscription, or itself
	childAt   []int    // [owner] the first subscription
	waits     []uint32 // the subscriptions of all parts, by slot of the parent
	waitStart []uint32 // [slot]
	waitAt    []int    // [part] the number of its first subscription
}

// NewPart returns the part for the tuples first, first+1, ... of the list, which it does not keep. The graph has the
// given number of vertices, or more if a label of any part is larger; 0 is right unless the last vertices have no
// tuples.
func NewPart(
	ctx context.Context, exchange Exchange, tuples []graph.Edge, first, vertices int64, threads int) (*Part, error) {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Part{grain: 1 << 14, roundTuples: 1 << 24, roundWords: 1 << 25, scanners: make([]scanner, threads)}
	if err := p.prepare(ctx, exchange, tuples, first, vertices); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Part) prepare(ctx context.Context, exchange Exchange, tuples []graph.Edge, first, vertices int64) error {
	p.exchange, p.rank, p.size, p.first = exchange, exchange.Rank(), exchange.Size(), first
	p.vertices, p.tuples = max(1, vertices), int64(len(tuples))
	for _, e := range tuples {
		a, b := e.Ends()
		p.vertices = max(p.vertices, int64(a)+1, int64(b)+1)
	}
	if err := p.max(ctx, &p.vertices); err != nil {
		return err
	}
	p.labels = int((p.vertices + int64(p.size-1-p.rank)) / int64(p.size))
	if err := p.sum(ctx, &p.tuples); err != nil {
		return err
	}
	p.pairs, p.keys = hugePages(make([]pair, len(tuples))), hugePages(make([]uint8, len(tuples)))
	p.number(ctx, tuples)
	if err := p.subscribe(ctx); err != nil {
		return err
	}
	p.words, p.pending = hugePages(make([]uint16, p.numbers())), hugePages(make([]uint64, (p.labels+63)/64))
	p.levels, p.queue = hugePages(make([]int32, p.labels)), hugePages(make([]uint32, p.labels))
	p.children, p.siblings = hugePages(make([]uint32, p.labels)), hugePages(make([]uint32, p.labels))
	p.waitStart = hugePages(make([]uint32, p.labels+1))
	return nil
}

func (p *Part) numbers() int { return p.labels + len(p.ghosts) }

// place returns the owner and slot of a vertex.
func (p *Part) place(v graph.Vertex) (owner int, slot uint64) {
	return int(uint64(v) % uint64(p.size)), uint64(v) / uint64(p.size)
}

// labelOf returns the label of a number.
func (p *Part) labelOf(number uint32) graph.Vertex {
	slot, owner := number, p.rank
	if ghost := int(number) - p.labels; ghost >= 0 {
		slot, owner = p.ghosts[ghost], holder(p.ghostAt, ghost)
	}
	return graph.Vertex(slot)*graph.Vertex(p.size) + graph.Vertex(owner)
}

// number finds the ghosts, and fills pairs and keys. It goes over the tuples twice for each range of owners whose
// vertices fit in a bitmap: to mark the ghosts, and to replace them by their ranks in the bitmap.
func (p *Part) number(ctx context.Context, tuples []graph.Edge) {
	span := (p.vertices/int64(p.size) + 64) &^ 63 // bits for an owner
	owners := min(p.size, int(max(1, max(1<<23, int64(len(tuples))*4)/span)))
	bitmap := hugePages(make([]uint64, int64(owners)*span/64))
	before := hugePages(make([]uint32, len(bitmap))) // bits set before a word of bitmap
	p.ghostAt = make([]int, p.size+1)
	for from := 0; from < p.size; from += owners {
		to := min(p.size, from+owners)
		bit := func(v graph.Vertex) (at uint64, ghost bool) {
			owner, slot := p.place(v)
			return uint64(owner-from)*uint64(span) + slot, owner >= from && owner < to && owner != p.rank
		}
		clear(bitmap)
		p.parallel(ctx, int64(len(tuples)), p.grain, func(first, last int64) {
			for _, e := range tuples[first:last] {
				a, b := e.Ends()
				for _, v := range [2]graph.Vertex{a, b} {
					if at, ghost := bit(v); ghost {
						setBit(bitmap, at)
					}
				}
			}
		})
		base, count := len(p.ghosts), 0
		for w, word := range bitmap {
			if owner := from + w*64/int(span); w*64%int(span) == 0 && owner < to {
				p.ghostAt[owner] = base + count
			}
			before[w] = uint32(base + count)
			count += bits.OnesCount64(word)
		}
		if p.numbers()+count > math.MaxUint32 {
			p.fail(fmt.Errorf("part %d of the validator has more than 2^32 vertices in its tuples: use more parts", p.rank))
			return
		}
		p.ghosts = slices.Grow(p.ghosts, count)[:base+count]
		p.parallel(ctx, int64(len(bitmap)), p.grain, func(first, last int64) {
			for w := first; w < last; w++ {
				at := before[w]
				for word := bitmap[w]; word != 0; word &= word - 1 {
					p.ghosts[at] = uint32(w*64%span + int64(bits.TrailingZeros64(word)))
					at++
				}
			}
		})
		replace := func(v graph.Vertex, number *uint32) {
			if at, ghost := bit(v); ghost {
				below := bitmap[at/64] & (1<<(at%64) - 1)
				*number = uint32(p.labels) + before[at/64] + uint32(bits.OnesCount64(below))
			} else if owner, slot := p.place(v); owner == p.rank {
				*number = uint32(slot)
			}
		}
		p.parallel(ctx, int64(len(tuples)), p.grain, func(first, last int64) {
			for i := first; i < last; i++ {
				a, b := tuples[i].Ends()
				replace(a, &p.pairs[i].u)
				replace(b, &p.pairs[i].v)
				p.keys[i] = uint8(a) ^ uint8(b)
			}
		})
	}
	p.ghostAt[p.size] = len(p.ghosts)
}

// subscribe sends the slots of the ghosts to their owners, and whether a tuple joins each one to another vertex.
func (p *Part) subscribe(ctx context.Context) error {
	joined := make([]uint64, (p.numbers()+63)/64)
	p.parallel(ctx, int64(len(p.pairs)), p.grain, func(first, last int64) {
		for _, t := range p.pairs[first:last] {
			if t.u != t.v {
				setBit(joined, uint64(t.u))
				setBit(joined, uint64(t.v))
			}
		}
	})
	for q := range p.size {
		p.maxPublish = max(p.maxPublish, int64(p.ghostAt[q+1]-p.ghostAt[q]))
	}
	if err := p.max(ctx, &p.maxPublish); err != nil {
		return err
	}
	const size = 4 + 1
	send := p.messages(p.ghostAt, size)
	for ghost, slot := range p.ghosts {
		number := p.labels + ghost
		putUint32(p.out[ghost*size:], slot)
		p.out[ghost*size+4] = byte(joined[number/64] >> (number % 64) & 1)
	}
	received, err := p.exchange.All(send)
	if err != nil {
		return err
	}
	p.out, p.publishAt = nil, startsOf(received, size)
	p.published = hugePages(make([]uint32, p.publishAt[p.size]))
	p.joined = slices.Clone(joined[:(p.labels+63)/64])
	if rest := p.labels % 64; rest > 0 {
		p.joined[len(p.joined)-1] &= 1<<rest - 1 // without ghosts
	}
	p.overRecords(ctx, received, size, func(part, first int, records []byte) {
		slots := p.published[p.publishAt[part]+first:]
		for i := 0; i < len(records); i += size {
			slot := getUint32(records[i:])
			slots[i/size] = slot
			if records[i+4] != 0 {
				setBit(p.joined, uint64(slot))
			}
		}
	})
	return p.sum(ctx)
}

// Vertices returns the number of vertices of the graph.
func (p *Part) Vertices() int64 { return p.vertices }

// Labels returns the number of vertices of this part: the length of its parents, whose entry i is that of vertex
// i*Size()+Rank().
func (p *Part) Labels() int { return p.labels }

// Bytes returns the memory of the part in bytes, without parents, messages, and up to 800 KB per thread.
func (p *Part) Bytes() int64 {
	return (8+1)*int64(len(p.pairs)) + (4+2)*int64(len(p.ghosts)) + 4*int64(len(p.published)) +
		(2+5*4)*int64(p.labels) + 4*int64(len(p.waits)) + 4*int64(len(p.wide)) + 2*8*int64(len(p.pending))
}

// PartBytes is an estimate of Part.Bytes before a part is made. A vertex of another part in its tuples is a ghost.
func PartBytes(labels, tuples, ghosts int64) int64 { return 9*tuples + (6+4)*ghosts + (22+8)*labels }

// Joined returns for each of some vertices, the same on all parts, whether a tuple joins it to another one.
func (p *Part) Joined(ctx context.Context, vertices []graph.Vertex) ([]bool, error) {
	found, sums, joined := make([]int64, len(vertices)), make([]*int64, len(vertices)), make([]bool, len(vertices))
	for i, v := range vertices {
		sums[i] = &found[i]
		if owner, slot := p.place(v); owner == p.rank && p.isVertex(v) {
			found[i] = int64(p.joined[slot/64] >> (slot % 64) & 1)
		}
	}
	err := p.sum(ctx, sums...)
	for i := range joined {
		joined[i] = found[i] != 0
	}
	return joined, err
}

// CountJoined is Validator.CountJoined for all parts, and collective.
func (p *Part) CountJoined(ctx context.Context) (int64, error) {
	n := countBits(p.joined)
	err := p.sum(ctx, &n)
	return n, err
}

// Isolated returns the lowest vertex that no tuple joins to another one, or Vertices if there is none.
func (p *Part) Isolated(ctx context.Context) (graph.Vertex, error) {
	low := min(p.lowestVertex(func(slot int) bool { return p.joined[slot/64]>>(slot%64)&1 == 0 }), p.vertices)
	err := p.min(ctx, &low)
	return graph.Vertex(low), err
}

// Overwrite is Validator.Overwrite for the arrays of this part. It is not collective.
func (p *Part) Overwrite(parent []graph.Vertex, distance []float32) {
	fill(parent, graph.Unwritten, len(p.scanners), p.grain)
	fill(distance, graph.UnwrittenDistance(), len(p.scanners), p.grain)
}
