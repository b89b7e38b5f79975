package text

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func TestListShowsTheWorstState(t *testing.T) {
	r := samples.Result([]string{"cpu", "interrupted", "invalid", "failed"}, 16)
	r.Runs[1].State = record.Interrupted
	r.Runs[2].Valid, r.Runs[2].Roots[3].Violation = false, "a parent that is not a neighbor"
	r.Runs[3].State, r.Runs[3].Failure = record.Failed, "signal 9"
	for n, want := range []string{1: "VALID", 2: "INTERRUPTED", 3: "INVALID", 4: "INVALID"} {
		if n == 0 {
			continue
		}
		part := r
		part.Runs = r.Runs[:n]
		if got := List("a", part, nil).State; got != want {
			t.Errorf("the first %d runs: %s, want %s", n, got, want)
		}
	}
}

func TestSortList(t *testing.T) {
	at := func(folder string, day int, rates ...float64) Listed {
		started := time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)
		l := Listed{Folder: folder, Started: &started}
		for _, rate := range rates {
			l.Runs = append(l.Runs, ListedRun{TEPS: &rate})
		}
		return l
	}
	damaged := Listed{Folder: "damaged", Damage: "torn"}
	records := []Listed{damaged, at("a", 2, 3e9, 1e9), at("b", 3, 2e9), at("none", 1), at("c", 3, 1e9, 4e9)}
	for by, want := range map[string]string{
		"":      "damaged a b none c",
		"date":  "b c a none damaged",
		"gteps": "c a b damaged none",
	} {
		sorted := slices.Clone(records)
		SortList(sorted, by)
		var folders []string
		for _, l := range sorted {
			folders = append(folders, l.Folder)
		}
		if got := strings.Join(folders, " "); got != want {
			t.Errorf("by %q: got %s, want %s", by, got, want)
		}
	}
}

// The directories of runs have their dates in their names, and a run that is not complete has no checksum.
func TestListFits80Columns(t *testing.T) {
	r := samples.Result([]string{"cpu", "distributed-2d", "distributed-1d"}, 16)
	interrupted := samples.Result([]string{"cpu", "distributed-2d"}, 16)
	interrupted.Runs[1].State = record.Interrupted
	var text strings.Builder
	err := ListTable(&text, []Listed{List("teps-results/20260314-091500.000", r, nil),
		List("teps-results/20260314-101500.000", interrupted, nil)}, 80)
	for line := range strings.Lines(text.String()) {
		if err != nil || utf8.RuneCountInString(line) > 81 || strings.Contains(line, "INTERRUPTED,") {
			t.Errorf("%v, %q", err, line)
		}
	}
}

func TestListFitsATerminal(t *testing.T) {
	long := samples.Result([]string{"cpu", "distributed", "an-engine-with-a-very-long-name"}, 16, 18)
	long.Digest, long.Machine.Hostname = "s", "node17.cluster.example.org"
	long.Runs[0].State = record.Interrupted
	noted := samples.Result([]string{"cpu"}, 20)
	noted.Environment = map[string]string{"TEPS_NOTE": "after the BIOS update"}
	var list strings.Builder
	err := ListTable(&list, []Listed{List("d", noted, nil), List("e", samples.Result([]string{"cpu"}, 20), nil)}, 0)
	if err != nil || !strings.HasSuffix(strings.Split(list.String(), "\n")[2], "no checksum  after the BIOS update") {
		t.Errorf("a note: %v, %s", err, list.String())
	}
	var records []Listed
	records = append(records,
		List("results/20260314-091500", long, nil),
		List("b", samples.Result([]string{"cpu"}, 20), nil),
		List("c", record.Result{}, errors.New("line 7 is not what was written\x1b[31m\nthere")),
	)
	var text strings.Builder
	if err := ListTable(&text, records, width); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want a head, a rule, two records, an empty line and one that cannot be read:\n%s", len(lines),
			text.String())
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	wants(t, lines[2], "results/20260314-091500 2026-03-14 node…mple.org cpu,…buted +1 16…18 2.61 INTERRUPTED")
	wants(t, lines[3], "b 2026-03-14 node17 cpu 20 0.920 VALID, no checksum")
	if lines[5] != "cannot be read: line 7 is not what was written [31m there" {
		t.Errorf("got %q", lines[5])
	}
	l := records[0]
	if l.State != "INTERRUPTED" || len(l.Runs) != 6 || *l.Runs[0].TEPS <= 0 || !l.Checksummed ||
		!l.Started.Equal(time.Date(2026, 3, 14, 9, 15, 0, 0, time.UTC)) {
		t.Errorf("listed as %+v", l)
	}
	text.Reset()
	if err := ListTable(&text, nil, width); err != nil || text.String() != "no runs here\n" {
		t.Errorf("an empty list: %q, %v", text.String(), err)
	}
	if err := ListTable(broken{}, records, width); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}
