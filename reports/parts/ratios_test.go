// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

func ratiosOf(records ...record.Result) map[reports.RowKey]map[string]Ratio {
	r := must.Get(reports.New(nil, records...))
	return Ratios(r)
}

// A ratio and its inverse have the same verdict from the other side, and rows are compared as `teps compare` does.
func TestRatiosOfRows(t *testing.T) {
	results := samples.Store(1, 1, 1.5)
	key := func(engine string) reports.RowKey {
		return reports.RowKey{Engine: engine, Graph: record.GraphID{Scale: 18}}
	}
	all := ratiosOf(results...)
	faster, slower := all[key("cpu [2]")]["cpu [1]"], all[key("cpu [1]")]["cpu [2]"]
	if faster.Class != "good" || faster.Text != "▲ 1.497 *" || faster.Why != "what also differs: teps" {
		t.Errorf("the faster build against the other: %+v", faster)
	}
	if slower.Class != "bad" || slower.Text != "▼ 0.668 *" {
		t.Errorf("the slower build against the other: %+v", slower)
	}
	if same := all[key("serial [2]")]["serial [1]"]; same.Class != "" || same.Text[:2] != "= " {
		t.Errorf("builds of the same speed: %+v", same)
	}
	if other := all[key("serial [1]")]["cpu [1]"]; other.Text != "" || other.Why == "" {
		t.Errorf("engines that searched from other roots: %+v", other)
	}
	results[1].Runs[0].Roots[3].Rule = 5
	wrong := ratiosOf(results...)[key("cpu [2]")]["cpu [1]"]
	if wrong.Text != "" || wrong.Why != "cpu [2] has wrong searches" {
		t.Errorf("a run with a wrong search: %+v", wrong)
	}
}

// Of many records, variants with their repeats are compared, and too many pairs are not compared at all.
func TestRatiosOfVariants(t *testing.T) {
	var many []record.Result
	for i := range 9 {
		many = append(many, samples.Store(1, 1)...)
		many[i].ID += string(rune('a' + i))
		for k := range many[i].Runs {
			many[i].Runs[k].Engine.Options = map[string]string{"threads": string(rune('1' + i%3))}
			many[i].Runs[k].Options = many[i].Runs[k].Engine.Options
		}
	}
	all := ratiosOf(many...)
	if got := all[reports.RowKey{Engine: "cpu #2", Graph: record.GraphID{Scale: 18}}]["cpu"]; got.Text != "= 1.000 *" ||
		got.Why != "what also differs: option threads" {
		t.Errorf("a variant against another: %+v, want no difference, and the option", got)
	}
	var names []string
	for i := range 64 {
		names = append(names, "engine"+string(rune('A'+i)))
	}
	must.Equal(t, len(ratiosOf(samples.Result(names, 16))), 0, "rows with ratios of too many pairs")
}
