// SPDX-License-Identifier: Apache-2.0

package graph

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
