// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

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
