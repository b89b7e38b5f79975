package harness

import (
	"math"
	"slices"
)

// Summarise computes the Graph500 statistics of the roots whose tuples were counted (specification 2.0, "Output"; the
// quartiles and the harmonic standard deviation as the reference program computes them). It returns nil when there are
// none.
func Summarise(roots []RootRecord) *Statistics {
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
		v := spread(validations)
		s.Validation = &v
	}
	return s
}

// spread summarises x, which it sorts.
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
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	s.Mean = sum / float64(n)
	if n > 1 {
		squares := 0.0
		for _, v := range x {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		d := math.Sqrt(squares / float64(n-1))
		s.StdDev = &d
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
		d := *perEdge.StdDev / (perEdge.Mean * perEdge.Mean * math.Sqrt(float64(n-1)))
		t.StdDev = &d
	}
	return t
}
