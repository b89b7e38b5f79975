// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// comparison is one side against each of the others, in words.
type comparison struct {
	Sides       []string // what each side is
	Table       reports.Table
	Results     []string // a sentence for each line of the table, and for each side with several
	Limits      []string // what the results cannot show
	Differences []string // other than speed
}

// Comparison writes comparisons with the same side A: a table with a line for each engine and graph, a sentence for
// each with the result, and what the sides do not have in common. width is that of Columns.
func Comparison(w io.Writer, all []compare.Comparison, width int) error {
	c := describe(all)
	detects := func(head reports.Cell) bool { return head.Text == detectableHead }
	if t, _ := fit(c.Table, width); len(t.Rows) > 0 && !slices.ContainsFunc(t.Head, detects) {
		c.Limits[0] = typicalRoot + "."
	}
	var b bytes.Buffer
	for i, lines := range [][]string{c.Sides, c.Results, c.Limits, c.Differences} {
		if len(lines) > 0 && b.Len() > 0 {
			b.WriteString("\n")
		}
		if len(lines) > 0 && i == 3 {
			b.WriteString("The sides differ in more than speed:\n")
		}
		if i == 1 && len(c.Table.Rows) > 0 {
			b.WriteString(rendered(c.Table, width) + "\n")
		}
		for _, line := range lines {
			b.WriteString(Wrap(line, min(cmp.Or(width, 80), 100)-4, "    ") + "\n")
		}
	}
	return flush(w, &b, "the comparison")
}

// ComparisonMarkdown writes the same for an issue or a pull request.
func ComparisonMarkdown(w io.Writer, all []compare.Comparison) error {
	return fill(w, "comparison.tmpl", describe(all))
}

// cleaned are lines with names from outside, fit for one line each.
func cleaned(lines []string) []string {
	for i, line := range lines {
		lines[i] = reports.Clean(line, 4*reports.SentenceLength)
	}
	return lines
}

func describe(all []compare.Comparison) (out comparison) {
	out.Table = comparisonTable(all)
	for i, c := range all {
		for _, side := range c.Sides[min(i, 1):] {
			if side.From != "" {
				out.Sides = append(out.Sides, sideText(side))
			}
		}
	}
	scatter := -1.0
	var apart []string // engines that have no graph in common with the first
	var records []record.Result
	for _, c := range all {
		records = slices.Concat(records, c.Sides[0].Results, c.Sides[1].Results)
		met := slices.ContainsFunc(c.Cells, func(cell compare.Cell) bool { return cell.RunsA > 0 && cell.RunsB > 0 })
		if betweenEngines(c) && !met {
			apart = append(apart, c.B)
			continue
		}
		for _, cell := range c.Cells {
			if ofEngines(c, cell) && (cell.RunsA == 0 || cell.RunsB == 0) {
				continue // a store has graphs that only some engines have searched
			}
			name, result := cellName(c, cell), cellResult(c, cell)
			if i := len(out.Results) - 1; i >= 0 && !cell.Compared() {
				// One sentence for all that cannot be compared for the same reason.
				if before, ok := strings.CutSuffix(out.Results[i], ": "+result); ok {
					out.Results, name = out.Results[:i], before+"; "+name
				}
			}
			out.Results = append(out.Results, name+": "+result)
			if limit := basis(cell); limit != "" && !slices.Contains(out.Limits, limit) {
				out.Limits = append(out.Limits, limit)
			}
			if cell.Scatter != nil {
				scatter = max(scatter, *cell.Scatter)
			}
		}
		if _, n := c.Overall(); n > 1 {
			out.Results = append(out.Results, c.Summary()+".")
		}
		for _, line := range dissimilarities(c) {
			if !slices.Contains(out.Differences, line) {
				out.Differences = append(out.Differences, line)
			}
		}
	}
	if len(apart) > 0 {
		out.Results = append(out.Results, fmt.Sprintf("These have no graph in common with %s: %s.",
			all[0].A, strings.Join(apart, ", ")))
	}
	if len(out.Table.Rows) > 0 {
		out.Limits = append([]string{typicalRoot + "; " + detectableHead +
			" is the slowdown that would be found 19 times in 20."}, out.Limits...)
	}
	if note := reports.NoDigest(records...); note != "" {
		out.Limits = append(out.Limits, note)
	}
	if scatter >= 0 {
		out.Limits = append(out.Limits, fmt.Sprintf("Runs of the same side differ by up to %s; with %d runs on each "+
			"side, the test takes that into account.", units.Percent(scatter, 2), compare.MinPairs))
	}
	for _, lines := range [][]string{out.Sides, out.Results, out.Differences} {
		cleaned(lines)
	}
	return out
}

