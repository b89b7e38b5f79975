// SPDX-License-Identifier: Apache-2.0

package text

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
)

func TestSortList(t *testing.T) {
	at := func(directory string, day int, rates ...float64) Listed {
		started := time.Date(2026, 3, day, 0, 0, 0, 0, time.UTC)
		l := Listed{Directory: directory, Started: &started}
		for _, rate := range rates {
			l.Runs = append(l.Runs, ListedRun{TEPS: &rate})
		}
		return l
	}
	damaged := Listed{Directory: "damaged", Damage: "torn"}
	records := []Listed{damaged, at("a", 2, 3e9, 1e9), at("b", 3, 2e9), at("none", 1), at("c", 3, 1e9, 4e9)}
	for by, want := range map[string]string{
		"":      "damaged a b none c",
		"date":  "b c a none damaged",
		"gteps": "c a b damaged none",
	} {
		sorted := slices.Clone(records)
		SortList(sorted, by)
		var directories []string
		for _, l := range sorted {
			directories = append(directories, l.Directory)
		}
		must.Equal(t, strings.Join(directories, " "), want, by)
	}
}
