// SPDX-License-Identifier: Apache-2.0

package text

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

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
