// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func anyStream(t *rapid.T) Stream {
	return NewStream(rapid.Uint64().Draw(t, "seed1"), rapid.Uint64().Draw(t, "seed2"))
}

func TestSeedsAreSpreadOverTheState(t *testing.T) {
	const word = 1<<30 - 1
	for _, c := range []struct {
		seed1, seed2 uint64
		oldestFirst  [5]uint64
	}{
		{2, 3, [5]uint64{1, 1, 4, 1, 3}},
		{0, 0, [5]uint64{1, 1, 1, 1, 1}},
		{1<<64 - 1, 1<<64 - 1, [5]uint64{15<<4 + 15 + 1, word + 1, word + 1, word + 1, word + 1}},
		{5<<60 | 6<<30 | 7, 8<<60 | 9<<30 | 10, [5]uint64{8<<4 + 5 + 1, 9 + 1, 10 + 1, 6 + 1, 7 + 1}},
	} {
		if got := NewStream(c.seed1, c.seed2).z; got != c.oldestFirst {
			t.Errorf("seeds %d, %d: state %v, want %v", c.seed1, c.seed2, got, c.oldestFirst)
		}
	}
}

func TestNext31IsTheRecurrence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyStream(t)
		outputs := slices.Clone(s.z[:])
		for range 50 {
			n := len(outputs)
			want := (107374182*outputs[n-1] + 104480*outputs[n-5]) % (1<<31 - 1)
			if got := s.Next31(); uint64(got) != want {
				t.Fatalf("output %d after the seeds is %d, want %d", n-5, got, want)
			}
			outputs = append(outputs, want)
		}
	})
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

// 2^31-1 is prime and the recurrence's polynomial is primitive, so the period is (2^31-1)^5 - 1 and not a divisor of
// it.
func TestPeriodIsMaximal(t *testing.T) {
	period := new(big.Int).Exp(big.NewInt(mrgModulus), big.NewInt(5), nil)
	period.Sub(period, big.NewInt(1))
	after := func(steps *big.Int) Stream {
		s := NewStream(2, 3)
		low := new(big.Int).Set(steps).Uint64()
		middle := new(big.Int).Rsh(steps, 64).Uint64()
		high := new(big.Int).Rsh(steps, 128).Uint64()
		s.Skip(high, middle, low)
		return s
	}
	if after(period) != NewStream(2, 3) {
		t.Error("the state does not return after (2^31-1)^5 - 1 outputs")
	}
	for _, divisor := range []int64{2, 3, 5, 7, 11, 31, 151, 331} { // small primes, where they divide the period
		part, rest := new(big.Int).QuoRem(period, big.NewInt(divisor), new(big.Int))
		if rest.Sign() == 0 && after(part) == NewStream(2, 3) {
			t.Errorf("the state returns after a %dth of the period", divisor)
		}
	}
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
