package parts

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestRanksAreSummedUp(t *testing.T) {
	runs := rankedRuns(all(t, samples.Ranked()).All)
	if len(runs) != 8 {
		t.Fatalf("%d runs have ranks, want 8", len(runs))
	}
	for _, r := range runs {
		if r.Label != "twofour" || r.Scale != 16 {
			continue
		}
		computing, transfers := r.times()
		imbalance := r.imbalance()
		// Ranks scan 1 to 4 ms and write 1 ms; they expand 2 ms and wait 0 to 3 ms.
		if !near(computing, 3.5e-3) || !near(transfers, 3.5e-3) || !near(imbalance, 5/3.5) {
			t.Errorf("computing %v, transfers %v, imbalance %v", computing, transfers, imbalance)
		}
		if len(r.computing) != 4 || r.messages != 20 || r.bytes != 2000 {
			t.Errorf("%d ranks, %v messages, %v bytes", len(r.computing), r.messages, r.bytes)
		}
	}
}

// Every phase of the engines with ranks has a color of its own.
func TestPhasesHaveDistinctColors(t *testing.T) {
	run, colors := rankedRun{}, map[reports.Color]string{}
	for p := distributed.Phase(0); p <= distributed.Output; p++ {
		run.phases = append(run.phases, rankedPhase{name: p.String(), seconds: 1})
	}
	f := phaseFigure([]rankedRun{run})
	for _, key := range f.Legend {
		if other, taken := colors[key.Look.Color]; taken {
			t.Errorf("%s and %s have the same color", other, key.Label)
		}
		colors[key.Look.Color] = key.Label
	}
	var drawn []string
	for _, shape := range f.Panels[0].Shapes {
		if bar, ok := shape.(reports.Bar); ok {
			drawn = append(drawn, colors[bar.Color])
		}
	}
	if want := strings.Split("expand scan fold update reduce clear predecessors output", " "); !slices.Equal(drawn,
		want) {
		t.Errorf("the bar has the phases %q, want %q", drawn, want)
	}
}

// A figure with no room for all runs has a note; the table has all runs.
func TestFiguresNameWhatTheyLeaveOut(t *testing.T) {
	of := func(runs, ranks int) (withRanks, metered record.Result) {
		withRanks, metered = samples.Result(nil, 16), samples.Result(nil, 16)
		for i := range runs {
			name := "engine-" + strconv.Itoa(i)
			withRanks.Runs = append(withRanks.Runs, samples.WithRanks(samples.Run(name, i, 16, 4), ranks, "2d"))
			metered.Runs = append(metered.Runs, samples.WithMeters(samples.Run(name, i, 16, 4), power.Node))
		}
		return withRanks, metered
	}
	notes := func(f reports.Figure) string { return strings.Join(f.Notes, " ") }
	for _, c := range []struct {
		runs         int
		ranks        string
		phasesHeight int
	}{
		{2, "", 2},
		{25, "The first 16 of 25 runs", 16},
	} {
		a, b := of(c.runs, 4)
		part := ranks(all(t, a).All, nil)
		if len(part.Figures) != 1 || len(part.Table.Rows) != c.runs ||
			len(part.Figures[0].Panels[0].Y.Ticks) != c.phasesHeight {
			t.Fatalf("%d runs: %d figures, %d rows", c.runs, len(part.Figures), len(part.Table.Rows))
		}
		if energy := energy(all(t, b).All, nil).Figures; len(energy) != 2+c.runs {
			t.Fatalf("%d metered runs: %d figures", c.runs, len(energy))
		}
		for _, s := range []struct{ figure, says, want string }{
			{"phases", notes(part.Figures[0]), c.ranks},
		} {
			if !strings.Contains(s.says, s.want) || s.want == "" && strings.Contains(s.says, "The first") {
				t.Errorf("%d runs: the figure of %s says %q, want %q", c.runs, s.figure, s.says, s.want)
			}
		}
	}
}
