// SPDX-License-Identifier: Apache-2.0

package graph

import "math/bits"

// The batched generator. It differs from the specification in four places, and makes the same tuples:
//
//   - It works on batches of 64 tuples, whose streams run side by side, because an output depends on the one before
//     it. The streams of the next batch follow by a jump over 64 tuples: five products for each of five outputs.
//   - A draw is not divided. With unit = ceil(2^64 / 10000), draw*unit modulo 2^64 is the draw's remainder by 10000 as
//     a fraction of 2^64, too large by less than one unit, so comparing it with r*unit compares the remainder with r
//     (Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019).
//   - Quadrants B, C, A, D lie on a circle in this order. The labels' bits differ in B and C, and v's bit is set in D
//     and B: two arcs, and so two comparisons, whose borrows are shifted into two words.
//   - Clip and flip matters only at the highest bit in which the labels differ, and is done at the end.
//
// A tuple with a rejected draw, about one in 30,000, is left to makeTuple.

const (
	batchTuples = 64
	batchJump   = 6 // jumps[batchJump] leads over a batch
	fewOutputs  = 9 // a jump needs nine consecutive outputs
)

// column is one output of each stream of a batch.
type column [batchTuples]uint64

// batch is the working memory of one goroutine.
type batch struct {
	next    [5]column            // the first five outputs for the tuples of the next batch
	outputs [MaxScale + 1]column // all outputs for this batch; one more because they are made in pairs
}

// fill makes the tuples first, first+1, ... in dst.
func (g *generator) fill(dst []Edge, first int64) {
	b := new(batch)
	b.start(g, first)
	for len(dst) >= batchTuples {
		g.fillBatch((*[batchTuples]Edge)(dst), first, b)
		dst, first = dst[batchTuples:], first+batchTuples
	}
	if len(dst) > 0 {
		var last [batchTuples]Edge
		g.fillBatch(&last, first, b)
		copy(dst, last[:])
	}
}

// start prepares b for the batch that begins with tuple first.
func (b *batch) start(g *generator, first int64) {
	s := g.streamOf(first)
	for lane := range batchTuples {
		tuple := s
		for k := range b.next {
			b.next[k][lane] = uint64(tuple.Next31())
		}
		g.Jumps[0].apply(&s.z)
	}
}

// advance makes n outputs for the batch that b is prepared for, and prepares b for the next one.
func (b *batch) advance(g *generator, n int) {
	copy(b.outputs[:], b.next[:])
	for k := 5; k < max(n, fewOutputs); k += 2 {
		twoOutputs((*[7]column)(b.outputs[k-5:]))
	}
	for k := range b.next {
		jumpOutputs(&b.next[k], &g.Jumps[batchJump], (*[5]column)(b.outputs[k:]))
	}
}

// fillBatch makes the batch that b is prepared for, and prepares b for the next one.
func (g *generator) fillBatch(dst *[batchTuples]Edge, first int64, b *batch) {
	b.advance(g, g.scale)
	draws := b.outputs[:g.scale]
	for lane := 0; lane < batchTuples; lane += 2 {
		p, q, ok := chooseTwo(draws, lane, &g.arcs)
		if !ok {
			dst[lane], dst[lane+1] = g.makeTuple(first+int64(lane)), g.makeTuple(first+int64(lane)+1)
			continue
		}
		dst[lane], dst[lane+1] = g.edge(p), g.edge(q)
	}
}

// twoOutputs makes the two outputs that follow five consecutive ones.
func twoOutputs(w *[7]column) {
	for lane := range batchTuples {
		first := mrgNext(w[4][lane], w[0][lane])
		w[5][lane], w[6][lane] = first, mrgNext(first, w[1][lane])
	}
}

// jumpOutputs makes the outputs that are a jump after those in w[0], where w is five outputs in a row. The coefficients
// of f must add up to at most 2^33, so that five products fit into 64 bits.
func jumpOutputs(out *column, f *jump, w *[5]column) {
	a, b, c, d, e := f[0], f[1], f[2], f[3], f[4]
	for lane := range out {
		out[lane] = mrgReduce(mrgFold(a*w[0][lane] + b*w[1][lane] + c*w[2][lane] + d*w[3][lane] + e*w[4][lane]))
	}
}

// labels holds the bits of a tuple's labels, highest first, before clip and flip: where they differ, and those of v.
type labels struct{ differ, v uint64 }

// arcs are the parts of the circle of quadrants where the labels' bits differ and where v's bit is set, in fractions of
// 2^64. Both begin at 0, the second after a turn. They are variables because the compiler reloads 64-bit constants in
// every iteration, which costs five percent.
type arcs struct {
	unit   uint64 // a ten-thousandth
	differ uint64 // B and C
	turn   uint64 // D comes before B
	v      uint64 // D and B
}

// newArcs returns the arcs for odds in ten-thousandths. A has at least 1: a whole circle would be 0 in 64 bits.
func newArcs(oddsA, oddsB, oddsC uint64) arcs {
	const unit = (1<<64 + oddsAll - 1) / oddsAll
	d := oddsAll - oddsA - oddsB - oddsC
	return arcs{unit, unit * (oddsB + oddsC), unit * d, unit * (d + oddsB)}
}

// chooseTwo chooses the quadrants of the tuples in lane and lane+1; lane is even. It returns false at a rejected draw.
func chooseTwo(draws []column, lane int, a *arcs) (p, q labels, ok bool) {
	lane &= batchTuples - 2
	unit, differ, turn, v := a.unit, a.differ, a.turn, a.v
	for k := range draws {
		drawP, drawQ := draws[k][lane], draws[k][lane+1]
		if drawP < rejectedDraw || drawQ < rejectedDraw {
			return p, q, false
		}
		p, q = p.choose(drawP*unit, differ, turn, v), q.choose(drawQ*unit, differ, turn, v)
	}
	return p, q, true
}

// choose returns the labels with one more bit, for a draw's place on the circle and the last three fields of arcs.
func (l labels) choose(place, differ, turn, v uint64) labels {
	_, bit := bits.Sub64(place, differ, 0)
	l.differ, _ = bits.Add64(l.differ, l.differ, bit)
	_, bit = bits.Sub64(place+turn, v, 0)
	l.v, _ = bits.Add64(l.v, l.v, bit)
	return l
}

// edge clips, flips and scrambles.
func (g *generator) edge(l labels) Edge {
	u, v := l.v^l.differ, l.v
	below := u & (1 << 63 >> (bits.LeadingZeros64(l.differ) & 63)) // the flipped bit, if u > v
	u, v = u^below, v^below
	if g.scale > 32 {
		return MakeEdge(Vertex(g.scramble(u)), Vertex(g.scramble(v)))
	}
	// Only the low bits of a product count, so two labels are reversed in one word, which also swaps them.
	shift := (64 - g.scale) & 63
	both := bits.Reverse64((u+g.Key)*g.Multiplier[0]<<32 | (v+g.Key)*g.Multiplier[0]&0xFFFFFFFF)
	u, v = both<<32>>shift, both>>shift
	both = bits.Reverse64(u*g.Multiplier[1]<<32 | v*g.Multiplier[1]&0xFFFFFFFF)
	return Edge{uint32(both << 32 >> shift), uint32(both >> shift), 0}
}
