package reports

import (
	"os"
	"strings"
	"testing"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

func page(t *testing.T, results ...harness.Result) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, results...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageLeadsWithTheFastestValidRun(t *testing.T) {
	r := sample([]string{"slow", "fast", "wrong"}, 16)
	r.Runs[0].Statistics.TEPS.Mean = 1e9
	r.Runs[1].Statistics.TEPS.Mean = 2.5e9
	r.Runs[2].Statistics.TEPS.Mean = 77e9
	r.Runs[2].Roots[0].Rule, r.Runs[2].Roots[0].Violation = 5, "no such edge"
	got := page(t, r)
	if !strings.Contains(got, `<span class="rate">2.500</span> GTEPS`) || !strings.Contains(got, "fast at scale 16") {
		t.Error("the headline is not 2.5 GTEPS of fast at scale 16")
	}
	if strings.Contains(got, "77.00") {
		t.Error("the page shows the rate of a run with a wrong answer")
	}
	if !strings.Contains(got, "rule 5: no such edge") || !strings.Contains(got, "INVALID") {
		t.Error("the page does not say which rule the wrong run broke")
	}
}

func TestThePageSaysCompliantOnlyWhenEveryRuleHolds(t *testing.T) {
	r := sample([]string{"cpu"}, 16)
	if !strings.Contains(page(t, r), "compliant") {
		t.Error("a compliant result is not called so")
	}
	r.Runs[0].Compliance.Compliant = false
	r.Runs[0].Compliance.Rules[1] = harness.Check{Rule: "64 distinct roots", Detail: "only 3"}
	got := page(t, r)
	if strings.Contains(strings.ToLower(got), "compliant") {
		t.Error("a result that breaks a rule is called compliant")
	}
	if !strings.Contains(got, "1 of 4 rules do not hold") || !strings.Contains(got, "<b>64 distinct roots</b>: only 3") {
		t.Error("the rule that does not hold is not named")
	}
	for name, spoil := range map[string]func(*harness.Run){
		"an interrupted run":               func(r *harness.Run) { r.State, r.Valid = harness.Interrupted, false },
		"a run with an unchecked root":     func(r *harness.Run) { r.Roots[9].Validated = false },
		"a run with a rule that is broken": func(r *harness.Run) { r.Compliance.Rules[0].Holds = false },
	} {
		r := sample([]string{"cpu"}, 16)
		spoil(&r.Runs[0])
		if strings.Contains(strings.ToLower(page(t, r)), "compliant") {
			t.Errorf("%s is called compliant", name)
		}
	}
}

func TestThePageShowsWhatIsMissingAsADash(t *testing.T) {
	r := sample([]string{"cpu"}, 16)
	root := &r.Runs[0].Roots[0]
	root.NEdge, root.M, root.Reached, root.Depth, root.Validated, root.Validation = nil, nil, nil, nil, false, 0
	got := page(t, r)
	row := got[strings.Index(got, "<details class=\"roots\">"):]
	row = row[strings.Index(row, "<tbody>"):]
	row = row[:strings.Index(row, "</tr>")]
	if strings.Count(row, ">"+missing+"<") != 6 || !strings.Contains(row, "not validated") {
		t.Errorf("the row of a root that was not validated is %s", row)
	}
	if strings.Contains(got, "governor") {
		t.Error("a governor that is not known has a line")
	}
}

func TestTheTableOfLevelsHasTheColumnsThatWereCounted(t *testing.T) {
	head := func(levels ...plugins.Level) string {
		var out []string
		table := levelsTable(harness.RootRecord{Time: 1, Levels: levels})
		for _, c := range table.Head {
			out = append(out, c.Text)
		}
		for _, row := range table.Rows {
			if len(row) != len(table.Head) {
				t.Errorf("a line of %d cells under %d", len(row), len(table.Head))
			}
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ got, want string }{
		{head(plugins.Level{Frontier: 1}), "level, direction, vertices expanded"},
		{head(plugins.Level{Frontier: 1, Elapsed: 5}, plugins.Level{Frontier: 3, Edges: plugins.Counted(0)}), "level, direction, vertices expanded, entries looked at, time, share"},
		{head(plugins.Level{Messages: plugins.Counted(4), Phases: []plugins.Phase{{Name: "fold", Elapsed: 7}}}), "level, direction, vertices expanded, bytes sent, messages, phases"},
	} {
		if c.got != c.want {
			t.Errorf("columns are %q, want %q", c.got, c.want)
		}
	}
}

func TestSeveralResultsAreSetSideBySide(t *testing.T) {
	a, b := sample([]string{"cpu"}, 16, 17), sample([]string{"cpu"}, 16)
	a.ID, b.ID = "before", "after"
	got := page(t, a, b)
	for _, want := range []string{"2 results side by side", "cpu [1]", "cpu [2]", "[1] is record before", "[2] is record after"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if n := strings.Count(got, "<article>"); n != 2 {
		t.Errorf("%d articles, want 2", n)
	}
}

func TestNoResultIsAnError(t *testing.T) {
	if err := HTML(&strings.Builder{}); err == nil || !strings.Contains(err.Error(), "at least one record") {
		t.Errorf("got %v", err)
	}
}

// To look at the renderings: REPORTS_LOOK=some/folder go test -run ToLookAt ./reports
func TestWriteSamplesToLookAt(t *testing.T) {
	dir := os.Getenv("REPORTS_LOOK")
	if dir == "" {
		t.Skip("REPORTS_LOOK names no folder")
	}
	all := partial()
	all["two engines"] = sample([]string{"cpu", "distributed"}, 16, 17, 18, 19, 20)
	all["one run"] = sample([]string{"cpu"}, 18)
	all["four engines"] = sample([]string{"cpu", "distributed", "cuda", "gapbs-with-a-long-name"}, 16, 17, 18)
	for name, r := range all {
		folder := dir + "/" + strings.ReplaceAll(name, " ", "-")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := WriteAll(folder, r); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(dir + "/together.html")
	if err != nil {
		t.Fatal(err)
	}
	a, b := all["two engines"], all["four engines"]
	b.ID = "20260315-101500-s16"
	if err := HTML(f, a, b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
