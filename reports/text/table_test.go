// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

const width = 100 // of the terminal

// A state is a verdict, with a color or without. It is never cut, so another column goes.
func TestStatesAreWhole(t *testing.T) {
	for _, state := range []string{"PARTLY CHECKED", colored("PARTLY CHECKED", reports.Fair)} {
		table := reports.NewTable("engine|#"+reports.Range+"|state", "")
		table.Add("cpu", "0.633 … 1.46", state)
		var b bytes.Buffer
		must.Do(Columns(&b, table, 35))
		if got := b.String(); !strings.Contains(got, state) || strings.Contains(got, reports.Range) {
			t.Errorf("want the state and no range, got\n%s", got)
		}
	}
}

// Twenty engines with long labels and the largest numbers that a record can hold.
func TestColumnsFitTheTerminal(t *testing.T) {
	for name, label := range map[string]string{
		"long options": "distributed:ranks=%d:partition=2d:grid=4096x4096:threads=128:shortcut=leaves",
		"wide letters": "名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎%d",
		"short":        "cpu%d",
	} {
		t.Run(name, func(t *testing.T) {
			table := reports.NewTable("engine|#number|#other number|state", "")
			for i := range 20 {
				table.Add(fmt.Sprintf(label, i), "1.234e+123", strings.Repeat("9", 40),
					colored("PARTLY CHECKED", reports.Fair))
			}
			var b bytes.Buffer
			must.Do(Columns(&b, table, width))
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if len(lines) != 22 {
				t.Fatalf("%d lines for 20 rows", len(lines))
			}
			for _, line := range lines {
				if n := text.StringWidthWithoutEscSequences(line); n > width {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if !strings.Contains(b.String(), colored("PARTLY CHECKED", reports.Fair)) || !strings.Contains(b.String(),
				"1.234e+123") {
				t.Errorf("the verdict or a number is cut:\n%s", &b)
			}
			seen := map[string]bool{}
			for _, line := range lines[2:] {
				if seen[line] && name != "long options" {
					t.Errorf("two variants look the same: %s", line)
				}
				seen[line] = true
			}
		})
	}
}

func narrow(t interface {
	Helper()
	Errorf(string, ...any)
}, table string) {
	t.Helper()
	for line := range strings.Lines(table) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > width {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// Names that can be read are worth more than the range of the rates, and verdicts and large rates are whole.
func TestTableFitsATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		engines []string
		source  string
		teps    record.Spread
		width   int
		want    []string
	}{
		"files": {[]string{"cpu", "2d"}, strings.Repeat("collection-of-networks-", 5) + ".gz", record.Spread{}, width, nil},
		"verdict": {[]string{strings.Repeat("long-engine-name-", 9)}, "", record.Spread{}, width,
			[]string{"PARTLY CHECKED", "63/64"}},
		"range": {[]string{"distributed-2d", "cpu"}, "uniform:1000000:16000000", record.Spread{}, 80,
			[]string{"distributed-2d  unif"}},
		"rates": {[]string{"long-engine-name"}, "", record.Spread{Min: 123456.789e9, FirstQuartile: 2e14, Median: 2e14,
			ThirdQuartile: 2e14, Max: 987654.321e9, Mean: 23456.789e9}, width, []string{"123000 … 988000"}},
	} {
		r := samples.Result(c.engines, 16)
		for i := range r.Runs {
			r.Runs[i].Roots[0].Validated = name != "verdict"
			if c.source != "" {
				r.Runs[i].GraphID = record.GraphID{Source: c.source}
			}
			if c.teps.Mean > 0 {
				r.Runs[i].Statistics.TEPS = c.teps
			}
		}
		for _, color := range []bool{false, true} {
			var b bytes.Buffer
			must.Do(Table(&b, report(r).Results[0], c.width, color))
			narrow(t, b.String())
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) || name == "range" && strings.Contains(b.String(), reports.Range) {
					t.Errorf("%s: want %q in\n%s", name, want, &b)
				}
			}
			must.Equal(t, strings.Contains(b.String(), "\x1b"), color, name)
		}
	}
}

// Names of variants stay different in a table: cut where they agree on a terminal, and whole in a pipe.
func TestNamesOfVariantsStayDifferent(t *testing.T) {
	variants := []string{"cpu:adjacency=csr:threads=2:alpha=15:latency=csr",
		"cpu:adjacency=csr:threads=4:alpha=15:latency=csr", "cpu:adjacency=packed:threads=2:alpha=15:latency=csr"}
	result := report(samples.Result(variants, 16)).Results[0]
	var screen, pipe strings.Builder
	must.Do(Table(&screen, result, width, false), Table(&pipe, result, 0, false))
	narrow(t, screen.String())
	names := map[string]bool{}
	for _, line := range strings.Split(screen.String(), "\n")[2:5] {
		names[strings.Fields(line)[0]] = true
	}
	must.Equal(t, len(names), 3, screen.String())
	for _, name := range variants {
		if !strings.Contains(pipe.String(), "\n"+name+" ") {
			t.Errorf("in a pipe %s is not named whole:\n%s", name, pipe.String())
		}
	}
}
