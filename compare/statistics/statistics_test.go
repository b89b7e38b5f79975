package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.7g, want %.7g", what, got, want)
	}
}

// Hollander and Wolfe, Nonparametric Statistical Methods (1973), table 3.1, depression under a tranquilliser: T+ = 40 of
// nine pairs, one-sided p 0.0195, estimate and 96.1 % interval of section 3.3; the example of R's wilcox.test.
func TestSignedRankOfTheTextbook(t *testing.T) {
	x := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	test := SignedRank(d, 0.95)
	near(t, "p", test.P, 2*10.0/512, 1e-12)
	near(t, "estimate", test.Shift.Estimate, -0.46, 1e-9)
	near(t, "low", test.Shift.Low, -0.786, 1e-9)
	near(t, "high", test.Shift.High, -0.010, 1e-9)
	if got := test.Shift.Negative(); got.Low != -test.Shift.High || got.High != -test.Shift.Low {
		t.Errorf("turned round: %+v", got)
	}
}

// The same, table 4.1, permeability of a membrane: W = 35, one-sided p 0.1272, estimate and 96 % interval of section 4.3.
func TestMannWhitneyOfTheTextbook(t *testing.T) {
	x := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	y := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	test := MannWhitney(x, y, 0.96)
	near(t, "p", test.P, 0.2544123, 1e-6)
	near(t, "estimate", test.Shift.Estimate, -0.305, 1e-9)
	near(t, "low", test.Shift.Low, -0.76, 1e-9)
	near(t, "high", test.Shift.High, 0.15, 1e-9)
}

// Student's sleep data (1908), t.test(..., var.equal = TRUE) of R's documentation.
func TestStudentTOfTheTextbook(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	test := StudentT(a, b, 0.95)
	near(t, "p", test.P, 0.07919, 5e-6)
	near(t, "low", test.Shift.Low, -0.203874, 1e-6)
	near(t, "high", test.Shift.High, 3.363874, 1e-6)
	near(t, "estimate", test.Shift.Estimate, 1.58, 1e-9)
}

func TestSelectionIsThatOfTheWholeList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 12)
		if rapid.Bool().Draw(t, "ties") {
			values = rapid.SliceOfN(rapid.Map(rapid.IntRange(-2, 2), func(i int) float64 { return float64(i) }), 1, 12)
		}
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		slices.Sort(a)
		slices.Sort(b)
		var means, differences []float64
		for i, x := range a {
			for _, y := range a[i:] {
				means = append(means, (x+y)/2)
			}
			for _, y := range b {
				differences = append(differences, y-x)
			}
		}
		slices.Sort(means)
		slices.Sort(differences)
		k := rapid.IntRange(1, len(means)).Draw(t, "k")
		if got := kthMean(a, k); got != means[k-1] {
			t.Errorf("mean %d is %g, want %g", k, got, means[k-1])
		}
		k = rapid.IntRange(1, len(differences)).Draw(t, "k")
		if got := kthDifference(a, b, k); got != differences[k-1] {
			t.Errorf("difference %d is %g, want %g", k, got, differences[k-1])
		}
	})
}

// The exact p is that of trying all signs.
func TestSignedRankIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 2 }), 1, 9).Draw(t, "d")
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
		seen := 0
		for i, x := range kept {
			if x > 0 {
				seen |= 1 << i
			}
		}
		below, above := 0, 0
		for signs := range 1 << len(kept) {
			if statistic(signs) <= statistic(seen) {
				below++
			}
			if statistic(signs) >= statistic(seen) {
				above++
			}
		}
		want := math.Min(1, 2*float64(min(below, above))/float64(int(1)<<len(kept)))
		if got := SignedRank(d, 0.95).P; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: p = %g, want %g", d, got, want)
		}
	})
}

func TestSamplesThatAreTooSmallSayNothing(t *testing.T) {
	for n := range 6 {
		d := []float64{1, 2, 3, 4, 5}[:n]
		if test := SignedRank(d, 0.95); test.P < 0.05 || !math.IsInf(test.Shift.Low, -1) || !math.IsInf(test.Shift.High, 1) {
			t.Errorf("%d pairs: %+v", n, test)
		}
	}
	if test := SignedRank([]float64{1, 2, 3, 4, 5, 6}, 0.95); test.P != 2.0/64 || test.Shift.Low != 1 {
		t.Errorf("6 pairs: %+v", test)
	}
	for _, c := range [][2][]float64{{nil, nil}, {{1}, nil}, {{1}, {2}}, {{1, 2}, {3, 4}}} {
		if test := MannWhitney(c[0], c[1], 0.95); test.P < 0.05 || !math.IsInf(test.Shift.High, 1) {
			t.Errorf("%v: %+v", c, test)
		}
	}
	if test := StudentT([]float64{1}, []float64{2, 3}, 0.95); test.P != 1 || !math.IsInf(test.Shift.Low, -1) {
		t.Errorf("one value: %+v", test)
	}
	if x := RatioOfMeans([]float64{1}, []float64{2}, 0.95); !math.IsInf(x.Low, -1) {
		t.Errorf("one pair: %+v", x)
	}
	if x := RatioOfIndependentMeans([]float64{1}, []float64{2}, 0.95); !math.IsInf(x.Low, -1) {
		t.Errorf("one value each: %+v", x)
	}
}

