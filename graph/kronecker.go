// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"fmt"
	"math"
	"math/bits"
)

// The reference's Kronecker generator, bit for bit (Graph500 specification 2.0, section "Generating the edge list";
// Leskovec, Chakrabarti, Kleinberg, Faloutsos, Ghahramani, "Kronecker graphs", 2010). The adjacency matrix is halved
// in both directions, Scale times; each time the tuple falls into one of four quadrants, chosen at random. Tuple i
// draws from its own stream, which begins i*2^64 outputs into the seeded one. Finally a keyed permutation scrambles
// both labels. quadrants.go does this for batches of tuples; makeTuple makes the rare tuple with a rejected draw.

// Bounds of a recipe.
const (
	MinScale = 1
	MaxScale = 42 // class "huge", the largest in the specification
)

// Kronecker is the recipe of a Graph500 input: the parameters of the reference generator.
type Kronecker struct {
	Scale      int    `json:"scale"`
	EdgeFactor int    `json:"edgefactor"`
	Seed1      uint64 `json:"seed1"`
	Seed2      uint64 `json:"seed2"`
}

const kroneckerEdgeFactor = 16 // of Graph500; a name omits it

func parseKronecker(fields []string, seed1, seed2 uint64) (Source, error) {
	n, err := numbers(fields, 1, 2)
	if err != nil {
		return nil, err
	}
	k := Kronecker{int(n[0]), kroneckerEdgeFactor, seed1, seed2}
	if len(n) > 1 {
		k.EdgeFactor = int(min(n[1], math.MaxInt32))
	}
	return k, k.Check()
}

// Name returns kron:SCALE, followed by the edge factor if it is not that of Graph500.
func (k Kronecker) Name() string {
	if k.EdgeFactor == kroneckerEdgeFactor {
		return fmt.Sprintf("kron:%d", k.Scale)
	}
	return fmt.Sprintf("kron:%d:%d", k.Scale, k.EdgeFactor)
}

// Vertices returns the number of vertices, 2^Scale.
func (k Kronecker) Vertices() int64 { return 1 << k.Scale }

// Tuples returns the length of the list, EdgeFactor * 2^Scale.
func (k Kronecker) Tuples() int64 { return int64(k.EdgeFactor) << k.Scale }

// Check returns an error if tuples cannot be generated. The other methods need a recipe that passes.
func (k Kronecker) Check() error {
	if k.Scale < MinScale || k.Scale > MaxScale {
		return fmt.Errorf("scale %d is out of range: want %d to %d", k.Scale, MinScale, MaxScale)
	}
	if limit := int64(math.MaxInt64/EdgeBytes) >> k.Scale; k.EdgeFactor < 1 || int64(k.EdgeFactor) > limit {
		return fmt.Errorf("edgefactor %d is out of range: want 1 to %d at scale %d", k.EdgeFactor, limit, k.Scale)
	}
	return nil
}

// Generate is Source.Generate. It returns an error if k does not pass Check. A call has 20 microseconds of setup.
func (k Kronecker) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := k.Check(); err != nil {
		return err
	}
	return fillPart(ctx, k, dst, first, threads, newGenerator(k).fill)
}

// generator is a recipe with the constants of its tuples. It is not changed after newGenerator.
type generator struct {
	scale int
	arcs  arcs
	Constants
}

// Constants are shared by all tuples of a recipe; makeTuple shows their use. Generators on devices read them.
type Constants struct {
	Stream     [5]uint64       // the state of the seeded stream: its last five outputs, oldest first
	Jumps      [tupleBits]jump // Jumps[b] leads from the stream of tuple i to that of tuple i + 2^b
	Key        uint64          // of scramble: added to a label
	Multiplier [2]uint64       // of scramble
}

// Constants returns the constants of a recipe that passes Check.
func (k Kronecker) Constants() Constants { return newGenerator(k).Constants }

const tupleBits = 60 // width of a tuple's position in the longest list

func newGenerator(k Kronecker) *generator {
	keys := NewStream(k.Seed1, k.Seed2)
	g := &generator{scale: k.Scale, arcs: newArcs(oddsA, oddsB, oddsC), Constants: Constants{Stream: keys.z}}
	power := jump{0, 1}
	for range 64 {
		power = power.times(&power)
	}
	for b := range g.Jumps {
		g.Jumps[b] = power
		power = power.times(&power)
	}
	keys.Skip(50, 7, 0)
	var key [2]uint64
	for i := range key {
		high := uint64(keys.Next31())
		key[i] = high*0xFFFFFFFF + uint64(keys.Next31())
	}
	g.Key = key[0] + key[1]
	g.Multiplier = [2]uint64{key[0] | 0x4519840211493211, key[1] | 0x3050852102C843A5}
	return g
}

func (g *generator) streamOf(i int64) Stream {
	s := Stream{g.Stream}
	for b := range g.Jumps {
		if i>>b&1 != 0 {
			g.Jumps[b].apply(&s.z)
		}
	}
	return s
}

// The probabilities of the quadrants in ten-thousandths, in the order in which a draw is compared with them; D has the
// rest. A draw is a number below 2^31-1 modulo oddsAll. The first (2^31-1) mod oddsAll numbers are rejected, so that
// every remainder is equally likely.
const (
	oddsB        = 1900
	oddsC        = 1900
	oddsA        = 5700
	oddsAll      = 10000
	rejectedDraw = mrgModulus % oddsAll // draws below this are rejected
)

