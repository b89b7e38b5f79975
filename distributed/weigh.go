// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/csr"
	"github.com/tepsbench/teps/internal/memory"
)

// weighted are adjacency lists with weights, concatenated: list k is entries[at[k]:at[k+1]], in ascending order of
// bounds. Parallel tuples have an entry each. Self-loops are left out.
//
// The relay weight of a neighbor u of v is the least weight of u's edges to vertices other than v, +Inf if there is
// none, and 0 if u is a hub. The bound of an entry (v, u) of weight w is the sum of w and the relay weight, rounded
// down: a path that enters u, from another vertex than v, and goes on to v is at least so much longer than at the
// vertex before u.
type weighted struct {
	at      []uint64
	entries []uint64  // weight<<32 | neighbor, the weight as the bits of a float32
	bounds  []float32 // of each entry
}

// head is the first entry of a list, at infinite weight if there is none, and the bound of the second one.
type head struct {
	name, column uint32 // of the neighbor
	weight, next float32
}

const (
	// slack rounds down: a sum of some numbers, rounded at each addition, times slack is at most their sum in another
	// order, also if one more is added to both.
	slack = 1 - 1.0/(1<<21)
)

func splitEntry(entry uint64) (neighbor uint32, weight float32) {
	return uint32(entry), math.Float32frombits(uint32(entry >> 32))
}

// pathGraph is what kernel 1 makes for kernel 3 on one rank.
type pathGraph struct {
	classes
	up     weighted            // of rows
	down   weighted            // of columns; up in one dimension, where they are own rows
	core   core                // entries of down that can lie on a shortest path between hubs
	heads  []head              // [Row]
	isHub  bitmap              // [Column]
	listed []uint32            // rows that have entries here, and own ones, by class
	starts [numClasses + 1]int // of each class in listed
	sizes  [numClasses]int64   // of each class, over all ranks

	reach   float32 // hubs nearer to the nearest one than that are pushed to
	safe    float32 // vertices nearer than that can push over the core
	margin  float32 // that rounding can make two paths differ by, at most, if they are shorter than safe
	farther float32 // width of rounds that push whole lists: 8 times the mean weight by the mean degree
}

// classes are the numbers of vertices in kernel 3. Hubs come first, by descending degree, then classes of falling
// degree, and last leaves, vertices with a single tuple. In a class they are in the order of their slots.
type classes struct {
	numbers []uint32   // [slot] Local of each own label in kernel 3; width if isolated
	names   []uint32   // [Column] for states and messages: label + 1; 0 where a block has no vertex
	slots   []uint32   // [Column] slot, and names are numberOf + 1, if labels need more than 32 bits; else nil
	borders [][]uint32 // [rank][numClasses+1] vertices borders[c]..borders[c+1]-1 of a rank are class c
}

const (
	hubClass   = 0 // the class of degrees from 256 on, duplicates counted; degrees in others differ by a factor below 4
	leafClass  = 5
	numClasses = 6
)

func classOf(degree uint32) int {
	if degree <= 1 {
		return leafClass
	}
	return max(leafClass-(bits.Len32(degree)+1)/2, hubClass)
}

// hubsOf returns the number of hubs of a rank.
func (c *classes) hubsOf(rank int) int { return int(c.borders[rank][hubClass+1]) }

// classify numbers the own vertices, which b.slot has by descending degree in kernel 2's groups.
func (b *weigher) classify() {
	borders := make([]uint32, numClasses+1)
	var own []uint32 // slots of hubs
	degreeOf := make([]uint32, b.Partition.Share)
	for v, slot := range b.slot {
		degreeOf[slot] = b.degree[v]
		c := classOf(b.degree[v])
		if borders[c+1]++; c == hubClass {
			own = append(own, slot)
		}
	}
	for c := range numClasses {
		borders[c+1] += borders[c]
	}
	slices.SortFunc(own, func(s, t uint32) int { return cmp.Or(cmp.Compare(degreeOf[t], degreeOf[s]), cmp.Compare(s, t)) })
	slots, next := make([]uint32, len(b.slot)), slices.Clone(borders)
	copy(slots, own)
	for slot, d := range degreeOf {
		if c := classOf(d); d > 0 && c != hubClass {
			slots[next[c]] = uint32(slot)
			next[c]++
		}
	}
	b.setNumbers(b.numbers, slots)
	b.eachBlock(slots, func(i int, slots []uint32) {
		rank := b.grid.Rank(i, b.j)
		for v, slot := range slots {
			name := uint32(b.Partition.Label(rank, slot))
			if b.slots != nil {
				b.slots[i*b.width+v], name = slot, b.numberOf(rank, v)
			}
			b.names[i*b.width+v] = name + 1
		}
	})
	for _, other := range comm.Allgather(b.world, borders) {
		b.borders = append(b.borders, slices.Clone(other))
	}
}

