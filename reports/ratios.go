package reports

import (
	"fmt"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// RowKey names a row of a table: the engine as tables of several runs show it, and the graph.
type RowKey struct {
	Engine string
	Graph  record.GraphID
}

// Ratio is the rate of one row over that of another on a typical root, by the rules of `teps compare`.
type Ratio struct {
	Text     string `json:"text,omitempty"` // a sign for the verdict, and the ratio; empty: they cannot be compared
	Interval string `json:"interval,omitempty"`
	Class    string `json:"class,omitempty"` // good if it is certainly faster, bad if it is certainly slower
	Why      string `json:"why,omitempty"`   // they cannot be compared, or what else differs
}

// maxRatios is the number of pairs of rows that a report compares, which takes some tenths of a second.
const maxRatios = 2000

// Ratios compares all rows on the same graph: those of single runs or, of many records, those of variants. The engine
// in the second place is the base. A report of too many pairs has none.
func (r Report) Ratios() map[RowKey]map[string]Ratio {
	var rows [][]Run
	if r.Many() {
		rows = r.variants()
	} else {
		for _, run := range r.Runs() {
			rows = append(rows, []Run{run})
		}
	}
	var pairs [][2]compare.Side
	var keys [][2]RowKey
	for i, row := range rows {
		for _, base := range rows[:i] {
			if base[0].GraphID == row[0].GraphID && base[0].Label != row[0].Label {
				pairs = append(pairs, [2]compare.Side{side(base), side(row)})
				keys = append(keys, [2]RowKey{{base[0].Label, base[0].GraphID}, {row[0].Label, row[0].GraphID}})
			}
		}
	}
	out := map[RowKey]map[string]Ratio{}
	if len(pairs) > maxRatios {
		return out
	}
	for i, pair := range pairs {
		c := compare.Of(pair[0], pair[1])
		for k, key := range keys[i] {
			if out[key] == nil {
				out[key] = map[string]Ratio{}
			}
			out[key][keys[i][1-k].Engine] = ratioOf(c, k == 0)
		}
	}
	return out
}

// side is runs as a side of a comparison.
func side(runs []Run) compare.Side {
	s := compare.Side{Name: runs[0].Label}
	for _, run := range runs {
		alone := run.of
		alone.Runs = []record.Run{run.Run}
		s.Results = append(s.Results, alone)
	}
	return s
}

// ratioOf is the only ratio of a comparison or, inverted, that of A to B.
func ratioOf(c compare.Comparison, inverted bool) Ratio {
	cell := c.Cells[0]
	if !cell.Compared() {
		return Ratio{Why: Sentence(cell.Reason)}
	}
	t, verdict := *cell.Typical, cell.Verdict
	if inverted {
		t = compare.Ratio{Estimate: 1 / t.Estimate, Low: 1 / t.High, High: 1 / t.Low}
		switch verdict {
		case compare.Slower:
			verdict = compare.Faster
		case compare.Faster:
			verdict = compare.Slower
		}
	}
	var others []string
	for _, d := range c.Differences {
		others = append(others, Name(d.What))
	}
	for _, d := range cell.Differences {
		if cell.EngineB == "" { // two engines differ in all of these
			others = append(others, Name(d.What))
		}
	}
	out := Ratio{Class: map[compare.Verdict]string{compare.Slower: "bad", compare.Faster: "good"}[verdict]}
	sign := map[compare.Verdict]string{compare.Slower: "▼ ", compare.Faster: "▲ ", compare.Same: "= ",
		compare.Undecided: "? "}[verdict]
	digits := func(x float64) string { return units.Significant(x, 3) }
	out.Text, out.Interval = sign+digits(t.Estimate), digits(t.Low)+" to "+digits(t.High)
	if len(others) > 0 {
		out.Text += " *"
		out.Why = fmt.Sprintf("what also differs: %s", Joined(", ", others...))
	}
	return out
}