func (g *generator) makeTuple(i int64) Edge {
	s := g.streamOf(i)
	var l labels
	for range g.scale {
		draw := s.Next31()
		for draw < rejectedDraw {
			draw = s.Next31()
		}
		l = l.choose(uint64(draw)*g.arcs.unit, g.arcs.differ, g.arcs.turn, g.arcs.v)
	}
	return g.edge(l)
}

// scramble permutes the labels below 2^scale: twice, it multiplies by an odd number and reverses the low scale bits.
func (g *generator) scramble(label uint64) uint64 {
	label = bits.Reverse64((label+g.Key)*g.Multiplier[0]) >> (64 - g.scale)
	return bits.Reverse64(label*g.Multiplier[1]) >> (64 - g.scale)
}

// The random stream of the reference generator: a multiple recursive generator of order five,
//
//	z[n] = (107374182 z[n-1] + 104480 z[n-5]) mod (2^31 - 1),
//
// from L'Ecuyer, Blouin and Couture, "A search for good multiple recursive random number generators", ACM TOMACS 3(2),
// 1993, table 3. Its state is the last five outputs, each in 0..2^31-2 and not all zero.
//
// One step is a linear map A of the state that satisfies A^5 = 107374182 A^4 + 104480, so each power of A is a
// combination of 1, A, ..., A^4, given by five coefficients (a jump). The product of two jumps is the product of two
// polynomials modulo x^5 - 107374182 x^4 - 104480 (as in Haramoto, Matsumoto, Nishimura, Panneton, L'Ecuyer, "Efficient
// jump ahead for F2-linear random number generators", 2008). A^j of a state is its window moved by j outputs.

const (
	mrgModulus = 1<<31 - 1 // a Mersenne prime: 2^31 is 1, so a number is congruent to its 31-bit digits' sum
	mrgNear    = 107374182 // coefficient of the last output
	mrgFar     = 104480    // coefficient of the output five steps back
)

// Stream is a position in a random stream. A copy continues independently from the same position.
type Stream struct {
	z [5]uint64 // the last five outputs, oldest first, each below mrgModulus
}

// NewStream spreads two seeds over the state as the reference does: four words of 30 bits each, and the rest.
func NewStream(seed1, seed2 uint64) Stream {
	const word = 1<<30 - 1
	return Stream{[5]uint64{
		seed2>>60<<4 + seed1>>60 + 1,
		seed2>>30&word + 1,
		seed2&word + 1,
		seed1>>30&word + 1,
		seed1&word + 1,
	}}
}

// Next31 returns the next output, a number from 0 to 2^31-2.
func (s *Stream) Next31() uint32 {
	next := mrgNext(s.z[4], s.z[0])
	s.z = [5]uint64{s.z[1], s.z[2], s.z[3], s.z[4], next}
	return uint32(next)
}

// Skip skips high*2^128 + middle*2^64 + low outputs.
func (s *Stream) Skip(high, middle, low uint64) {
	step := jump{0, 1}
	for _, bits := range [3]uint64{low, middle, high} {
		for k := range 64 {
			if bits>>k&1 != 0 {
				step.apply(&s.z)
			}
			step = step.times(&step)
		}
	}
}

// mrgNext returns the output that follows near, where far came four outputs before near. Both are reduced.
func mrgNext(near, far uint64) uint64 { return mrgReduce(mrgNear*near + mrgFar*far) }

// mrgFold returns a number congruent to t that is below 2^31 + 2^33: t's upper 33 bits added to its lower 31.
func mrgFold(t uint64) uint64 { return t&mrgModulus + t>>31 }

// mrgReduce returns t modulo mrgModulus, for t below 2^61. The quotient's estimate is at most one too low.
func mrgReduce(t uint64) uint64 {
	quotient := (t + t>>31 + 1) >> 31
	return (t + quotient) & mrgModulus // the low bits of t - quotient*(2^31 - 1)
}

// A jump is a power of the stream's step: jump[j] is the coefficient of A^j, reduced.
type jump [5]uint64

// apply moves a state by the jump.
func (f *jump) apply(z *[5]uint64) {
	window := [9]uint64{z[0], z[1], z[2], z[3], z[4]}
	for k := 5; k < len(window); k++ {
		window[k] = mrgNext(window[k-1], window[k-5])
	}
	for k := range z {
		z[k] = 0
		for j, coefficient := range f {
			z[k] = (z[k] + coefficient*window[k+j]) % mrgModulus
		}
	}
}

// times returns the jump by the sum of both distances.
func (f *jump) times(g *jump) jump {
	var product [9]uint64
	for i, a := range f {
		for j, b := range g {
			product[i+j] = (product[i+j] + a*b) % mrgModulus
		}
	}
	for d := 8; d >= 5; d-- { // x^d = 107374182 x^(d-1) + 104480 x^(d-5)
		product[d-1] = (product[d-1] + mrgNear*product[d]) % mrgModulus
		product[d-5] = (product[d-5] + mrgFar*product[d]) % mrgModulus
	}
	return jump(product[:5])
}
