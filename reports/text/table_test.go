// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

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