func TestValuesThatAreAllOne(t *testing.T) {
	same := []float64{2, 2, 2, 2, 2, 2, 2, 2}
	if test := SignedRank(make([]float64, 8), 0.95); test.P != 1 || test.Shift != (Interval{}) {
		t.Errorf("no difference anywhere: %+v", test)
	}
	if test := MannWhitney(same, same, 0.95); test.P != 1 || test.Shift != (Interval{}) {
		t.Errorf("Mann-Whitney: %+v", test)
	}
	if test := StudentT(same, same, 0.95); test.P != 1 || test.Shift != (Interval{}) {
		t.Errorf("Student: %+v", test)
	}
	if x := RatioOfMeans(same, same, 0.95); x != (Interval{}) {
		t.Errorf("ratio: %+v", x)
	}
}

// Beyond 200 pairs the normal distribution stands in; at 200 and just beyond both must give nearly the same.
func TestTheNormalDistributionContinuesTheExactOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, exactSize+1)
	for i := range d {
		d[i] = random.NormFloat64() + 0.12
	}
	exact, normal := SignedRank(d[:exactSize], 0.95), SignedRank(d, 0.95)
	if math.Abs(math.Log(exact.P/normal.P)) > 0.3 || math.Abs(exact.Shift.Low-normal.Shift.Low) > 0.02 {
		t.Errorf("200 pairs: %+v, 201 pairs: %+v", exact, normal)
	}
	a, b := signedRankLimit(exactSize, 0.025), signedRankLimit(exactSize+1, 0.025)
	if b <= a || b-a > 100 {
		t.Errorf("limits %d and %d", a, b)
	}
}

// The interval leaves 0 out exactly where the test finds a difference: both are of one distribution.
func TestTheIntervalOfMannWhitneyInvertsItsTest(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{8, 30, 50, 51} {
		found := 0
		for range 40 {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = random.NormFloat64(), random.NormFloat64()+2/math.Sqrt(float64(n))
			}
			test := MannWhitney(a, b, 0.95)
			different := test.P < 0.05
			if outside := test.Shift.Low > 0 || test.Shift.High < 0; outside != different {
				t.Errorf("%d a side: p = %g, and the interval is %g to %g", n, test.P, test.Shift.Low, test.Shift.High)
			}
			if different {
				found++
			}
		}
		if found == 0 || found == 40 {
			t.Errorf("%d a side: %d of 40 are different; the samples show nothing", n, found)
		}
	}
}

// Each interval holds the true shift about as often as it says, on values like those of searches: lognormal, with spikes.
func TestIntervalsHoldTheTruthAsOftenAsTheySay(t *testing.T) {
	const trials, n, shift = 1000, 64, 0.1
	random := rand.New(rand.NewPCG(3, 4))
	noise := func() float64 {
		x := 0.05 * random.NormFloat64()
		if random.IntN(20) == 0 {
			x += 0.3 * random.ExpFloat64()
		}
		return x
	}
	hits := map[string]int{}
	for range trials {
		var d, a, b, sa, sb []float64
		for range n {
			root := 0.5 * random.NormFloat64()
			x, y := root+noise(), root+noise()+shift
			d, a, b = append(d, y-x), append(a, x), append(b, y)
			sa, sb = append(sa, math.Exp(x)), append(sb, math.Exp(y))
		}
		for name, x := range map[string]Interval{
			"signed rank":    SignedRank(d, 0.95).Shift,
			"Mann-Whitney":   MannWhitney(a, b, 0.95).Shift,
			"Student":        StudentT(a, b, 0.95).Shift,
			"ratio":          RatioOfMeans(sb, sa, 0.95),
			"ratio unpaired": RatioOfIndependentMeans(sb, sa, 0.95),
		} {
			if x.Low <= shift && shift <= x.High {
				hits[name]++
			}
		}
	}
	// Paired samples make the unpaired intervals too wide, never too narrow: both sides share their roots.
	for name, least := range map[string]float64{"signed rank": 0.93, "Mann-Whitney": 0.99, "Student": 0.99, "ratio": 0.92, "ratio unpaired": 0.99} {
		share := float64(hits[name]) / trials
		t.Logf("%s: %.3f", name, share)
		if share < least || name == "signed rank" && share > 0.97 {
			t.Errorf("%s: the interval of 95 %% held the truth in %.1f %% of %d trials", name, 100*share, trials)
		}
	}
}
