// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/perf/benchfmt"
	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// Tables fit the terminal and are as they were there: names stay different, and verdicts and numbers whole, at the cost
// of columns that matter less. In a pipe everything is whole.
func TestTablesFitTheTerminal(t *testing.T) {
	states := reports.NewTable("engine|#"+reports.Range+"|state", "")
	states.Add("cpu", "0.633 … 1.46", "PARTLY CHECKED")
	tables := map[string]reports.Table{"35 state": states}
	for name, label := range map[string]string{
		"long options": "distributed:ranks=%d:partition=2d:grid=4096x4096:threads=128:shortcut=leaves",
		"wide letters": "名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎の名前です名前がとても長い引擎%d",
		"short":        "cpu%d",
	} {
		table := reports.NewTable("engine|#number|#other number|state", "")
		for i := range 20 {
			table.Add(fmt.Sprintf(label, i), "1.234e+123", strings.Repeat("9", 40), "PARTLY CHECKED")
		}
		tables["100 "+name] = table
	}
	runs := func(teps float64, source string, engines ...string) reports.Table {
		r := samples.Result(engines, 16)
		for i := range r.Runs {
			if r.Runs[i].Roots[0].Validated = false; source != "" {
				r.Runs[i].GraphID = record.GraphID{Source: source}
			}
			if teps > 0 {
				r.Runs[i].Statistics.TEPS = record.Spread{Min: 123456.789e9, FirstQuartile: teps, Median: teps,
					ThirdQuartile: teps, Max: 987654.321e9, Mean: 23456.789e9}
			}
		}
		return report(r).Results[0].RunTable(false)
	}
	tables["100 files"] = runs(0, strings.Repeat("collection-of-networks-", 5)+".gz", "cpu", "2d")
	tables["100 long name"] = runs(0, "", strings.Repeat("long-engine-name-", 9))
	tables["80 range"] = runs(0, "uniform:1000000:16000000", "distributed-2d", "cpu")
	tables["80 default run"] = runs(0, "", "cpu", "distributed-2d", "distributed-1d-dest")
	tables["100 large rates"] = runs(2e14, "", "long-engine-name")
	tables["100 variants"] = runs(0, "", "cpu:adjacency=csr:threads=2:alpha=15:latency=csr",
		"cpu:adjacency=csr:threads=4:alpha=15:latency=csr", "cpu:adjacency=packed:threads=2:alpha=15:latency=csr")
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		var width int
		must.Get(fmt.Sscan(name, &width))
		for _, columns := range []int{width, 0} {
			var b strings.Builder
			must.Do(Columns(&b, tables[name], columns))
			fmt.Fprintf(&all, "%s\n%s\n", name, b.String())
			for line := range strings.Lines(b.String()) {
				if n := text.StringWidth(strings.TrimSuffix(line, "\n")); columns > 0 && n > columns {
					t.Errorf("%s: %d columns: %q", name, n, line)
				}
			}
		}
	}
	samples.Golden(t, "tables", all.String())
}

// A record names its engines, options and host. None of these is a formula to a spreadsheet that opens the table, and
// none has a control character.
func TestCSVHasNoFormulas(t *testing.T) {
	for text, want := range map[string]string{"=cmd|'/c calc'!A1": "'=cmd|'/c calc'!A1", "+1+1": "'+1+1", "-2+3": "'-2+3",
		"@SUM(A1)": "'@SUM(A1)", "\t=1+1": "' =1+1", "\r=1+1": "' =1+1", "a\x1b[31m\r\nb": "a [31m  b",
		"\u202eb\xff": " b "} {
		r := samples.Result([]string{text}, 16)
		r.ID, r.Machine.Hostname, r.Machine.CPU, r.Software.Commit = text, text, text, text
		r.Runs[0].Description.Version, r.Runs[0].Options = text, map[string]string{text: "1"}
		var b bytes.Buffer
		must.Do(CSV(&b, report(r)))
		rows := must.Get(csv.NewReader(&b).ReadAll())
		kept := 0
		for _, cell := range rows[1] {
			if strings.HasPrefix(cell, want) {
				kept++
			}
		}
		must.Equal(t, kept, 8, text, want, rows[1])
	}
}

// Each label is a separate benchmark, and benchstat reads it as one part of the name.
func TestBenchGivesEveryEngineItsOwnName(t *testing.T) {
	long := strings.Repeat("distributed-ranks=16-", 4)
	names := []string{long + "owner=block", long + "owner=modulo", "a/b", "a-b", "a b", "-a-b-", "a%2Fb", "cpu:threads=1",
		"cpu-threads=1", "\xff", "\xfe", "\ufffd", "引擎", "引\n擎"}
	var text bytes.Buffer
	must.Do(Bench(&text, report(samples.Result(names, 16))))
	seen := map[string]int{}
	for r := benchfmt.NewReader(&text, "records"); r.Scan(); {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue // a unit
		}
		_, parts := result.Name.Parts()
		if len(parts) != 2 || string(parts[1]) != "/scale=16" {
			t.Fatalf("the name is %s", result.Name)
		}
		seen[string(parts[0])]++
	}
	if len(seen) != len(names) || seen["/engine=cpu:threads=1"] != 66 || seen["/engine=a%2Fb"] != 66 {
		t.Errorf("%d names, want %d with 66 results each: %v", len(seen), len(names), seen)
	}
}

// goodMarkdown checks what GitHub needs to make tables of tables: a line under the head, as many cells in every row;
// and that no tag is there but those that fold.
func goodMarkdown(t *testing.T, text string) {
	t.Helper()
	cell := regexp.MustCompile(`(?:\\.|[^\\|])*\|`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := len(cell.FindAllString(line[1:], -1))
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| -") {
			if i > 0 && lines[i-1] != "" {
				t.Errorf("no empty line before the table of %q", line)
			}
		}
		if !strings.HasPrefix(lines[i-1], "|") {
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "| -") {
				t.Errorf("no line under the head %q", line)
			}
			continue
		}
		must.Equal(t, cells, len(cell.FindAllString(lines[i-1][1:], -1)), line)
	}
	for _, tag := range regexp.MustCompile(`(\\*)<[^>]*>?`).FindAllStringSubmatch(text, -1) {
		switch whole := strings.TrimLeft(tag[0], `\`); {
		case len(tag[1])%2 == 1: // escaped
		case whole == "<details>", whole == "</details>", whole == "<summary>", whole == "</summary>", whole == "<sub>",
			whole == "</sub>", whole == "<!-- -->":
		case strings.HasPrefix(whole, "<https://doi.org/"):
		default:
			t.Errorf("the tag %q", whole)
		}
	}
	if strings.ContainsAny(text, "\x00\x1b\u202e") {
		t.Error("a control character")
	}
}

func TestMarkdownEscapesNames(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":            `a\|b`,
		"@someone":       "@<!-- -->someone",
		"#12":            `\#<!-- -->12`,
		"GH-12":          "GH<!-- -->-12",
		"<b>":            `\<b\>`,
		"&lt;":           "&amp;lt;",
		"- x":            `\- x`,
		"https://x.test": "https:<!-- -->//x.test",
		"2D, s20":        "2D, s20",
	} {
		must.Equal(t, literal(in), want, in)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := reports.Clean(rapid.String().Draw(r, "text"), 60)
		result := samples.FewRoots([]string{"cpu"}, 16)
		result.ID, result.Machine.CPU = text, text
		var b strings.Builder
		if err := Markdown(&b, report(result)); err != nil {
			r.Fatal(err)
		}
		goodMarkdown(t, b.String())
	})
}
