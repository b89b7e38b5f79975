package statistics

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// exactSize is the largest sample for which the distribution of the signed-rank statistic is computed exactly; the normal
// distribution is indistinguishable from it beyond.
const exactSize = 200

// SignedRank is Wilcoxon's signed-rank test of paired differences against 0 (Wilcoxon 1945, Biometrics Bulletin 1), exact
// for up to 200 of them, ties included (midranks, distribution given the ties); differences of 0 are left out of the test, as
// Wilcoxon did. The shift is the Hodges-Lehmann estimate, the median of the means of all pairs of differences, with the
// interval that inverts the test (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., sections 3.1-3.3).
//
// It asks that a difference is as likely to be d as -d where nothing differs. That holds for any two measurements of the
// same thing under the same conditions, whatever their distribution.
func SignedRank(differences []float64, confidence float64) Test {
	d := slices.Sorted(slices.Values(differences))
	n := len(d)
	if n == 0 {
		return Test{everything(math.NaN()), 1}
	}
	pairs := n * (n + 1) / 2
	median := (kthMean(d, (pairs+1)/2) + kthMean(d, pairs/2+1)) / 2
	test := Test{everything(median), signedRankP(d)}
	if k := signedRankLimit(n, (1-confidence)/2); k > 0 {
		test.Shift.Low, test.Shift.High = kthMean(d, k), kthMean(d, pairs+1-k)
	}
	return test
}

// signedRankP is the two-sided p of differences.
func signedRankP(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	n := len(d)
	if n == 0 {
		return 1
	}
	ranks := make([]int, n) // twice the midranks, so that they are whole
	positive, squares := 0, 0.0
	for begin := 0; begin < n; {
		end := begin + 1
		for end < n && math.Abs(d[end]) == math.Abs(d[begin]) {
			end++
		}
		for i := begin; i < end; i++ {
			ranks[i] = begin + 1 + end
			squares += float64(ranks[i]) * float64(ranks[i])
			if d[i] > 0 {
				positive += ranks[i]
			}
		}
		begin = end
	}
	if n > exactSize {
		z := (math.Abs(float64(positive)-float64(n)*float64(n+1)/2) - 1) / (math.Sqrt(squares) / 2) // 1: half a rank, doubled
		return math.Min(1, 2*stats.StdNormal.CDF(-z))
	}
	chances := subsetSums(ranks)
	below, above := 0.0, 0.0
	for sum, chance := range chances {
		if sum <= positive {
			below += chance
		}
		if sum >= positive {
			above += chance
		}
	}
	return math.Min(1, 2*math.Min(below, above))
}

// signedRankLimit is the largest k for which fewer than k of the sorted means lie beyond the true shift on one side with a
// probability of at most tail; 0: there is none.
func signedRankLimit(n int, tail float64) int {
	if n > exactSize {
		mean := float64(n) * float64(n+1) / 4
		deviation := math.Sqrt(float64(n) * float64(n+1) * float64(2*n+1) / 24)
		return int(mean+deviation*stats.InvCDF(stats.StdNormal)(tail)-0.5) + 1
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	sum := 0.0
	for k, chance := range subsetSums(ranks) {
		if sum += chance; sum > tail {
			return k
		}
	}
	return 0
}

// subsetSums returns the probability of every sum of a random subset of ranks, each of them in it with probability 1/2.
func subsetSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	chances := make([]float64, total+1)
	chances[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for sum := reach; sum >= 0; sum-- {
			without := chances[sum] / 2
			if sum >= r {
				without += chances[sum-r] / 2
			}
			chances[sum] = without
		}
	}
	return chances
}

// kthMean returns the k-th smallest, from 1, of the means of all pairs (each with itself included) of sorted numbers. It
// counts instead of listing, so that its time is n and not n².
func kthMean(sorted []float64, k int) float64 {
	return search(sorted[0], sorted[len(sorted)-1], func(x float64) bool {
		count, j := 0, len(sorted)-1
		for i := range sorted {
			for j >= i && (sorted[i]+sorted[j])/2 > x {
				j--
			}
			if j < i {
				break
			}
			count += j - i + 1
		}
		return count >= k
	})
}

// search returns the smallest float64 from low to high that is enough.
func search(low, high float64, enough func(float64) bool) float64 {
	if enough(low) {
		return low
	}
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return high
		}
		if enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
}
