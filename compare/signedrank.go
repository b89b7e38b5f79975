// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"math"
	"slices"
)

// A shift is an estimate of how far paired differences lie from zero, with an interval and the probability p of a
// shift at least as large where there is none. The bounds are infinite for fewer than MinPairs differences.
type shift struct{ estimate, low, high, p float64 }

// signedRank is Wilcoxon's signed-rank test of paired differences (Wilcoxon 1945, Biometrics Bulletin 1): two-sided,
// exact, ties included, and without the differences of zero. The estimate is that of Hodges and Lehmann, the median of
// the means of all pairs of differences. The interval of Confidence inverts the test (Hollander, Wolfe and Chicken,
// Nonparametric Statistical Methods, 3rd ed., sections 3.1-3.3). The test assumes that a difference is as likely to be
// d as -d if nothing differs, which is true of two measurements of the same thing, whatever their distribution.
func signedRank(differences []float64) shift {
	s := shift{estimate: math.NaN(), low: math.Inf(-1), high: math.Inf(1), p: pValue(differences)}
	means := pairMeans(differences)
	if len(means) > 0 {
		s.estimate = middle(means)
	}
	if k := rankLimit(len(differences), (1-Confidence)/2); k > 0 {
		s.low, s.high = means[k-1], means[len(means)-k]
	}
	return s
}

// middle is the median of sorted values.
func middle(sorted []float64) float64 { return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2 }

// pairMeans returns the means of all pairs of values, each value with itself included, in ascending order.
func pairMeans(values []float64) []float64 {
	means := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, a := range values {
		for _, b := range values[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	return means
}

// pValue returns the two-sided p of differences; 1 if one of them is not a number.
func pValue(differences []float64) float64 {
	if slices.ContainsFunc(differences, math.IsNaN) {
		return 1
	}
	d := slices.DeleteFunc(slices.Clone(differences), func(x float64) bool { return x == 0 })
	slices.SortFunc(d, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	n := len(d)
	ranks := make([]int, n) // twice the mean ranks of ties, which makes them integers
	positive := 0
	for begin, end := 0, 0; begin < n; begin = end {
		for end < n && math.Abs(d[end]) == math.Abs(d[begin]) {
			end++
		}
		for i := begin; i < end; i++ {
			ranks[i] = begin + 1 + end
			if d[i] > 0 {
				positive += ranks[i]
			}
		}
	}
	low, high := 0.0, 0.0
	for sum, probability := range subsetSums(ranks) {
		if sum <= positive {
			low += probability
		}
		if sum >= positive {
			high += probability
		}
	}
	return math.Min(1, 2*math.Min(low, high))
}

// rankLimit returns the largest k for which the true shift lies below the k-th of the sorted pair means with a
// probability of at most tail; 0 if there is none.
func rankLimit(n int, tail float64) int {
	var ranks []int
	for rank := range n {
		ranks = append(ranks, rank+1)
	}
	sum := 0.0
	for k, probability := range subsetSums(ranks) {
		if sum += probability; sum > tail {
			return k
		}
	}
	return 0
}

// subsetSums returns the probability of each sum of a random subset of ranks that has each of them with probability
// 1/2.
func subsetSums(ranks []int) []float64 {
	probability := []float64{1}
	for _, r := range ranks {
		probability = append(probability, make([]float64, r)...)
		for sum := len(probability) - 1; sum >= 0; sum-- {
			probability[sum] /= 2
			if sum >= r {
				probability[sum] += probability[sum-r] / 2
			}
		}
	}
	return probability
}

// detectable returns the slow-down, as a share, that a test with the interval of s finds 19 times out of 20. The
// interval extends 1.960 standard errors to each side, and 1.960 + 1.645 are needed (normal approximation).
func (s shift) detectable() float64 {
	const needed, half = 1.960 + 1.645, 1.960
	return -math.Expm1(-(s.high - s.low) / 2 * needed / half)
}
