package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tepsbench/teps/harness"
)

// The simulations take the rates of the roots from committed records, where they differ up to sevenfold, and add what a
// second run of the same thing would change: noise of every search, spikes, and what a whole run has in common.

// machine is how a simulated machine disturbs searches.
type machine struct {
	noise  float64 // standard deviation of the log time of a search
	spikes float64 // share of searches that something interrupts, which take half as long again on average
	runs   float64 // standard deviation of what all searches of a run have in common, log
}

// run simulates a run of what was recorded, at a share of its speed.
func (m machine) run(random *rand.Rand, id string, recorded harness.Run, speed float64) harness.Result {
	r := harness.Result{Manifest: harness.Manifest{ID: id, Seal: "s"}}
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
	r.Runs = []harness.Run{run}
	return r
}

// found counts the pairs of simulated sides, of so many runs each, for which compare says slower or faster.
func (m machine) found(t *testing.T, recorded harness.Run, speed float64, repeats, pairs int) (slower, faster int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(recorded.Roots[0].Root), uint64(repeats)))
	for range pairs {
		var a, b []harness.Result
		for n := range repeats {
			a = append(a, m.run(random, string(rune('a'+n)), recorded, 1))
			b = append(b, m.run(random, string(rune('A'+n)), recorded, speed))
		}
		switch cell := Of(a, b).Cells[0]; cell.Verdict {
		case Slower:
			slower++
		case Faster:
			faster++
		case NotCompared:
			t.Fatalf("not compared: %+v", cell)
		}
	}
	return slower, faster
}

// subjects are engines whose rates the simulations start from.
func subjects(t *testing.T) map[string]harness.Run {
	return map[string]harness.Run{
		"cpu, scale 18":  recorded(t, "runs/s18").Runs[0],
		"cpu, scale 20":  recorded(t, "runs/s20").Runs[0],
		"cuda, scale 26": recorded(t, "cuda/runs/s26").Runs[0],
	}
}

// atMost is the number of errors that 200 pairs exceed with a probability of 1 in 1000 when each errs in 5 of 100: the
// binomial distribution's quantile. atLeast is the other end.
const pairs, atLeast, atMost = 200, 2, 21

func TestTheBoundsAreThoseOfTheBinomialDistribution(t *testing.T) {
	tail := func(from, to int) (p float64) {
		for k := from; k <= to; k++ {
			n, _ := math.Lgamma(pairs + 1)
			a, _ := math.Lgamma(float64(k + 1))
			b, _ := math.Lgamma(float64(pairs - k + 1))
			p += math.Exp(n - a - b + float64(k)*math.Log(0.05) + float64(pairs-k)*math.Log(0.95))
		}
		return p
	}
	if above, below := tail(atMost+1, pairs), tail(0, atLeast-1); above > 0.001 || tail(atMost, pairs) < 0.001 || below > 0.001 {
		t.Errorf("more than %d: %g, fewer than %d: %g", atMost, above, atLeast, below)
	}
}

func TestIdenticalRunsShowNoDifference(t *testing.T) {
	for name, subject := range subjects(t) {
		for _, m := range []machine{{noise: 0.02}, {noise: 0.05, spikes: 0.02}, {noise: 0.5, spikes: 0.1}} {
			slower, faster := m.found(t, subject, 1, 1, pairs)
			t.Logf("%s, %+v: %d slower and %d faster of %d", name, m, slower, faster, pairs)
			if wrong := slower + faster; wrong < atLeast || wrong > atMost {
				t.Errorf("%s, %+v: %d of %d identical pairs are called different; want %d to %d", name, m, wrong, pairs, atLeast, atMost)
			}
		}
	}
}

func TestASlowDownOfFivePerCentIsFound(t *testing.T) {
	for name, subject := range subjects(t) {
		m := machine{noise: 0.05, spikes: 0.02}
		slower, faster := m.found(t, subject, 0.95, 1, pairs)
		t.Logf("%s: %d of %d", name, slower, pairs)
		if len(subject.Roots) != 64 || slower < pairs*95/100 || faster > 0 {
			t.Errorf("%s: 5 %% slower with %d roots is found in %d of %d pairs, and called faster in %d; want 95 %%",
				name, len(subject.Roots), slower, pairs, faster)
		}
	}
}

