package graph

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
)

// The reference's Kronecker generator, bit for bit (Graph500 specification 2.0, section "Generating the edge list";
// Leskovec, Chakrabarti, Kleinberg, Faloutsos, Ghahramani, "Kronecker graphs", 2010). The adjacency matrix is halved
// in both directions, Scale times; each time the tuple falls into one of four quadrants, chosen at random. Tuple i
// draws from a stream of its own, which begins i*2^64 outputs into the seeded one, so every tuple can be made alone
// and the list does not depend on how it is divided. Finally both labels are scrambled by a keyed permutation.
//
// quadrants.go does this for batches of tuples; the rare one with a rejected draw is made alone, by makeTuple.

// Bounds of a recipe. The size of the tuples in bytes must fit an int64, which bounds the edge factor.
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

// Vertices returns the number of vertices, 2^Scale.
func (k Kronecker) Vertices() int64 { return 1 << k.Scale }

// Tuples returns the length of the list, EdgeFactor * 2^Scale.
func (k Kronecker) Tuples() int64 { return int64(k.EdgeFactor) << k.Scale }

// Check returns an error if tuples cannot be generated from k. The other methods need a recipe that passes.
func (k Kronecker) Check() error {
	if k.Scale < MinScale || k.Scale > MaxScale {
		return fmt.Errorf("graph: scale %d is out of range: want %d to %d", k.Scale, MinScale, MaxScale)
	}
	if limit := int64(math.MaxInt64/EdgeBytes) >> k.Scale; k.EdgeFactor < 1 || int64(k.EdgeFactor) > limit {
		return fmt.Errorf("graph: edgefactor %d is out of range: want 1 to %d at scale %d", k.EdgeFactor, limit, k.Scale)
	}
	return nil
}

// generateBlock is the number of tuples that a thread makes at a time, in about a millisecond.
const generateBlock = 1 << 15

// Generate fills dst with the tuples first, first+1, ... of the list, on the given number of threads (0 or less: all
// that Go may use). A tuple depends only on k and its position in the list. Setting up costs some 20 microseconds, so a
// list may be generated in chunks. When ctx ends, Generate returns ctx.Err() within milliseconds, and dst is partly
// written. It returns an error if k does not pass Check or if the list ends before dst does.
func (k Kronecker) Generate(ctx context.Context, dst []Edge, first int64, threads int) error {
	if err := k.Check(); err != nil {
		return err
	}
	if first < 0 || first > k.Tuples()-int64(len(dst)) {
		return fmt.Errorf("graph: generating %d tuples from number %d: the list has %d (scale %d, edgefactor %d)",
			len(dst), first, k.Tuples(), k.Scale, k.EdgeFactor)
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	g := newGenerator(k)
	_, err := parallel(ctx, threads, int64(len(dst)), generateBlock, func(_ int, begin, end int64) bool {
		g.fill(dst[begin:end], first+begin)
		return true
	})
	return err
}

// generator is a recipe with everything that all of its tuples need. newGenerator fills it; then it is only read.
type generator struct {
	scale      int
	stream     Stream          // as seeded
	jumps      [tupleBits]jump // jumps[b] leads from the stream of tuple i to that of tuple i + 2^b
	arcs       arcs
	key        uint64    // of scramble: added to a label
	multiplier [2]uint64 // of scramble
}

// tupleBits is the width of a tuple's position in the longest list.
const tupleBits = 60

func newGenerator(k Kronecker) *generator {
	g := &generator{scale: k.Scale, stream: NewStream(k.Seed1, k.Seed2), arcs: newArcs()}

	power := jump{0, 1}
	for range 64 {
		power = power.times(&power)
	}
	for b := range g.jumps {
		g.jumps[b] = power
		power = power.times(&power)
	}

	keys := g.stream
	keys.Skip(50, 7, 0)
	var key [2]uint64
	for i := range key {
		high := uint64(keys.Next31())
		key[i] = high*0xFFFFFFFF + uint64(keys.Next31())
	}
	g.key = key[0] + key[1]
	g.multiplier = [2]uint64{key[0] | 0x4519840211493211, key[1] | 0x3050852102C843A5}
	return g
}

// streamOf returns the stream that tuple i draws from.
func (g *generator) streamOf(i int64) Stream {
	s := g.stream
	for b := range g.jumps {
		if i>>b&1 != 0 {
			g.jumps[b].apply(&s.z)
		}
	}
	return s
}

// The odds of the quadrants in ten-thousandths, in the order in which a draw is compared with them; D has the rest. A
// draw is a number below 2^31-1 modulo oddsAll. The first (2^31-1) mod oddsAll numbers are rejected, so that every
// remainder is equally likely.
const (
	oddsB        = 1900
	oddsC        = 1900
	oddsA        = 5700
	oddsAll      = 10000
	rejectedDraw = mrgModulus % oddsAll // draws below this are rejected
)

// makeTuple makes tuple i alone.
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
	label = bits.Reverse64((label+g.key)*g.multiplier[0]) >> (64 - g.scale)
	return bits.Reverse64(label*g.multiplier[1]) >> (64 - g.scale)
}
