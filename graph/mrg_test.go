// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"flag"
	"testing"

	"pgregory.net/rapid"
)

func anyStream(t *rapid.T) Stream {
	return NewStream(rapid.Uint64().Draw(t, "seed1"), rapid.Uint64().Draw(t, "seed2"))
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

func TestSkipEqualsRepeatedSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skipped := anyStream(t)
		stepped := skipped
		n := rapid.Uint64Range(0, 3000).Draw(t, "n")
		skipped.Skip(0, 0, n)
		for range n {
			stepped.Next31()
		}
		if skipped != stepped {
			t.Fatalf("%v after Skip(0, 0, %d), %v after as many steps", skipped, n, stepped)
		}
	})
}

func TestFloat64MatchesTheReference(t *testing.T) {
	s := NewStream(2, 3)
	s.Skip(2, 0, 0)
	outputs := s
	a, b := float64(outputs.Next31()), float64(outputs.Next31())
	want := a*.000000000465661287524579692 + float64(b*.0000000000000000002168404346990492787)
	if got := s.Float64(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if s != outputs {
		t.Error("Float64 does not use two outputs")
	}
	rapid.Check(t, func(t *rapid.T) {
		s := anyStream(t)
		if x := s.Float64(); x < 0 || x >= 1 {
			t.Fatalf("%v is not in [0, 1)", x)
		}
	})
}

// Property tests draw the same cases in every run; -rapid.seed=0 draws others, and -rapid.checks=N more of them.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}
