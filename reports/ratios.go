package reports

import (
	"strings"

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

// maxRatios is the number of ratios that a report has at most. They take some tenths of a second.
const maxRatios = 4000

// Ratios compares all rows on the same graph: those of single runs or, of many records, those of variants. The engine
// in the second place is the base. Of more than maxRatios there are none.
func (r Report) Ratios() map[RowKey]map[string]Ratio {
	var rows [][]Run
	for _, run := range r.Runs() {
		rows = append(rows, []Run{run})
	}
	if r.Many() {
		rows = r.variants()
	}
	out, n := map[RowKey]map[string]Ratio{}, 0
	for _, row := range rows {
		against := map[string]Ratio{}
		for _, base := range rows {
			if base[0].GraphID != row[0].GraphID || base[0].Label == row[0].Label {
				continue
			}
			if n++; n > maxRatios {
				return nil
			}
			against[base[0].Label] = ratioOf(compare.Of(side(base), side(row)))
		}
		if len(against) > 0 {
			out[RowKey{row[0].Label, row[0].GraphID}] = against
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

// ratioOf is the only ratio of a comparison.
func ratioOf(c compare.Comparison) Ratio {
	cell := c.Cells[0]
	if !cell.Compared() {
		return Ratio{Why: Sentence(cell.Reason)}
	}
	digits := func(x float64) string { return units.Significant(x, 3) }
	sign := map[compare.Verdict]string{compare.Slower: "▼ ", compare.Faster: "▲ ", compare.Same: "= ",
		compare.Undecided: "? "}[cell.Verdict]
	out := Ratio{sign + digits(cell.Typical.Estimate), digits(cell.Typical.Low) + " to " + digits(cell.Typical.High),
		map[compare.Verdict]string{compare.Slower: "bad", compare.Faster: "good"}[cell.Verdict], ""}
	differences := c.Differences
	if cell.EngineB == "" { // two engines differ in their options as well
		differences = append(differences, cell.Differences...)
	}
	var others []string
	for _, d := range differences {
		others = append(others, Name(d.What))
	}
	if len(others) > 0 {
		out.Text, out.Why = out.Text+" *", "what also differs: "+strings.Join(others, ", ")
	}
	return out
}
