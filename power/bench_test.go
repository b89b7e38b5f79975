package power

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkEnergy integrates ten minutes of a counter.
func BenchmarkEnergy(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c := randomCurve(r, 600, 1)
	s := record(r, Info{Quantity: Energy, Period: 100 * time.Millisecond}, sampling{interval: 0.01}, 600,
		steps(r, c, 600, 0.1, 1e-3))
	for b.Loop() {
		if _, err := s.Energy(moment(10), moment(590)); err != nil {
			b.Fatal(err)
		}
	}
}
