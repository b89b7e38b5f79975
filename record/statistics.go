// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Statistics are the Graph500 statistics of the searches whose tuples were counted. TEPS use NEdge, as in the
// reference.
type Statistics struct {
	NBFS       int     `json:"nbfs"`
	Time       Spread  `json:"time"`
	NEdge      Spread  `json:"nedge"`
	TEPS       Spread  `json:"teps"`
	Validation *Spread `json:"validation,omitempty"`
}

// Spread is the reference's summary of n values. Mean and StdDev are harmonic for TEPS and arithmetic otherwise. StdDev
// is absent for fewer than two values.
type Spread struct {
	Min           float64  `json:"min"`
	FirstQuartile float64  `json:"firstquartile"`
	Median        float64  `json:"median"`
	ThirdQuartile float64  `json:"thirdquartile"`
	Max           float64  `json:"max"`
	Mean          float64  `json:"mean"`
	StdDev        *float64 `json:"stddev,omitempty"`
}

// Summarize computes the Graph500 statistics of searches (specification 2.0, "Output"; quartiles and harmonic standard
// deviation as in the reference program). It returns nil if no search has its tuples counted.
func Summarize(roots []RootRecord) *Statistics {
	var times, edges, perEdge, validations []float64
	for _, r := range roots {
		if r.NEdge == nil || *r.NEdge == 0 || r.Time <= 0 {
			continue
		}
		n := float64(*r.NEdge)
		times = append(times, r.Time)
		edges = append(edges, n)
		perEdge = append(perEdge, r.Time/n)
		if r.Validated {
			validations = append(validations, r.Validation)
		}
	}
	if len(times) == 0 {
		return nil
	}
	s := &Statistics{
		NBFS:  len(times),
		Time:  spread(times),
		NEdge: spread(edges),
		TEPS:  rates(spread(perEdge), len(perEdge)),
	}
	if len(validations) > 0 {
		s.Validation = new(spread(validations))
	}
	return s
}

// spread summarizes x, which it sorts.
func spread(x []float64) Spread {
	slices.Sort(x)
	n := len(x)
	s := Spread{
		Min:           x[0],
		FirstQuartile: (x[(n-1)/4] + x[n/4]) / 2,
		Median:        (x[(n-1)/2] + x[n/2]) / 2,
		ThirdQuartile: (x[n-1-(n-1)/4] + x[n-1-n/4]) / 2,
		Max:           x[n-1],
	}
	mean, deviation := stat.MeanStdDev(x, nil)
	if s.Mean = mean; n > 1 {
		s.StdDev = &deviation
	}
	return s
}

// rates turns a spread of n values of seconds per edge into one of edges per second: order statistics inverted, the
// harmonic mean, and the harmonic standard deviation s/(mean^2*sqrt(n-1)) (Norris 1940, as the reference does).
func rates(perEdge Spread, n int) Spread {
	t := Spread{
		Min:           1 / perEdge.Max,
		FirstQuartile: 1 / perEdge.ThirdQuartile,
		Median:        1 / perEdge.Median,
		ThirdQuartile: 1 / perEdge.FirstQuartile,
		Max:           1 / perEdge.Min,
		Mean:          1 / perEdge.Mean,
	}
	if perEdge.StdDev != nil {
		t.StdDev = new(*perEdge.StdDev / (perEdge.Mean * perEdge.Mean * math.Sqrt(float64(n-1))))
	}
	return t
}
