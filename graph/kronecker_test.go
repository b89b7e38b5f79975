// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
)

func TestBatchJumpFits64Bits(t *testing.T) {
	var sum uint64
	for _, coefficient := range newGenerator(Kronecker{1, 1, 0, 0}).Jumps[batchJump] {
		sum += coefficient
	}
	if sum > 1<<33 {
		t.Errorf("the coefficients add up to %d, more than 2^33", sum)
	}
}

func TestCheckBoundsTheRecipe(t *testing.T) {
	for _, k := range []Kronecker{{1, 1, 0, 0}, {42, 16, 2, 3}, {42, 174762, 2, 3}, {1, 1 << 30, 2, 3}} {
		if err := k.Check(); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, c := range []struct {
		k    Kronecker
		want string
	}{
		{Kronecker{0, 16, 2, 3}, "scale 0 is out of range: want 1 to 42"},
		{Kronecker{-1, 16, 2, 3}, "scale -1 is out of range: want 1 to 42"},
		{Kronecker{43, 16, 2, 3}, "scale 43 is out of range: want 1 to 42"},
		{Kronecker{20, 0, 2, 3}, "edgefactor 0 is out of range: want 1 to"},
		{Kronecker{20, -16, 2, 3}, "edgefactor -16 is out of range"},
		{Kronecker{42, 174763, 2, 3}, "edgefactor 174763 is out of range: want 1 to 174762 at scale 42"},
	} {
		must.Fail(t, c.k.Check(), c.want)
		if err := c.k.Generate(context.Background(), nil, 0, 1); err == nil {
			t.Errorf("%+v: Generate accepts it", c.k)
		}
	}
}

func TestReductionIsTheRemainder(t *testing.T) {
	for _, c := range []uint64{0, 1, mrgModulus - 1, mrgModulus, mrgModulus + 1, 2*mrgModulus - 1, 2 * mrgModulus, 1 << 31,
		mrgModulus * (1<<30 - 1), mrgModulus*(1<<30-1) - 1, 1<<61 - 1} {
		if got := mrgReduce(c); got != c%mrgModulus {
			t.Errorf("mrgReduce(%d) = %d, want %d", c, got, c%mrgModulus)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		quotient := rapid.Uint64Range(0, 1<<30-1).Draw(t, "quotient")
		x := quotient*mrgModulus + rapid.Uint64Range(0, mrgModulus-1).Draw(t, "remainder")
		if got := mrgReduce(x); got != x%mrgModulus {
			t.Fatalf("mrgReduce(%d) = %d, want %d", x, got, x%mrgModulus)
		}
		y := rapid.Uint64().Draw(t, "y")
		if f := mrgFold(y); f%mrgModulus != y%mrgModulus || f >= 1<<31+1<<33 {
			t.Fatalf("mrgFold(%d) = %d", y, f)
		}
	})
}

// The values of this file come from the Graph500 reference, version 3.0.0. The hashes are over tuples in the packed
// form.

var golden24 = flag.Bool("golden24", false, "also check the golden values of long lists (3 minutes, 10 GB of memory)")

// skipLong skips a test of a list that takes seconds, with the race detector too.
func skipLong(t *testing.T, tuples int64) {
	t.Helper()
	if tuples > 1<<20 && !*golden24 {
		t.Skip("run with -args -golden24")
	}
	if tuples > 1<<18 && testing.Short() {
		t.Skip("takes long; left out with -short")
	}
}

// slice is a part of a list; count 0 is all of it.
type slice struct {
	recipe Kronecker
	first  int64
	count  int64
	fnv1a  uint64
}

var slicesOfReference = []slice{
	{Kronecker{1, 16, 2, 3}, 0, 0, 0xc8f35ca830274464},
	{Kronecker{2, 1, 2, 3}, 0, 0, 0x743916ea78b46536},
	{Kronecker{3, 5, 0, 0}, 0, 0, 0xfc897e64d0e47d97},
	{Kronecker{5, 16, 2, 3}, 0, 0, 0x304c214948dd9de5},
	{Kronecker{7, 16, 1<<64 - 1, 1<<64 - 1}, 0, 0, 0x481648754107dd44},
	{Kronecker{10, 16, 2, 3}, 0, 0, 0x2387b69068a59e11},
	{Kronecker{12, 16, 2, 3}, 0, 0, 0x3be1931279206ec6},
	{Kronecker{12, 8, 1, 1}, 0, 0, 0x1c603e42be2a24da},
	{Kronecker{14, 16, 2, 3}, 0, 0, 0x2d5f7229b439cb25},
	{Kronecker{14, 3, 2, 3}, 0, 0, 0xa4687c2642ad8130},
	{Kronecker{14, 16, 3, 2}, 0, 0, 0x40b869f1d8d13b35},
	{Kronecker{15, 32, 12345678901234567890, 9876543210987654321}, 0, 0, 0x6b4530c7a9ae073b},
	{Kronecker{16, 16, 2, 3}, 0, 0, 0x2a13816fcf9b4c5b},
	{Kronecker{17, 16, 2, 3}, 0, 0, 0xe0b570e867e987bd},
	{Kronecker{18, 16, 2, 3}, 0, 0, 0x076e7107ff40c25e},
	{Kronecker{18, 16, 20250101, 7}, 0, 0, 0xc05a56a1de50f8fd},
	{Kronecker{19, 1, 1 << 62, 1 << 60}, 0, 0, 0x62f3e1c7c4a3d89e},
	{Kronecker{22, 2, 2, 3}, 0, 0, 0x6904df2f57f818d0},
	{Kronecker{24, 16, 2, 3}, 0, 100000, 0xa8feba388d48a4e2},
	{Kronecker{31, 16, 2, 3}, 34359738268, 100, 0x8c82cdab320b1197},
	{Kronecker{32, 16, 2, 3}, 68719476636, 100, 0x7e7b39e4f97a3eed},
	{Kronecker{32, 16, 2, 3}, 1000000000, 5000, 0x9b699ec8e89b4611},
	{Kronecker{33, 16, 2, 3}, 100000000000, 5000, 0xbec2ca3c8ea242c4},
	{Kronecker{36, 16, 2, 3}, 549755813888, 20000, 0x8d9fc1519b537a5e},
	{Kronecker{39, 16, 5, 6}, 8796093022108, 100, 0xde5c8597e99f5f24},
	{Kronecker{42, 16, 2, 3}, 70368744167664, 1000, 0xabd9dc8874060baa},
	{Kronecker{42, 16, 2, 3}, 0, 50000, 0x32b2e0c9448fffb0},
	{Kronecker{42, 16, 77, 88}, 35184372088832, 50000, 0x2b0f1c1777f0e270},
}

func TestTuplesMatchTheReferenceBitForBit(t *testing.T) {
	for _, s := range slicesOfReference {
		r := s.recipe
		name := fmt.Sprintf("scale=%d/edgefactor=%d/seeds=%d,%d/first=%d", r.Scale, r.EdgeFactor, r.Seed1, r.Seed2, s.first)
		t.Run(name, func(t *testing.T) {
			count := s.count
			if count == 0 {
				count = s.recipe.Tuples()
			}
			skipLong(t, count)
			if got := hashOf(generate(t, s.recipe, s.first, count), fnvBasis); got != s.fnv1a {
				t.Errorf("FNV-1a of the packed tuples is %016x, want %016x", got, s.fnv1a)
			}
		})
	}
}

const (
	fnvBasis   = 14695981039346656037
	shortBasis = 1469598103934665603 // fnvBasis without its last digit, for the golden hashes of TestGoldenSources
)

// hashOf is the 64-bit FNV-1a hash from a basis over the packed tuples.
func hashOf(edges []Edge, basis uint64) uint64 {
	hash := basis
	for _, e := range edges {
		for _, word := range [3]uint32{e.lowU, e.lowV, e.high} {
			for range 4 {
				hash = (hash ^ uint64(word&0xff)) * 1099511628211
				word >>= 8
			}
		}
	}
	return hash
}

// generate makes count tuples of a source on all threads.
func generate(t testing.TB, s Source, first, count int64) []Edge {
	t.Helper()
	edges := make([]Edge, count)
	must.Do(s.Generate(context.Background(), edges, first, 0))
	return edges
}

var flagScale = flag.Int("graph.scale", 18, "scale of the benchmarks")

// BenchmarkGenerate makes the tuples of the reference generator, in memory that has been touched, on one thread and on
// all processors:
//
//	go test ./graph -run '^$' -bench Generate -benchtime 3x -graph.scale 22
func BenchmarkGenerate(b *testing.B) {
	k := Kronecker{Scale: *flagScale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples := generate(b, k, 0, k.Tuples())
	for _, threads := range []int{1, 0} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				must.Do(k.Generate(b.Context(), tuples, 0, threads))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.Tuples()), "ns/tuple")
		})
	}
}
