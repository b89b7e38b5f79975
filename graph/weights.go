// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"math"
)

// Weights of tuples and distances are float32. A distance is a sum of weights, added from the root outwards. The
// smallest solution of distance[v] = min over the tuples {u, v} of distance[u] + weight is unique: rounding is
// monotone.

// MaxWeight is the largest weight of a tuple. No sum of weights along a path overflows.
const MaxWeight = 1 << 64

// Infinity returns the distance of a vertex that the search did not reach, +Inf.
func Infinity() float32 { return float32(math.Inf(1)) }

// UnwrittenDistance returns the NaN that fills an array of distances before a search, to detect entries that the engine
// did not write.
func UnwrittenDistance() float32 { return float32(math.NaN()) }

// Weights fills dst with the weights of the tuples first, first+1, ... of s, which are in [0, 1], as Source.Generate
// does with tuples. Kronecker graphs have the weights of the reference, from their own seeds: after the draws of its
// bits, the next output of a tuple's stream, as a float32, divided by 2^31-1. Other sources have those of SplitMix64
// from the given seeds: the upper 24 bits of output i, as a fraction of 2^24.
func Weights(ctx context.Context, s Source, seed1, seed2 uint64, dst []float32, first int64, threads int) error {
	seed := splitMix(splitMix(splitMix(seed1) + seed2))
	fillWith := func(dst []float32, first int64) {
		for i := range dst {
			dst[i] = float32(splitMix(seed+uint64(first+int64(i))*0x9e3779b97f4a7c15)>>40) / (1 << 24)
		}
	}
	switch s := s.(type) {
	case Kronecker:
		if err := s.Check(); err != nil {
			return err
		}
		fillWith = newGenerator(s).fillWeights
	case made:
		if s.fillWeights != nil {
			fillWith = s.fillWeights
		}
	}
	return fillPart(ctx, s, dst, first, threads, fillWith)
}

// fillWeights makes the weights of the tuples first, first+1, ... in dst, in the batches of fill.
func (g *generator) fillWeights(dst []float32, first int64) {
	b := new(batch)
	for b.start(g, first); len(dst) > 0; first += batchTuples {
		b.advance(g, g.scale+1)
		n := min(batchTuples, len(dst))
		var smallest column
		for lane := range smallest {
			smallest[lane] = mrgModulus
		}
		for k := range b.outputs[:g.scale] {
			for lane, draw := range &b.outputs[k] {
				smallest[lane] = min(smallest[lane], draw)
			}
		}
		for lane := range dst[:n] {
			if dst[lane] = weight(uint32(b.outputs[g.scale][lane])); smallest[lane] < rejectedDraw {
				dst[lane] = g.makeWeight(first + int64(lane))
			}
		}
		dst = dst[n:]
	}
}

// makeWeight makes the weight of tuple i, as makeTuple makes the tuple.
func (g *generator) makeWeight(i int64) float32 {
	s := g.streamOf(i)
	for range g.scale {
		for s.Next31() < rejectedDraw {
		}
	}
	return weight(s.Next31())
}

func weight(output uint32) float32 { return float32(output) / float32(mrgModulus) }