// weigher is the part of kernel 1 that kernel 3 needs.
type weigher struct {
	*builder
	pathGraph
	relays []uint32 // [Column] relayOf
}

// common returns memory of n words for all columns. Ranks of one process that have the same columns share it, and each
// writes those of the own block.
func (b *weigher) common(what string, n int) []uint32 {
	if !b.column.Shares() {
		return b.allocate(what, n)
	}
	var words []uint32
	if b.column.Rank() == 0 {
		words = b.allocate(what, n)
	}
	return comm.Allgather(b.column, words)[0]
}

// eachBlock calls do with the message of each rank whose block of columns this rank writes in common memory.
func (b *weigher) eachBlock(message []uint32, do func(block int, message []uint32)) {
	for k, message := range comm.Allgather(b.column, message) {
		if k == b.column.Rank() || !b.column.Shares() {
			do(k, message)
		}
	}
	comm.Allreduce(b.column, nil) // all blocks are written
}

// makeLists makes the lists of rows and, in two dimensions, those of columns, from the entries of this part.
func (b *weigher) makeLists() error {
	b.numbers, b.names = b.allocate("numbers", int(b.Partition.Share)), b.common("names", b.columns)
	if b.label.High != nil {
		b.slots = b.common("slots", b.columns)
	}
	b.isHub, b.relays = b.common("hubs", b.columns/32), b.common("relay weights", relayWords*b.columns)
	if err := b.agree(b.memory.Err()); err != nil {
		return err
	}
	b.classify()
	own := make([]uint32, b.width) // [place]
	for place, slot := range b.present.members() {
		own[place] = b.numbers[slot]
	}
	// numbersOf returns the row or column of each place of the ranks of a group.
	numbersOf := func(group comm.Group) (all []uint32) {
		for block, numbers := range comm.Allgather(group, own) {
			for _, v := range numbers {
				all = append(all, uint32(block*b.width)+v)
			}
		}
		return all
	}
	rowOf, columnOf := numbersOf(b.row), numbersOf(b.column)
	var err error
	b.up, err = b.group(b.rows, b.columns, func(row, column uint32) (uint32, uint32) {
		return rowOf[row], columnOf[column]
	})
	if b.grid.C > 1 && err == nil {
		b.down, err = b.group(b.columns, b.rows, func(row, column uint32) (uint32, uint32) {
			return columnOf[column], rowOf[row]
		})
	}
	if err := b.agree(err); err != nil {
		return err
	}
	b.entries = nil
	b.makeRelays()
	b.sort(&b.up, func(row int, column uint32, w float32) float32 {
		r := b.relayOf(column)
		if r.via == b.numberOf(b.grid.Rank(b.i, row/b.width), row%b.width) {
			return (w + r.second) * slack
		}
		return (w + r.first) * slack
	})
	b.sort(&b.down, func(_ int, _ uint32, w float32) float32 { return w * slack })
	b.heads = memory.Allocate[head](b.memory, "first entries", b.rows)
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.each(b.rows, func(v int) {
		h, list, bounds := &b.heads[v], b.up.entries[b.up.at[v]:b.up.at[v+1]], b.up.bounds[b.up.at[v]:b.up.at[v+1]]
		h.weight, h.next = graph.Infinity(), graph.Infinity()
		if len(list) > 0 {
			h.column, h.weight = splitEntry(list[0])
			h.name = b.names[h.column]
		}
		if len(list) > 1 {
			h.next = bounds[1]
		}
	})
	return b.ctx.Err()
}

// numberOf returns the number of a vertex of a rank among those of all ranks.
func (b *weigher) numberOf(rank, v int) uint32 { return uint32(rank*b.width + v) }

