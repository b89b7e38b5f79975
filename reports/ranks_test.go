package reports

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

// ranked gives the searches of a made-up run ranks: rank k scans k+1 ms a search, expands for 1 ms in each of two levels
// with 10 messages of 100 bytes, and waits so that all end together.
func ranked(run harness.Run, ranks int, cut string) harness.Run {
	ms := time.Millisecond
	run.Options = map[string]string{"partition": cut}
	run.Engine.Builtin, run.Engine.Options = "distributed", map[string]string{"ranks": strconv.Itoa(ranks), "partition": cut}
	for i := range run.Roots {
		root := &run.Roots[i]
		root.Levels = root.Levels[:2]
		for l := range root.Levels {
			level := &root.Levels[l]
			level.Phases = []plugins.Phase{
				{Name: "expand", Elapsed: ms, Slowest: ms, Messages: plugins.Counted(10), Bytes: plugins.Counted(1000)},
				{Name: "scan", Elapsed: time.Duration(ranks+1) * ms / 4, Slowest: time.Duration(ranks) * ms / 2},
				{Name: "reduce", Elapsed: time.Duration(ranks-1) * ms / 4, Slowest: time.Duration(ranks-1) * ms / 2},
			}
		}
		root.Phases = []plugins.Phase{{Name: "output", Elapsed: ms, Slowest: ms}}
		for k := range ranks {
			root.Ranks = append(root.Ranks, plugins.Rank{Phases: []plugins.Phase{
				{Name: "expand", Elapsed: 2 * ms}, {Name: "scan", Elapsed: time.Duration(k+1) * ms},
				{Name: "reduce", Elapsed: time.Duration(ranks-1-k) * ms}, {Name: "output", Elapsed: ms},
			}})
		}
	}
	return run
}

