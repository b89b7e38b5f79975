// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// specifiedTuple is tuple i as the specification and its papers describe it, in the simplest form: the stream moves by
// powers of the 5x5 matrix of the recurrence, numbers are big, labels are halved intervals, and bits are reversed one
// by one. It takes milliseconds.
func specifiedTuple(k Kronecker, i int64) Edge {
	modulus := big.NewInt(1<<31 - 1)
	type matrix [5][5]*big.Int
	multiply := func(a, b matrix) (c matrix) {
		for row := range 5 {
			for column := range 5 {
				c[row][column] = new(big.Int)
				for inner := range 5 {
					c[row][column].Add(c[row][column], new(big.Int).Mul(a[row][inner], b[inner][column]))
				}
				c[row][column].Mod(c[row][column], modulus)
			}
		}
		return c
	}
	var step, identity matrix
	for row := range 5 {
		for column := range 5 {
			step[row][column], identity[row][column] = new(big.Int), new(big.Int)
		}
		identity[row][row].SetInt64(1)
		if row > 0 {
			step[row][row-1].SetInt64(1)
		}
	}
	step[0][0].SetInt64(107374182)
	step[0][4].SetInt64(104480)
	power := func(exponent *big.Int) matrix {
		result := identity
		for bit := exponent.BitLen() - 1; bit >= 0; bit-- {
			result = multiply(result, result)
			if exponent.Bit(bit) == 1 {
				result = multiply(result, step)
			}
		}
		return result
	}
	newestFirst := [5]int64{
		int64(k.Seed1&0x3FFFFFFF) + 1, int64(k.Seed1>>30&0x3FFFFFFF) + 1,
		int64(k.Seed2&0x3FFFFFFF) + 1, int64(k.Seed2>>30&0x3FFFFFFF) + 1,
		int64(k.Seed2>>60<<4+k.Seed1>>60) + 1,
	}
	streamAt := func(distance *big.Int) func() int64 {
		moved := power(distance)
		var state [5]*big.Int
		for row := range 5 {
			state[row] = new(big.Int)
			for column := range 5 {
				state[row].Add(state[row], new(big.Int).Mul(moved[row][column], big.NewInt(newestFirst[column])))
			}
			state[row].Mod(state[row], modulus)
		}
		return func() int64 {
			next := new(big.Int).Mul(state[0], big.NewInt(107374182))
			next.Add(next, new(big.Int).Mul(state[4], big.NewInt(104480)))
			next.Mod(next, modulus)
			state = [5]*big.Int{next, state[0], state[1], state[2], state[3]}
			return next.Int64()
		}
	}

	far := new(big.Int).Lsh(big.NewInt(50), 128)
	far.Add(far, new(big.Int).Lsh(big.NewInt(7), 64))
	keys := streamAt(far)
	var key [2]uint64
	for j := range key {
		key[j] = uint64(keys()) * 0xFFFFFFFF
		key[j] += uint64(keys())
	}

	draw := streamAt(new(big.Int).Lsh(big.NewInt(i), 64))
	var u, v int64 // lower ends of the intervals that the labels lie in
	for half := k.Vertices() / 2; half > 0; half /= 2 {
		number := draw()
		for number < (1<<31-1)%10000 {
			number = draw()
		}
		var right, down int64
		switch number %= 10000; {
		case number < 1900: // B
			right = 1
		case number < 3800: // C
			down = 1
		case number < 9500: // A
		default: // D
			right, down = 1, 1
		}
		if u == v && down > right {
			right, down = down, right
		}
		u += half * down
		v += half * right
	}

	reversed := func(x uint64) (y uint64) {
		for bit := range k.Scale {
			y |= x >> bit & 1 << (k.Scale - 1 - bit)
		}
		return y
	}
	scrambled := func(label int64) Vertex {
		x := uint64(label) + key[0] + key[1]
		x = reversed(x * (key[0] | 0x4519840211493211))
		return Vertex(reversed(x * (key[1] | 0x3050852102C843A5)))
	}
	return MakeEdge(scrambled(u), scrambled(v))
}

