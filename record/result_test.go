// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
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

func TestGraphsOfAPlan(t *testing.T) {
	p := somePlan()
	p.Scales = []int{}
	for _, text := range []string{"kron:7:16", "kron:7:48", "grid2d:5k", "dir/roads.mtx", "-"} {
		must.Do(p.AddGraph(text))
	}
	must.Do(p.Check())
	var names []string
	for _, id := range p.GraphIDs() {
		names = append(names, id.At())
	}
	want := []string{"at scale 7", "on kron:7:48", "on grid2d:5000", "on roads.mtx", "on standard input"}
	must.Equal(t, names, want, "graphs")
	for _, id := range p.GraphIDs() {
		source, err := p.Generator(id)
		if file := strings.HasPrefix(id.Source, "roads") || strings.HasPrefix(id.Source, "standard"); err != nil ||
			(source == nil) != file {
			t.Errorf("%s: %v, %v", id, source, err)
		}
		if one := p.Only(id); !slices.Equal(one.GraphIDs(), []GraphID{id}) || one.Graph(id) != p.Graph(id) {
			t.Errorf("the plan for %s has %v", id, one.GraphIDs())
		}
	}
	if source, err := p.Generator(p.GraphIDs()[1]); err != nil || source != (graph.Kronecker{
		Scale: 7, EdgeFactor: 48, Seed1: p.Seed1, Seed2: p.Seed2,
	}) {
		t.Errorf("kron:7:48 is %v, %v", source, err)
	}
}

func TestParseKernels(t *testing.T) {
	for text, want := range map[string][]Kernel{"bfs": nil, "sssp": {SSSP}, "sssp,bfs": {BFS, SSSP}} {
		must.Equal(t, must.Get(ParseKernels(text)), want, text)
	}
	for _, text := range []string{"", "bfs,bfs", "BFS", "bfs,"} {
		must.Is(t, must.Err(ParseKernels(text)), ErrUsage)
	}
}

func TestWrongGraphsOfAPlan(t *testing.T) {
	for want, texts := range map[string][]string{
		"the name of a graph is empty":    {""},
		"want grid2d:SIDE":                {"grid2d:0"},
		"path:5 is named twice":           {"path:5", "path:5"},
		"two files are named a.el":        {"x/a.el", "y/a.el"},
		"scale 6 is named twice":          {"kron:6", "kron:6:16"},
		"the name of a graph has 240 byt": {strings.Repeat("x", 240)},
	} {
		p := somePlan()
		p.Scales = []int{}
		var err error
		for _, text := range texts {
			if err == nil {
				err = p.AddGraph(text)
			}
		}
		if err == nil {
			err = p.Check()
		}
		must.Is(t, err, ErrUsage, want)
	}
}

func TestOtherGraphsAreNeverCompliant(t *testing.T) {
	m, entries := officialRun()
	m.Plan.Scales, m.Plan.Graphs = []int{}, []GraphSpec{{Name: "path:64"}}
	for i := range entries {
		if entries[i].Session == nil {
			entries[i].GraphID = GraphID{Source: "path:64"}
		}
		if g := entries[i].Graph; g != nil {
			other := *g
			other.Recipe, other.Vertices, other.SHA256 = graph.Kronecker{}, 64, strings.Repeat("0", 64)
			entries[i].Graph = &other
		}
	}
	r, err := replay(m, entries)
	must.Do(err)
	if run := r.Runs[0]; !run.Valid || run.Compliance.Compliant ||
		!strings.Contains(run.Compliance.Rules[0].Detail, "path:64 is not a Kronecker graph of the reference generator") {
		t.Errorf("valid %v, compliant %v: %v", run.Valid, run.Compliance.Compliant, run.Compliance.Rules[0])
	}
	changed := *entries[slices.IndexFunc(entries, func(e Entry) bool { return e.Graph != nil })].Graph
	changed.SHA256 = strings.Repeat("1", 64)
	again := Entry{GraphID: GraphID{Source: "path:64"}, Graph: &changed}
	_, err = replay(m, append(entries, again))
	must.Fail(t, err, "not those of an earlier")
}