// rankedSample is a result of one engine without ranks and of both cuts with 2 and 4 ranks.
func rankedSample() harness.Result {
	r := sample([]string{"cpu", "two", "twofour", "one", "onefour"}, 16, 17)
	for i, run := range r.Runs {
		switch run.Engine.Name {
		case "two":
			r.Runs[i] = ranked(run, 2, "2d")
		case "twofour":
			r.Runs[i] = ranked(run, 4, "2d")
		case "one":
			r.Runs[i] = ranked(run, 2, "1d")
		case "onefour":
			r.Runs[i] = ranked(run, 4, "1d")
		}
	}
	return r
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestRanksAreSummedUp(t *testing.T) {
	runs := rankedRuns(labels(rankedSample()))
	if len(runs) != 8 {
		t.Fatalf("%d runs have ranks, want 8", len(runs))
	}
	for _, r := range runs {
		if r.label != "twofour" || r.run.Scale != 16 {
			continue
		}
		computing, transfers := r.times()
		imbalance, known := r.imbalance()
		// Ranks scan 1 to 4 ms and write 1 ms; they expand 2 ms and wait 0 to 3 ms.
		if !near(computing, 3.5e-3) || !near(transfers, 3.5e-3) || !known || !near(imbalance, 5/3.5) {
			t.Errorf("computing %v, transfers %v, imbalance %v", computing, transfers, imbalance)
		}
		if r.ranks != 4 || r.messages != 20 || r.bytes != 2000 {
			t.Errorf("%d ranks, %v messages, %v bytes", r.ranks, r.messages, r.bytes)
		}
	}
}

func TestFiguresOfRanks(t *testing.T) {
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, f := range p.draw(labels(rankedSample()), nil).all() {
		svg, err := f.svg()
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.svg()
		if err != nil || !bytes.Equal(svg, again) {
			t.Errorf("%s: drawn twice, the bytes differ (%v)", f.name, err)
		}
		names[f.name] = string(svg)
	}
	for name, want := range map[string]string{
		"phases": "transfers, modelled (below)", "traffic": "Messages of a search", "ranks": "reduce", "strong-scaling": "scale 16", "weak-scaling": "vertices a rank",
	} {
		if !strings.Contains(names[name], want) {
			t.Errorf("figure %s does not say %q", name, want)
		}
	}
	if len(p.ranksPart(labels(sample([]string{"cpu"}, 16))).figures) != 0 {
		t.Error("an engine without ranks has figures of ranks")
	}
}

func TestPageShowsRanks(t *testing.T) {
	var page bytes.Buffer
	if err := HTML(&page, rankedSample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Ranks: where the time goes", "transfers and waiting", "1.43"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// Counted and modelled numbers are in plots of their own, and say which they are.
func TestTrafficSaysWhatIsModelled(t *testing.T) {
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	f := traffic(p, 12, "2µs a message", []Traffic{
		{Series: "1D", Ranks: 16, Messages: 240, Bytes: 1e4, Modelled: 1e-4}, {Series: "1D", Ranks: 64, Messages: 4032, Bytes: 1e5, Modelled: 1e-3},
		{Series: "2D", Ranks: 16, Messages: 96, Bytes: 5e3, Modelled: 5e-5}, {Series: "2D", Ranks: 64, Messages: 896, Bytes: 3e4, Modelled: 2e-4},
	})
	svg, err := f.svg()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Modelled transfer (ms)", "not measured", "2µs a message", "are counted"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	if len(f.plots) != 3 {
		t.Errorf("%d plots, want messages, bytes and modelled times apart", len(f.plots))
	}
}

// A figure has room for so many runs; what it leaves out it says, and the table has.
func TestFiguresOfRanksAndEnergySayWhatTheyLeaveOut(t *testing.T) {
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	of := func(runs, ranks int) (withRanks, metered harness.Result) {
		withRanks, metered = sample(nil, 16), sample(nil, 16)
		for i := range runs {
			name := "engine-" + strconv.Itoa(i)
			withRanks.Runs = append(withRanks.Runs, ranked(sampleRun(name, i, 16, 4), ranks, "2d"))
			metered.Runs = append(metered.Runs, meteredRun(sampleRun(name, i, 16, 4), power.Node))
		}
		return withRanks, metered
	}
	notes := func(f *figure) string { return strings.Join(f.notes, " ") }
	for _, c := range []struct {
		runs, ranks             int
		bars, byRank, perWatt   string
		lastPower, nothing      string
		figuresOfRanks, figures int
	}{
		{2, 4, "", "", "", "", "", 3, 2},
		{13, 2, "The first 12 of 13 runs", "12 of 13 runs, the first that fit into 64 bars", "The first 12 of 13 engines", "The first 12 of 13 metered runs", "", 3, 12},
		{12, 16, "", "4 of 12 runs", "", "", "", 3, 12},
		{2, 65, "", "", "", "", "each of these runs has more than 64 ranks", 2, 2},
	} {
		a, b := of(c.runs, c.ranks)
		part := p.ranksPart(labels(a))
		if len(part.figures) != c.figuresOfRanks || len(part.table.Rows) != c.runs {
			t.Fatalf("%d runs: %d figures, %d rows", c.runs, len(part.figures), len(part.table.Rows))
		}
		energy := overEnergy(p, labels(b), nil)
		if len(energy) != 1+c.figures {
			t.Fatalf("%d metered runs: %d figures", c.runs, len(energy))
		}
		said := []struct{ figure, says, want, sign string }{
			{"phases", notes(part.figures[0]), c.bars, "The first"}, {"traffic", notes(part.figures[1]), c.bars, "The first"},
			{"phases", notes(part.figures[0]), c.nothing, "rank by rank"},
			{"per watt", notes(energy[0]), c.perWatt, "The first"}, {"last power", notes(energy[len(energy)-1]), c.lastPower, "The first"},
		}
		if len(part.figures) == 3 {
			said = append(said, struct{ figure, says, want, sign string }{"ranks", notes(part.figures[2]), c.byRank, "that fit"})
		}
		for _, s := range said {
			if !strings.Contains(s.says, s.want) || s.want == "" && strings.Contains(s.says, s.sign) {
				t.Errorf("%d runs of %d ranks: the figure of %s says %q, want %q", c.runs, c.ranks, s.figure, s.says, s.want)
			}
		}
	}
}

func TestTheTableOfRanksHasEveryRunAndLevelsSayWhatIsNotDrawn(t *testing.T) {
	r := sample(nil, 16)
	for i := range 230 {
		r.Runs = append(r.Runs, ranked(sampleRun("engine-"+strconv.Itoa(i), i, 16, 1), 2, "2d"))
	}
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	levels := p.draw(labels(sample([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"}, 16)), nil).levels
	if notes := strings.Join(levels[len(levels)-1].notes, " "); len(levels) != mostLevelFigures || !strings.Contains(notes, "The first 12 of 13 engines") {
		t.Errorf("%d figures of levels; the last says %q", len(levels), notes)
	}
	if rows := len(ranksTable(rankedRuns(labels(r))).Rows); rows != 230 {
		t.Errorf("%d rows for 230 runs", rows)
	}
}
