package statistics

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
)

// MannWhitney is the rank test of two independent samples (Mann and Whitney 1947, Annals of Mathematical Statistics 18): by
// go-moremath, as benchstat does it, exact for up to 50 values a side without and 25 with ties, and by the normal
// distribution with corrections for ties and continuity beyond. The shift is that of b against a, the median of all
// differences between a value of b and one of a (Hodges and Lehmann 1963), with the interval that inverts the test.
func MannWhitney(a, b []float64, confidence float64) Test {
	if len(a) == 0 || len(b) == 0 {
		return Test{everything(math.NaN()), 1}
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	pairs := len(a) * len(b)
	median := (kthDifference(a, b, (pairs+1)/2) + kthDifference(a, b, pairs/2+1)) / 2
	test := Test{everything(median), 1}
	if result, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers); err == nil { // or all values are one
		test.P = math.Min(1, result.P)
	}
	if k := mannWhitneyLimit(len(a), len(b), exactLimit(a, b), (1-confidence)/2); k > 0 {
		test.Shift.Low, test.Shift.High = kthDifference(a, b, k), kthDifference(a, b, pairs+1-k)
	}
	return test
}

// exactLimit is up to how many values of a side MannWhitneyUTest takes the exact distribution of these, both sorted.
func exactLimit(a, b []float64) int {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	if len(slices.Compact(all)) < len(a)+len(b) {
		return stats.MannWhitneyTiesExactLimit
	}
	return stats.MannWhitneyExactLimit
}

// mannWhitneyLimit is the largest k for which fewer than k of the sorted differences lie beyond the true shift on one side
// with a probability of at most tail; 0: there is none.
func mannWhitneyLimit(n, m, exact int, tail float64) int {
	mean := float64(n) * float64(m) / 2
	deviation := math.Sqrt(float64(n) * float64(m) * float64(n+m+1) / 12)
	if n > exact || m > exact {
		return max(0, int(math.Floor(mean+deviation*stats.InvCDF(stats.StdNormal)(tail)-0.5))+1)
	}
	u := stats.UDist{N1: n, N2: m}
	return sort.Search(int(mean)+1, func(k int) bool { return u.CDF(float64(k)) > tail })
}

// kthDifference returns the k-th smallest, from 1, of the differences of all values of b and a, both sorted.
func kthDifference(a, b []float64, k int) float64 {
	return search(b[0]-a[len(a)-1], b[len(b)-1]-a[0], func(x float64) bool {
		count, i := 0, 0
		for _, value := range b { // ascending: so is the first a that is close enough
			for i < len(a) && value-a[i] > x {
				i++
			}
			count += len(a) - i
		}
		return count >= k
	})
}
