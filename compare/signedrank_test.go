// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%s: got %.7g, want %.7g", what, got, want)
	}
}

// Impossible rates of an edited record do not make the test loop forever, and prove nothing.
func TestSignedRankOfImpossibleValues(t *testing.T) {
	if s := signedRank([]float64{math.NaN(), 1, math.NaN(), 2, 3, 4, 5, 6}); s.p != 1 {
		t.Errorf("p is %g", s.p)
	}
}

// The exact p is that of trying all signs.
func TestSignedRankIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 2 }), 1, 9).Draw(t,
			"d")
		kept := slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
		statistic := func(signs int) (sum float64) {
			for i, x := range kept {
				rank := 0.5
				for _, y := range kept {
					if math.Abs(y) < math.Abs(x) {
						rank++
					} else if math.Abs(y) == math.Abs(x) {
						rank += 0.5
					}
				}
				if signs>>i&1 == 1 {
					sum += rank
				}
			}
			return sum
		}
		observed := 0
		for i, x := range kept {
			if x > 0 {
				observed |= 1 << i
			}
		}
		low, high := 0, 0
		for signs := range 1 << len(kept) {
			if statistic(signs) <= statistic(observed) {
				low++
			}
			if statistic(signs) >= statistic(observed) {
				high++
			}
		}
		want := math.Min(1, 2*float64(min(low, high))/float64(int(1)<<len(kept)))
		if got := signedRank(d).p; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: got p = %g, want %g", d, got, want)
		}
	})
}

func TestTooFewDifferencesHaveNoInterval(t *testing.T) {
	for n := range MinPairs {
		s := signedRank([]float64{1, 2, 3, 4, 5}[:n])
		if s.p < 0.05 || !math.IsInf(s.low, -1) || !math.IsInf(s.high, 1) {
			t.Errorf("%d differences: got %+v", n, s)
		}
	}
	if s := signedRank([]float64{1, 2, 3, 4, 5, 6}); s.p != 2.0/64 || s.low != 1 || s.high != 6 {
		t.Errorf("%d differences: got %+v, want p = 2/64 and 1 to 6", MinPairs, s)
	}
}

func TestDifferencesOfZeroAreNoDifference(t *testing.T) {
	if s := signedRank(make([]float64, 8)); s != (shift{p: 1}) {
		t.Errorf("got %+v", s)
	}
}
