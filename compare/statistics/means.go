package statistics

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// StudentT is Student's test of two samples whose scatter is taken to be the same: the shift of the mean of b against that
// of a. Both need two values and more.
func StudentT(a, b []float64, confidence float64) Test {
	n, m := float64(len(a)), float64(len(b))
	shift := mean(b) - mean(a)
	if n < 2 || m < 2 {
		return Test{everything(shift), 1}
	}
	freedom := n + m - 2
	error := math.Sqrt((squares(a) + squares(b)) / freedom * (1/n + 1/m))
	return studentT(shift, error, freedom, confidence)
}

// RatioOfMeans is the logarithm of mean(a)/mean(b) of paired positive values, with the interval of the ratio estimator:
// Student's t on the linearised residuals a/mean(a) - b/mean(b) (Cochran, Sampling Techniques, 3rd ed., section 6.3).
// With a and b in seconds an edge it is that of the harmonic means of the rates, b's over a's.
func RatioOfMeans(a, b []float64, confidence float64) Interval {
	shift := math.Log(mean(a) / mean(b))
	n := float64(len(a))
	if n < 2 {
		return everything(shift)
	}
	residuals := make([]float64, len(a))
	for i := range a {
		residuals[i] = a[i]/mean(a) - b[i]/mean(b)
	}
	return studentT(shift, math.Sqrt(squares(residuals)/(n-1)/n), n-1, confidence).Shift
}

// RatioOfIndependentMeans is RatioOfMeans of values that are not paired, with the degrees of freedom of Welch (1947).
func RatioOfIndependentMeans(a, b []float64, confidence float64) Interval {
	shift := math.Log(mean(a) / mean(b))
	n, m := float64(len(a)), float64(len(b))
	if n < 2 || m < 2 {
		return everything(shift)
	}
	of := func(x []float64, n float64) float64 { return squares(x) / (n - 1) / n / (mean(x) * mean(x)) }
	va, vb := of(a, n), of(b, m)
	freedom := n + m - 2
	if va+vb > 0 {
		freedom = (va + vb) * (va + vb) / (va*va/(n-1) + vb*vb/(m-1))
	}
	return studentT(shift, math.Sqrt(va+vb), freedom, confidence).Shift
}

func studentT(shift, error, freedom, confidence float64) Test {
	if error == 0 { // all values are the same
		p := 0.0
		if shift == 0 {
			p = 1
		}
		return Test{Interval{shift, shift, shift}, p}
	}
	t := stats.TDist{V: freedom}
	half := -stats.InvCDF(t)((1-confidence)/2) * error
	return Test{Interval{shift, shift - half, shift + half}, math.Min(1, 2*t.CDF(-math.Abs(shift/error)))}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// squares is the sum of squared deviations from the mean.
func squares(x []float64) float64 {
	m, sum := mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum
}