// sideText says where the records of a side are, and on which machines, when and by which builds they were made.
func sideText(s compare.Side) string {
	var hosts, builds []string
	for _, r := range s.Results {
		hosts = append(hosts, reports.Joined(", ", reports.Name(r.Machine.Hostname), reports.Name(r.Machine.CPU)))
		builds = append(builds, reports.Joined(" ", reports.Name(r.Software.Version), reports.ShortBuild(r.Software.Commit)))
	}
	runs := "started " + reports.Dated(s.Results[0].Started)
	if n := len(s.Results); n > 1 {
		runs = fmt.Sprintf("%d runs, the first %s", n, runs)
	}
	distinct := func(all []string) string {
		return reports.Sentence(strings.Join(slices.Compact(slices.Sorted(slices.Values(all))), " and "))
	}
	return fmt.Sprintf("%s is %s: %s; %s; teps %s", s.Name, reports.Sentence(s.From), distinct(hosts), runs,
		distinct(builds))
}

// Engines says how the engines of a result compare with the first on a typical root, a line each.
func Engines(r record.Result) (lines []string) {
	sides := compare.Engines([]record.Result{r})
	for _, side := range sides[min(1, len(sides)):] {
		if line := compare.Of(sides[0], side).Summary(); line != "" {
			lines = append(lines, line+waits(sides[0], side)+".")
		}
	}
	return cleaned(lines)
}

