package parts

import (
	"github.com/tepsbench/teps/reports"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// marked are the verdicts in the table of histories, by engine; a point without a change is a dash.
func marked(t *testing.T, records ...record.Result) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range historyTable(histories(all(t, records...))).Rows {
		mark := "- "
		for _, cell := range row {
			if cell.Class == "bad" || cell.Class == "good" {
				mark = cell.Text + " "
			}
		}
		out[row[0].Text] += mark
	}
	return out
}

// A change of a build is marked where it is, once, and only for the engine that has changed.
func TestHistoryMarksChanges(t *testing.T) {
	store := samples.Store(4, 1, 1, 0.85, 0.85, 1.1)
	want := map[string]string{
		"cpu": "- - slower - faster ", "serial": "- - - - - ",
	}
	if diff := cmp.Diff(want, marked(t, store...)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	figure, err := Figure(all(t, store...), "history")
	if err != nil || len(figure.Panels) != 2 {
		t.Fatalf("%d panels, %v; want one for each engine", len(figure.Panels), err)
	}
	var marks []string
	for _, shape := range figure.Panels[0].Shapes {
		if mark, ok := shape.(reports.Mark); ok && mark.Glyph != reports.Circle {
			marks = append(marks, mark.Key+": "+mark.Text)
		}
	}
	if len(marks) != 2 || !strings.HasPrefix(marks[0], "slower: cpu, 2¹⁸, threads=2") ||
		!strings.Contains(marks[0], "on 2026-03-16, -1") || !strings.HasPrefix(marks[1], "faster: ") {
		t.Errorf("marked are %q, want the slow-down of the third day and the speed-up of the fifth", marks)
	}
}

// Of single runs nobody knows how much they scatter until there are some.
func TestHistoryOfSingleRuns(t *testing.T) {
	if got, want := marked(t, samples.Store(1, 1, 0.9, 1, 0.97, 0.5)...)["cpu"], "- - - - slower "; got != want {
		t.Errorf("marked are %q, want %q", got, want)
	}
}

// Two builds are a comparison, another machine is another history, and runs without a result are in none.
func TestRunsWithoutHistory(t *testing.T) {
	if got := marked(t, samples.Store(3, 1, 0.8)...); len(got) != 0 {
		t.Errorf("two builds: %q", got)
	}
	store := samples.Store(1, 1, 1, 1, 1)
	store[1].Machine.Hostname = "node18"
	store[2].Runs[0].State = record.Failed
	if diff := cmp.Diff(map[string]string{"serial": "- - - "}, marked(t, store...)); diff != "" {
		t.Errorf("marked (-want +got):\n%s", diff)
	}
}
