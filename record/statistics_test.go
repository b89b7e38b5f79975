// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math"
	"testing"
)

func nedge(n int64) *int64 { return &n }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s: got %.17g, want %.17g", what, got, want)
	}
}

// The expected numbers were calculated by hand from the definitions.
func TestStatisticsOfFiveSearches(t *testing.T) {
	var roots []RootRecord
	for i, seconds := range []float64{4, 1, 2, 5, 3} {
		roots = append(roots,
			RootRecord{Index: i, Time: seconds, NEdge: nedge(100), Validated: true, Validation: 2 * seconds})
	}
	s := Summarize(roots)
	if s == nil || s.NBFS != 5 {
		t.Fatalf("got %+v, want 5 searches", s)
	}
	// n=5: (n-1)/4 = n/4 = 1, (n-1)/2 = n/2 = 2.
	near(t, "first quartile", s.Time.FirstQuartile, 2)
	near(t, "median", s.Time.Median, 3)
	near(t, "third quartile", s.Time.ThirdQuartile, 4)
	near(t, "mean", s.Time.Mean, 3)
	near(t, "standard deviation", *s.Time.StdDev, math.Sqrt(2.5))
	near(t, "slowest TEPS", s.TEPS.Min, 20)
	near(t, "first quartile of TEPS", s.TEPS.FirstQuartile, 25)
	near(t, "fastest TEPS", s.TEPS.Max, 100)
	near(t, "harmonic mean of TEPS", s.TEPS.Mean, 100/3.0)
	near(t, "harmonic standard deviation", *s.TEPS.StdDev, math.Sqrt(2.5)/100/(0.03*0.03*2))
	near(t, "mean validation", s.Validation.Mean, 6)

	for i := range roots {
		roots[i].Validated = false
	}
	s = Summarize(roots[1:]) // of 1, 2, 5, 3 seconds: q1 = (x[0]+x[1])/2, median = (x[1]+x[2])/2, q3 = (x[3]+x[2])/2
	near(t, "first quartile of four", s.Time.FirstQuartile, 1.5)
	near(t, "median of four", s.Time.Median, 2.5)
	near(t, "third quartile of four", s.Time.ThirdQuartile, 4)
	if s.Validation != nil {
		t.Errorf("statistics of a validation that did not happen: %+v", s.Validation)
	}
}

func TestStatisticsOfFewSearches(t *testing.T) {
	s := Summarize([]RootRecord{
		{Time: 2, NEdge: nedge(8)}, {Time: 1}, {Time: 0, NEdge: nedge(8)}, {Time: 1, NEdge: nedge(0)},
	})
	if s.NBFS != 1 || s.Time.StdDev != nil || s.TEPS.StdDev != nil {
		t.Errorf("a standard deviation of one value: %+v", s)
	}
	near(t, "harmonic mean", s.TEPS.Mean, 4)
	for _, roots := range [][]RootRecord{nil, {{Time: 1}}} {
		if s := Summarize(roots); s != nil {
			t.Errorf("statistics without a counted root: %+v", s)
		}
	}
}