// waits returns the end of a sentence that says in how many searches engines waited for processors; empty: in few.
func waits(sides ...compare.Side) string {
	var all []string
	for _, side := range sides {
		delayed, searches := 0, 0
		for _, result := range side.Results {
			for _, run := range result.Runs {
				if n, many := (reports.Summary{Run: run}).Delayed(); many {
					delayed, searches = delayed+n, searches+len(run.Roots)
				}
			}
		}
		if delayed > 0 {
			all = append(all, fmt.Sprintf("%s in %d of %s", side.Name, delayed,
				reports.Plural(searches, "search", "searches")))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; waits for processors: " + strings.Join(all, ", ")
}

// ofEngines reports whether the sides of a comparison are engines.
func ofEngines(c compare.Comparison, cell compare.Cell) bool {
	return cmp.Or(cell.EngineB, cell.Engine) == c.B
}

// betweenEngines reports whether all lines of a comparison are of the same two engines.
func betweenEngines(c compare.Comparison) bool {
	return !slices.ContainsFunc(c.Cells, func(cell compare.Cell) bool { return !ofEngines(c, cell) })
}

type comparisonLine struct {
	compare.Cell
	side string
}

// On returns the graph of the line.
func (l comparisonLine) On() record.GraphID { return l.Graph }

func comparisonTable(all []compare.Comparison) reports.Table {
	var lines []comparisonLine
	engines := true
	for _, c := range all {
		engines = engines && betweenEngines(c)
		for _, cell := range c.Cells {
			if cell.Compared() { // a sentence has the reason for the others
				lines = append(lines, comparisonLine{cell, c.B})
			}
		}
	}
	a, b, ratio := reports.Clean(all[0].A, 12), "", "ratio"
	if len(all) == 1 {
		b = reports.Clean(all[0].B, 12)
		b, ratio = b+" ", b+"/"+a
	} else if a != all[0].A {
		a = "A" // the sentences have the long name
	}
	t := reports.NewRunTable(lines,
		fmt.Sprintf("engine|graph|side|#roots|#%s GTEPS|#%sGTEPS|#%s|#%s|verdict", a, b, ratio, detectableHead), "")
	for _, l := range lines {
		estimate, low, high := l.Typical.Texts()
		verdict := string(l.Verdict)
		if l.Verdict.Differs() {
			verdict = l.Typical.Speed()
		}
		t.Add(reports.Sentence(cmp.Or(l.EngineB, l.Engine)), reports.Sentence(l.Graph.Cell()), reports.Sentence(l.side),
			strconv.Itoa(l.Common), reports.GTEPS(l.TEPSA), reports.GTEPS(l.TEPSB),
			fmt.Sprintf("%s [%s %s]", estimate, low, high), detectable(l.Cell), verdict)
	}
	t.Head[8].Class = "whole"
	if len(all) == 1 || engines {
		t.Remove("side")
	}
	return t
}

const (
	detectableHead = "detects"
	typicalRoot    = "Ratios are those of a typical root, with 95 % intervals"
)

// detectable is the smallest slowdown that would be found 19 times in 20.
func detectable(c compare.Cell) string {
	switch {
	case c.Detectable > compare.Undetectable:
		return "nothing"
	case c.Detectable < 1e-3:
		return "< 0.1 %"
	}
	return units.Percent(c.Detectable, 2)
}

func cellName(c compare.Comparison, cell compare.Cell) string {
	switch {
	case ofEngines(c, cell):
		return cell.Graph.String()
	case cell.EngineB != "":
		return fmt.Sprintf("%s against %s, %s", cell.EngineB, cell.Engine, cell.Graph)
	}
	return fmt.Sprintf("%s, %s", cell.Engine, cell.Graph)
}

// cellResult explains one line of the table.
func cellResult(c compare.Comparison, cell compare.Cell) string {
	between := fmt.Sprintf("between %s and %s", c.A, c.B)
	if !cell.Compared() {
		return fmt.Sprintf("no comparison %s: %s.", between, cell.Reason)
	}
	p := "p < 0.0001"
	if cell.P >= 1e-4 {
		p = "p = " + units.Significant(cell.P, 2)
	}
	evidence := cell.Typical.Text("to") + ", " + p
	switch cell.Verdict {
	case compare.Same:
		return fmt.Sprintf("no difference found %s (%s).", between, evidence)
	case compare.Undecided:
		return fmt.Sprintf("cannot tell %s: %s (%s).", between, cell.Reason, evidence)
	}
	return fmt.Sprintf("%s is %s than %s (%s).", c.B, cell.Typical.Speed(), c.A, evidence)
}

// basis says what was paired, and the limits of that.
func basis(cell compare.Cell) string {
	switch {
	case !cell.Compared() || cell.Scatter != nil || cell.Unit == compare.ByRoot && cell.Verdict == compare.Same:
		return ""
	case cell.Unit == compare.ByRun:
		return fmt.Sprintf("The test compares %d pairs of runs.", min(cell.RunsA, cell.RunsB))
	}
	return "With one run on each side, anything that made a whole run slow or fast looks like a difference: " +
		"repeat both to be sure."
}

// ComparisonFailures returns the reasons why comparisons fail: nothing could be compared or, with a limit (0.05: five
// percent), an engine on a graph of A is certainly slower in B by more than the limit, or could not be compared.
func ComparisonFailures(all []compare.Comparison, limit *float64) (failures []string) {
	filled := func(c compare.Comparison) bool { _, n := c.Overall(); return n > 0 }
	engines := !slices.ContainsFunc(all, func(c compare.Comparison) bool { return !betweenEngines(c) })
	if engines && !slices.ContainsFunc(all, filled) {
		return []string{"there is nothing to compare with the searches of " + all[0].A}
	}
	for _, c := range all {
		if !filled(c) && !engines { // of the engines of a store, some may have been compared
			failures = append(failures, fmt.Sprintf("there is nothing to compare: no engine has searches of the same graph in "+
				"%s and %s", c.A, c.B))
		}
		for _, cell := range c.Cells {
			switch {
			case limit == nil:
			case cell.SlowerThan(*limit):
				failures = append(failures, fmt.Sprintf("%s: %s is slower than %s by more than %g %%: at least %.1f %%",
					cellName(c, cell), c.B, c.A, *limit*100, 100*(1-cell.Typical.High)))
			case !cell.Compared() && cell.RunsA > 0:
				failures = append(failures, fmt.Sprintf("%s: not compared: %s", cellName(c, cell), cell.Reason))
			}
		}
	}
	return cleaned(failures)
}

// dissimilarities are lines about differences other than speed, one for all graphs of an engine that have it. Of
// engines, only the differences of the input count.
func dissimilarities(c compare.Comparison) (lines []string) {
	line := func(d compare.Difference) string {
		return fmt.Sprintf("%s: %s %s; %s %s", reports.Name(d.What), c.A, reports.Sentence(strings.Join(d.A, ", ")), c.B,
			reports.Sentence(strings.Join(d.B, ", ")))
	}
	for _, d := range c.Differences {
		lines = append(lines, line(d))
	}
	type difference struct{ engine, line, graph string }
	var all []difference
	graphs := map[string]int{} // by engine
	for _, cell := range c.Cells {
		if !ofEngines(c, cell) {
			graphs[cell.Engine]++
			for _, d := range cell.Differences {
				all = append(all, difference{cell.Engine, line(d), cell.Graph.String()})
			}
		}
	}
	for _, same := range reports.Grouped(all, func(d difference) string { return d.engine + "\x00" + d.line }) {
		on := same[0].engine
		if n := len(same); n == 1 || n < graphs[on] {
			for _, d := range same {
				on += ", " + d.graph
			}
		}
		lines = append(lines, on+": "+same[0].line)
	}
	return lines
}
