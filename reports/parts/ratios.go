// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"strings"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/reports"
)

// Ratio is the rate of one row over that of another on a typical root, by the rules of `teps compare`.
type Ratio struct {
	Text     string `json:"text,omitempty"` // a sign for the verdict, and the ratio; empty: they cannot be compared
	Interval string `json:"interval,omitempty"`
	Class    string `json:"class,omitempty"` // good if it is certainly faster, bad if it is certainly slower
	Why      string `json:"why,omitempty"`   // they cannot be compared, or what else differs
}

// maxRatios is the maximum number of ratios of a report. They take some tenths of a second.
const maxRatios = 4000

// Ratios compares all rows of a report on the same graph. The engine in the second place is the base. If there would be
// more than maxRatios, there are none.
func Ratios(r reports.Report) map[reports.RowKey]map[string]Ratio {
	out, n := map[reports.RowKey]map[string]Ratio{}, 0
	for _, row := range r.All {
		against := map[string]Ratio{}
		for _, base := range r.All {
			if base.GraphID != row.GraphID || base.Label == row.Label {
				continue
			}
			if n++; n > maxRatios {
				return nil
			}
			against[base.Label] = ratioOf(compare.Of(side(base), side(row)))
		}
		if len(against) > 0 {
			out[row.Key] = against
		}
	}
	return out
}

// verdictClass is the class of cells that say slower or faster.
func verdictClass(v compare.Verdict) string {
	return map[compare.Verdict]string{compare.Slower: "bad", compare.Faster: "good"}[v]
}

func side(s reports.Summary) compare.Side { return compare.Side{Name: s.Label, Results: s.Repeats} }

// ratioOf is the only ratio of a comparison.
func ratioOf(c compare.Comparison) Ratio {
	cell := c.Cells[0]
	if !cell.Compared() {
		return Ratio{Why: reports.Sentence(cell.Reason)}
	}
	sign := map[compare.Verdict]string{compare.Slower: "▼ ", compare.Faster: "▲ ", compare.Same: "= ",
		compare.Undecided: "? "}[cell.Verdict]
	estimate, low, high := cell.Typical.Texts()
	out := Ratio{sign + estimate, low + " to " + high,
		verdictClass(cell.Verdict),
		strings.TrimPrefix(reports.Sentence(cell.Reason), reports.Missing)}
	differences := c.Differences
	if cell.EngineB == "" { // two engines differ in their options as well
		differences = append(differences, cell.Differences...)
	}
	var others []string
	for _, d := range differences {
		others = append(others, reports.Name(d.What))
	}
	if len(others) > 0 {
		out.Text += " *"
		out.Why = reports.Joined("; ", out.Why, "what also differs: "+strings.Join(others, ", "))
	}
	return out
}
