package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// ranked gives the searches of a made-up run ranks: rank k scans k+1 ms a search, expands for 1 ms in each of two levels
// with 10 messages of 100 bytes, and waits so that all end together.
func ranked(run harness.Run, ranks int, cut string) harness.Run {
	ms := time.Millisecond
	run.Options = map[string]string{"partition": cut}
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
	runs := rankedRuns(labels(rankedSample()), mostLines)
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
	for _, f := range p.draw(rankedSample()).ranks {
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
	if len(p.draw(sample([]string{"cpu"}, 16)).ranks) != 0 {
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