// group makes lists that are not sorted. ends returns the row and the column of an entry.
func (b *weigher) group(rows, columns int, ends func(row, column uint32) (uint32, uint32)) (w weighted, err error) {
	counts := make([]uint32, rows)
	b.eachBucket(func(_, _ int, entries []uint32) {
		for k := 0; k < len(entries); k += b.entryWords {
			row, _ := ends(entries[k], entries[k+1])
			atomic.AddUint32(&counts[row], 1)
		}
	})
	matrix := csr.New[uint64](b.memory, b.team, rows, columns, func(from, to int) (n int) {
		for _, count := range counts[from:to] {
			n += int(count)
		}
		return n
	})
	if err := b.memory.Err(); err != nil {
		return w, err
	}
	b.eachBucket(func(worker, _ int, entries []uint32) {
		var rows [entriesBatch]uint32
		var wide [entriesBatch]uint64
		for entries := range slices.Chunk(entries, b.entryWords*entriesBatch) {
			n := len(entries) / b.entryWords
			for k := range n {
				entry := entries[b.entryWords*k:][:b.entryWords]
				row, column := ends(entry[0], entry[1])
				rows[k], wide[k] = row, uint64(entry[2])<<32|uint64(column)
			}
			matrix.Writer(worker).PutWide(rows[:n], wide[:n])
		}
	})
	w.at, w.entries = matrix.Group(b.stopped)
	w.bounds = memory.Allocate[float32](b.memory, "bounds", len(w.entries))
	return w, cmp.Or(b.memory.Err(), b.ctx.Err())
}

// sort puts lists in ascending order of bounds.
func (b *weigher) sort(w *weighted, bound func(row int, column uint32, weight float32) float32) {
	scratch := make([]struct{ keys, entries []uint64 }, b.team.Size())
	b.team.Pieces(max(len(w.at)-1, 0), 64, func(worker, from, to int) {
		s := &scratch[worker]
		for v := from; v < to && b.ctx.Err() == nil; v++ {
			list, bounds := w.entries[w.at[v]:w.at[v+1]], w.bounds[w.at[v]:w.at[v+1]]
			s.keys = s.keys[:0]
			s.entries = append(s.entries[:0], list...)
			for k, entry := range list {
				u, weight := splitEntry(entry)
				s.keys = append(s.keys, uint64(math.Float32bits(bound(v, u, weight)))<<32|uint64(k))
			}
			slices.Sort(s.keys)
			for k, key := range s.keys {
				list[k], bounds[k] = s.entries[uint32(key)], math.Float32frombits(uint32(key>>32))
			}
		}
	})
}

// relay has the relay weights of a vertex: second for the neighbor via, and first for the others.
type relay struct {
	via           uint32 // a number among those of all ranks
	first, second float32
}

const relayWords = 3 // of a relay in memory

func relayIn(words []uint32) relay {
	return relay{words[0], math.Float32frombits(words[1]), math.Float32frombits(words[2])}
}

func (b *weigher) relayOf(column uint32) relay {
	return relayIn(b.relays[relayWords*int(column):][:relayWords])
}

// add takes an edge into account.
func (r *relay) add(via uint32, w float32) {
	switch {
	case via == r.via:
		r.first = min(r.first, w)
	case w < r.first:
		r.via, r.first, r.second = via, w, r.first
	case w < r.second:
		r.second = w
	}
}

// makeRelays fills isHub and relays. Each rank of a grid row finds relay weights of its entries, and the owner of a
// vertex combines them.
func (b *weigher) makeRelays() {
	none := relay{maxUint32, graph.Infinity(), graph.Infinity()}
	partial := make([]uint32, relayWords*b.rows)
	put := func(words []uint32, r relay) {
		words[0], words[1], words[2] = r.via, math.Float32bits(r.first), math.Float32bits(r.second)
	}
	b.each(b.rows, func(v int) {
		r := none
		for _, entry := range b.up.entries[b.up.at[v]:b.up.at[v+1]] {
			u, w := splitEntry(entry)
			r.add(b.numberOf(b.grid.Rank(int(u)/b.width, b.j), int(u)%b.width), w)
		}
		put(partial[relayWords*v:], r)
	})
	send, received := make([][]uint32, b.grid.C), make([][]uint32, b.grid.C)
	for m := range send {
		send[m] = cut(partial, m, b.grid.C)
	}
	b.row.Alltoallv(send, received, nil, nil)
	own, ownHubs := make([]uint32, relayWords*b.width), b.hubsOf(b.world.Rank())
	b.each(b.width, func(v int) {
		r := none
		for _, other := range received {
			part := relayIn(other[relayWords*v:])
			r.add(part.via, part.first)
			r.second = min(r.second, part.second)
		}
		if v < ownHubs {
			r.first, r.second = 0, 0
		}
		put(own[relayWords*v:], r)
	})
	b.eachBlock(own, func(k int, words []uint32) {
		copy(cut(b.relays, k, b.grid.R), words)
		for v := range b.hubsOf(b.grid.Rank(k, b.j)) {
			b.isHub.add(uint32(k*b.width + v))
		}
	})
}