// Beside the spread of roots, rates alone do not show five per cent.
func TestRatesWithoutRegardToRootsShowNothing(t *testing.T) {
	for name, subject := range subjects(t) {
		random := rand.New(rand.NewPCG(7, 8))
		m, seen := machine{noise: 0.05, spikes: 0.02}, 0
		for range pairs {
			cell := Of([]harness.Result{m.run(random, "a", subject, 1)}, []harness.Result{m.run(random, "b", subject, 0.95)}).Cells[0]
			if *cell.MannWhitneyP < 1-Confidence {
				seen++
			}
		}
		t.Logf("%s: Mann-Whitney finds 5 %% in %d of %d pairs", name, seen, pairs)
		if seen > pairs/20 {
			t.Errorf("%s: found in %d of %d pairs; docs/records.md says that it is hardly ever", name, seen, pairs)
		}
	}
}

// A slow-down of exactly the limit fails in 2.5 % of cases, one well beyond it always, and none never.
func TestTheLimitForCIHoldsItsErrorRate(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	subject, m := recorded(t, "runs/s20").Runs[0], machine{noise: 0.05, spikes: 0.02}
	failed := func(speed float64) (n int) {
		for range pairs {
			if Of([]harness.Result{m.run(random, "a", subject, 1)}, []harness.Result{m.run(random, "b", subject, speed)}).Cells[0].SlowerThan(0.05) {
				n++
			}
		}
		return n
	}
	same, exactly, beyond := failed(1), failed(0.95), failed(0.9)
	t.Logf("slower by 0, 5, 10 %%: %d, %d, %d of %d fail a limit of 5 %%", same, exactly, beyond, pairs)
	if same > 0 || exactly > 14 || beyond < pairs*95/100 { // 14: the binomial distribution's quantile at 0.025 and 1 in 1000
		t.Errorf("slower by 0, 5, 10 %%: %d, %d, %d of %d fail a limit of 5 %%", same, exactly, beyond, pairs)
	}
}

// Where whole runs scatter, one run a side cannot tell that from a difference; repeats can.
func TestRepeatsKeepTheErrorRateWhereRunsScatter(t *testing.T) {
	subject := recorded(t, "runs/s20").Runs[0]
	m := machine{noise: 0.05, spikes: 0.02, runs: 0.02}
	once, again := m.found(t, subject, 1, 1, pairs)
	t.Logf("1 run a side: %d", once+again)
	if wrong := once + again; wrong <= atMost {
		t.Errorf("one run a side: %d of %d identical pairs are called different; docs/records.md says that it is too many", wrong, pairs)
	}
	for _, repeats := range []int{2, 3, 5} {
		slower, faster := m.found(t, subject, 1, repeats, pairs)
		t.Logf("%d runs a side: %d", repeats, slower+faster)
		if wrong := slower + faster; wrong < atLeast || wrong > atMost {
			t.Errorf("%d runs a side: %d of %d identical pairs are called different; want %d to %d", repeats, wrong, pairs, atLeast, atMost)
		}
	}
}

// What compare says that it could have seen is what it sees: at that slow-down, 19 of 20.
func TestVisibleIsWhatIsSeen(t *testing.T) {
	subject := recorded(t, "runs/s20").Runs[0]
	random := rand.New(rand.NewPCG(5, 6))
	m := machine{noise: 0.1, spikes: 0.02}
	sum := 0.0
	for range pairs {
		sum += *Of([]harness.Result{m.run(random, "a", subject, 1)}, []harness.Result{m.run(random, "b", subject, 1)}).Cells[0].Visible
	}
	slower, _ := m.found(t, subject, 1-sum/pairs, 1, pairs)
	t.Logf("visible %.3f: found in %d of %d", sum/pairs, slower, pairs)
	if slower < pairs*88/100 || slower == pairs {
		t.Errorf("a slow-down of %.3f, said to be visible 19 times of 20, is found in %d of %d", sum/pairs, slower, pairs)
	}
}

// TestPower logs the table in docs/records.md: go test ./compare -run TestPower -v
func TestPower(t *testing.T) {
	if testing.Short() {
		t.Skip("6 s of simulations, for a table")
	}
	subject := recorded(t, "runs/s20").Runs[0]
	for _, repeats := range []int{1, 5} {
		last := pairs
		for _, noise := range []float64{0.02, 0.05, 0.08, 0.12, 0.2, 0.4} {
			m := machine{noise: noise, spikes: 0.02}
			row := []int{}
			for _, speed := range []float64{1, 0.98, 0.95, 0.9, 0.8} {
				slower, faster := m.found(t, subject, speed, repeats, pairs)
				if speed == 1 {
					slower += faster
				}
				row = append(row, slower*100/pairs)
			}
			t.Logf("%d runs a side, noise %.2f: 0, 2, 5, 10, 20 %% slower are found in %v %% of %d pairs", repeats, noise, row, pairs)
			if row[2] > last {
				t.Errorf("noise %.2f: 5 %% are found more often than with less noise", noise)
			}
			last = row[2]
		}
	}
}