func TestTuplesMatchTheSpecification(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Kronecker{
			Scale:      rapid.IntRange(MinScale, MaxScale).Draw(t, "scale"),
			EdgeFactor: rapid.IntRange(1, 64).Draw(t, "edgefactor"),
			Seed1:      rapid.Uint64().Draw(t, "seed1"),
			Seed2:      rapid.Uint64().Draw(t, "seed2"),
		}
		i := rapid.Int64Range(0, k.Tuples()-1).Draw(t, "tuple")
		want := specifiedTuple(k, i)
		if got := newGenerator(k).makeTuple(i); got != want {
			t.Fatalf("makeTuple: %v, want %v", got, want)
		}
		var got [1]Edge
		if err := k.Generate(context.Background(), got[:], i, 1); err != nil || got[0] != want {
			t.Fatalf("Generate: %v (%v), want %v", got[0], err, want)
		}
	})
}

func TestBatchesMatchSingleTuples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Kronecker{
			rapid.IntRange(7, MaxScale).Draw(t, "scale"), 16, rapid.Uint64().Draw(t, "seed1"), rapid.Uint64().Draw(t, "seed2"),
		}
		count := rapid.Int64Range(1, 3*batchTuples+1).Draw(t, "count")
		first := rapid.Int64Range(0, k.Tuples()-count).Draw(t, "first")
		edges := make([]Edge, count)
		g := newGenerator(k)
		g.fill(edges, first)
		for i, e := range edges {
			if want := g.makeTuple(first + int64(i)); e != want {
				t.Fatalf("tuple %d of %d is %v, want %v", i, count, e, want)
			}
		}
	})
}

func TestBatchWithRejectedDrawMatchesSingleTuples(t *testing.T) {
	k := Kronecker{16, 16, 2, 3}
	g := newGenerator(k)
	found := 0
	for i := int64(0); found < 3; i++ {
		s := g.streamOf(i)
		rejected := false
		for range k.Scale {
			rejected = rejected || s.Next31() < rejectedDraw
		}
		if rejected {
			found++
			var edges [2 * batchTuples]Edge
			first := i - batchTuples/2
			g.fill(edges[:], first)
			for j, e := range edges {
				if want := g.makeTuple(first + int64(j)); e != want {
					t.Errorf("tuple %d, near the rejected draw of %d, is %v, want %v", first+int64(j), i, e, want)
				}
			}
		}
	}
}

func TestBatchJumpFits64Bits(t *testing.T) {
	var sum uint64
	for _, coefficient := range newGenerator(Kronecker{1, 1, 0, 0}).Jumps[batchJump] {
		sum += coefficient
	}
	if sum > 1<<33 {
		t.Errorf("the coefficients add up to %d, more than 2^33", sum)
	}
}

// Any part of a list, made by any number of threads, is that part of the whole.
func TestGenerateDoesNotDependOnTheSplit(t *testing.T) {
	k := Kronecker{14, 16, 2, 3}
	whole := make([]Edge, k.Tuples())
	newGenerator(k).fill(whole, 0)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 3*generateBlock).Draw(t, "count")
		first := rapid.Int64Range(0, k.Tuples()-count).Draw(t, "first")
		edges := make([]Edge, count)
		if err := k.Generate(context.Background(), edges, first, rapid.IntRange(0, 5).Draw(t, "threads")); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(edges, whole[first:first+count]) {
			t.Fatalf("%d tuples from %d on differ from the list", count, first)
		}
	})
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
		if err := c.k.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.k, err, c.want)
		}
		if err := c.k.Generate(context.Background(), nil, 0, 1); err == nil {
			t.Errorf("%+v: Generate accepts it", c.k)
		}
	}
}
