// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
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

var long = flag.Bool("long", false, "run the simulations behind the table in docs/comparing.md")

// The simulations take the rates of the roots from committed records, where they differ up to sevenfold, and add what
// changes from one run to the next: noise of every search, outliers, and a factor common to all searches of a run.

// committed reads a record of docs/results/runs.
func committed(name string) record.Result {
	return must.Get(record.Load(filepath.Join("..", "docs", "results", "runs", name)))
}

// noisyMachine describes how a simulated machine disturbs searches.
type noisyMachine struct {
	noise  float64 // standard deviation of the log time of a search
	spikes float64 // share of searches that are interrupted and take 50 % longer on average
	runs   float64 // standard deviation of the log of the factor common to a run
}

// run simulates a run like the recorded one, with its rates multiplied by speed.
func (m noisyMachine) run(random *rand.Rand, id string, recorded record.Run, speed float64) record.Result {
	r := record.Result{Manifest: record.Manifest{ID: id}}
	run := recorded
	run.Roots = nil
	common := m.runs * random.NormFloat64()
	for _, root := range recorded.Roots {
		disturbed := common + m.noise*random.NormFloat64()
		if random.Float64() < m.spikes {
			disturbed += math.Log1p(0.5 * random.ExpFloat64())
		}
		root.Time = root.Time / speed * math.Exp(disturbed)
		run.Roots = append(run.Roots, root)
	}
	r.Runs = []record.Run{run}
	return r
}

// found counts the verdicts slower and faster for pairs of simulated sides with the given number of runs each.
func (m noisyMachine) found(t *testing.T, recorded record.Run, speed float64, repeats, pairs int) (slower, faster int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(recorded.Roots[0].Root), uint64(repeats)))
	for range pairs {
		var a, b []record.Result
		for n := range repeats {
			a = append(a, m.run(random, string(rune('a'+n)), recorded, 1))
			b = append(b, m.run(random, string(rune('A'+n)), recorded, speed))
		}
		switch cell := of(a, b).Cells[0]; cell.Verdict {
		case Slower:
			slower++
		case Faster:
			faster++
		case Undecided:
			if !cell.Compared() {
				t.Fatalf("not compared: %+v", cell)
			}
		}
	}
	return slower, faster
}

// subjects are engines whose rates the simulations start from.
func subjects() map[string]record.Run {
	cpu, cuda := committed("s16-22").Runs, committed("h200").Runs
	return map[string]record.Run{
		"cpu, scale 18": cpu[2], "cpu, scale 20": cpu[4], "cuda, scale 26": cuda[2],
	}
}

// If each of 200 pairs errs with a probability of 0.05, fewer than minErrors or more than maxErrors of them err with
// a probability of 0.001 each (quantiles of the binomial distribution).
const pairs, minErrors, maxErrors = 200, 2, 21

// Identical runs differ about as often as the confidence says, and differences are found. If whole runs scatter, one
// run a side cannot tell that from a difference (docs/comparing.md says half of them), but repeats can.
func TestVerdictsHaveTheirErrorRates(t *testing.T) {
	scattered := noisyMachine{noise: 0.05, spikes: 0.02, runs: 0.02}
	all := subjects()
	for _, c := range []struct {
		subject   string
		m         noisyMachine
		speed     float64
		repeats   int
		low, high int // pairs called slower, or called different where nothing differs
	}{
		{"cpu, scale 18", noisyMachine{noise: 0.02}, 1, 1, minErrors, maxErrors},
		{"cpu, scale 20", noisyMachine{noise: 0.05, spikes: 0.02}, 1, 1, minErrors, maxErrors},
		{"cuda, scale 26", noisyMachine{noise: 0.5, spikes: 0.1}, 1, 1, minErrors, maxErrors},
		{"cpu, scale 20", noisyMachine{noise: 0.05, spikes: 0.02}, 0.95, 1, pairs * 95 / 100, pairs},
		{"cpu, scale 20", scattered, 1, 1, maxErrors, pairs},
		{"cpu, scale 20", scattered, 1, 2, 0, pairs / 4},
		{"cpu, scale 20", scattered, 1, 3, 0, maxErrors},
		{"cpu, scale 20", scattered, 1, 6, 0, maxErrors},
		{"cpu, scale 20", scattered, 0.9, 3, pairs * 3 / 4, pairs},
		{"cpu, scale 20", scattered, 0.9, 6, pairs * 3 / 4, pairs},
	} {
		slower, faster := c.m.found(t, all[c.subject], c.speed, c.repeats, pairs)
		called := slower
		if c.speed == 1 {
			called += faster
		} else if faster > 0 {
			t.Errorf("%+v: called faster in %d pairs", c, faster)
		}
		if called < c.low || called > c.high {
			t.Errorf("%+v: %d pairs of %d", c, called, pairs)
		}
	}
}

// A slow-down of exactly the limit fails in 2.5 % of cases, a larger one nearly always, and none never.
func TestSlowerThanHasItsErrorRate(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	subject, m := subjects()["cpu, scale 20"], noisyMachine{noise: 0.05, spikes: 0.02}
	failed := func(speed float64) (n int) {
		for range pairs {
			a, b := m.run(random, "a", subject, 1), m.run(random, "b", subject, speed)
			if of([]record.Result{a}, []record.Result{b}).Cells[0].SlowerThan(0.05) {
				n++
			}
		}
		return n
	}
	same, limit, beyond := failed(1), failed(0.95), failed(0.9)
	if same > 0 || limit > 14 || beyond < pairs*95/100 { // 14: as maxErrors, for a probability of 0.025
		t.Errorf("slower by 0, 5 and 10 %%: %d, %d and %d of %d are slower than 5 %%", same, limit, beyond, pairs)
	}
}

// A slow-down that is called detectable 19 times out of 20 is detected that often.
func TestDetectableIsDetected(t *testing.T) {
	subject := subjects()["cpu, scale 20"]
	random := rand.New(rand.NewPCG(5, 6))
	m := noisyMachine{noise: 0.1, spikes: 0.02}
	sum := 0.0
	for range pairs {
		a, b := m.run(random, "a", subject, 1), m.run(random, "b", subject, 1)
		sum += of([]record.Result{a}, []record.Result{b}).Cells[0].Detectable
	}
	slower, _ := m.found(t, subject, 1-sum/pairs, 1, pairs)
	if slower < pairs*88/100 || slower == pairs {
		t.Errorf("a slow-down of %.3f, detectable 19 times out of 20, is found in %d of %d", sum/pairs, slower, pairs)
	}
}

// TestPower logs the table in docs/comparing.md: go test ./compare -run TestPower -v -long
func TestPower(t *testing.T) {
	if !*long {
		t.Skip("a table for docs/comparing.md; -long makes it")
	}
	subject := subjects()["cpu, scale 20"]
	for _, repeats := range []int{1, 3, 6} {
		last := pairs
		for _, noise := range []float64{0.02, 0.05, 0.08, 0.12, 0.2, 0.4} {
			m := noisyMachine{noise: noise, spikes: 0.02}
			row := []int{}
			for _, speed := range []float64{1, 0.98, 0.95, 0.9, 0.8} {
				slower, faster := m.found(t, subject, speed, repeats, pairs)
				if speed == 1 {
					slower += faster
				}
				row = append(row, slower*100/pairs)
			}
			t.Logf("%d runs a side, noise %.2f: 0, 2, 5, 10 and 20 %% slower are found in %v %% of %d pairs", repeats, noise,
				row, pairs)
			if row[2] > last {
				t.Errorf("noise %.2f: 5 %% are found more often than with less noise", noise)
			}
			last = row[2]
		}
	}
}
