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
	Table       reports.Table
	Results     []string // a sentence for each line of the table, and for each side with several
	Limits      []string // what the results cannot show
	Differences []string // other than speed
}

// Comparison writes comparisons with the same side A: a table with a line for each engine and graph, a sentence for
// each with the result, and what the sides do not have in common. width is that of Columns.
func Comparison(w io.Writer, all []compare.Comparison, width int) error {
	c := describe(all)
	var b bytes.Buffer
	if len(c.Table.Rows) > 0 {
		b.WriteString(rendered(c.Table, width))
	}
	columns := min(cmp.Or(width, 80), 100) - 4
	for i, lines := range [][]string{c.Results, c.Limits, c.Differences} {
		if len(lines) > 0 && b.Len() > 0 {
			b.WriteString("\n")
		}
		if len(lines) > 0 && i == 2 {
			b.WriteString("The sides differ in more than speed:\n")
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "%s\n", Wrap(line, columns, "    "))
		}
	}
	return flush(w, &b, "the comparison")
}

// ComparisonMarkdown writes the same for an issue or a pull request.
func ComparisonMarkdown(w io.Writer, all []compare.Comparison) error {
	return fill(w, "comparison.tmpl", describe(all))
}

func describe(all []compare.Comparison) (out comparison) {
	out.Table = comparisonTable(all)
	scatter := -1.0
	var apart []string // engines that have no graph in common with the first
	for _, c := range all {
		met := slices.ContainsFunc(c.Cells, func(cell compare.Cell) bool { return cell.RunsA > 0 && cell.RunsB > 0 })
		if betweenEngines(c) && !met {
			apart = append(apart, reports.Sentence(c.B))
			continue
		}
		for _, cell := range c.Cells {
			if ofEngines(c, cell) && (cell.RunsA == 0 || cell.RunsB == 0) {
				continue // a store has graphs that only some engines have searched
			}
			sentence := comparisonSentence(c, cell)
			if i := len(out.Results) - 1; i >= 0 && !cell.Compared() {
				// One sentence for all that cannot be compared for the same reason.
				name := cellName(c, cell)
				if before, ok := strings.CutSuffix(out.Results[i], strings.TrimPrefix(sentence, name)); ok {
					out.Results = out.Results[:i]
					sentence = before + "; " + sentence
				}
			}
			out.Results = append(out.Results, sentence)
			if limit := basis(cell); limit != "" && !slices.Contains(out.Limits, limit) {
				out.Limits = append(out.Limits, limit)
			}
			if cell.Scatter != nil {
				scatter = max(scatter, *cell.Scatter)
			}
		}
		if _, n := c.Overall(); n > 1 {
			out.Results = append(out.Results, overall(c))
		}
		for _, line := range dissimilarities(c) {
			if !slices.Contains(out.Differences, line) {
				out.Differences = append(out.Differences, line)
			}
		}
	}
	if len(apart) > 0 {
		out.Results = append(out.Results, fmt.Sprintf("These have no graph in common with %s: %s.",
			reports.Sentence(all[0].A), strings.Join(apart, ", ")))
	}
	if scatter >= 0 {
		out.Limits = append(out.Limits, fmt.Sprintf("Runs of the same side differ by up to %s; with %d runs on each "+
			"side, the test takes that into account.", percentText(scatter), compare.MinPairs))
	}
	return out
}

// Engines says how the engines of a result compare with the first on a typical root, a line each. A result of one
// engine has none.
func Engines(r record.Result) (lines []string) {
	sides := compare.Engines([]record.Result{r})
	for _, side := range sides[min(1, len(sides)):] {
		c := compare.Of(sides[0], side)
		if _, n := c.Overall(); n > 0 {
			lines = append(lines, overall(c))
		}
	}
	return lines
}

// ofEngines reports whether the sides of a comparison are engines.
func ofEngines(c compare.Comparison, cell compare.Cell) bool {
	return cmp.Or(cell.EngineB, cell.Engine) == c.B
}

// betweenEngines reports whether all lines of a comparison are of the same two engines.
func betweenEngines(c compare.Comparison) bool {
	return !slices.ContainsFunc(c.Cells, func(cell compare.Cell) bool { return !ofEngines(c, cell) })
}

// comparisonLine is a line of the table.
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
		for _, cell := range c.Cells {
			engines = engines && ofEngines(c, cell)
			if cell.Compared() { // a sentence says why the others are not
				lines = append(lines, comparisonLine{cell, c.B})
			}
		}
	}
	const columns = "engine|graph|side|#roots|#%s GTEPS|#%sGTEPS|#%s|verdict"
	var a, b, ratio string
	if len(all) == 1 {
		a, b = reports.Clean(all[0].A, 12), reports.Clean(all[0].B, 12)
		b, ratio = b+" ", b+"/"+a
	} else if a, ratio = reports.Clean(all[0].A, 12), "ratio"; a != reports.Sentence(all[0].A) {
		a = "A" // the sentences have the long name
	}
	t := reports.NewRunTable(lines, fmt.Sprintf(columns, a, b, ratio), "")
	for _, l := range lines {
		ratio := fmt.Sprintf("%s [%s %s]", digits(l.Typical.Estimate), digits(l.Typical.Low), digits(l.Typical.High))
		t.Add(reports.Sentence(cmp.Or(l.EngineB, l.Engine)), reports.Sentence(l.Graph.Cell()), reports.Sentence(l.side),
			strconv.Itoa(l.Common), reports.GTEPS(l.TEPSA), reports.GTEPS(l.TEPSB), ratio, string(l.Verdict))
	}
	t.Head[7].Class = "whole"
	if len(all) == 1 || engines {
		t.Remove("side")
	}
	return t
}

func digits(x float64) string { return units.Significant(x, 3) }

func cellName(c compare.Comparison, cell compare.Cell) string {
	name := reports.Sentence(cell.Engine)
	switch {
	case ofEngines(c, cell):
		return reports.Sentence(cell.Graph.String())
	case cell.EngineB != "":
		name = reports.Sentence(cell.EngineB) + " against " + name
	}
	return fmt.Sprintf("%s, %s", name, reports.Sentence(cell.Graph.String()))
}

// comparisonSentence explains one line of the table.
func comparisonSentence(c compare.Comparison, cell compare.Cell) string {
	name := cellName(c, cell)
	between := fmt.Sprintf("between %s and %s", reports.Sentence(c.A), reports.Sentence(c.B))
	if !cell.Compared() {
		return fmt.Sprintf("%s: no comparison %s: %s.", name, between, reports.Sentence(cell.Reason))
	}
	switch ratio := *cell.Typical; {
	case cell.Verdict == compare.Same:
		return fmt.Sprintf("%s: no difference found %s (%s). %s", name, between, evidence(cell), detectable(cell.Detectable))
	case cell.Verdict == compare.Undecided:
		return fmt.Sprintf("%s: cannot tell %s: %s (%s).", name, between, cell.Reason, evidence(cell))
	case ratio.Estimate >= 2 || ratio.Estimate <= 0.5:
		return fmt.Sprintf("%s: %s.", name, times(c, ratio))
	case cell.Verdict == compare.Slower:
		return fmt.Sprintf("%s: %s is %s slower than %s (%s).", name, reports.Sentence(c.B), percentText(1-ratio.Estimate),
			reports.Sentence(c.A), evidence(cell))
	default:
		return fmt.Sprintf("%s: %s is %s faster than %s (%s).", name, reports.Sentence(c.B), percentText(ratio.Estimate-1),
			reports.Sentence(c.A), evidence(cell))
	}
}

// times says which side is how many times as fast as the other: cpu is 1.94 (1.84 to 2.04) times as fast as serial.
func times(c compare.Comparison, r compare.Ratio) string {
	fast, slow := c.B, c.A
	if r.Estimate < 1 {
		fast, slow, r = slow, fast, compare.Ratio{Estimate: 1 / r.Estimate, Low: 1 / r.High, High: 1 / r.Low}
	}
	return fmt.Sprintf("%s is %s (%s to %s) times as fast as %s", reports.Sentence(fast), digits(r.Estimate),
		digits(r.Low), digits(r.High), reports.Sentence(slow))
}

// overall sums up all lines of a comparison.
func overall(c compare.Comparison) string {
	switch mean, n := c.Overall(); {
	case n > 1:
		return fmt.Sprintf("%s: geometric mean, smallest and largest of %d ratios.", times(c, mean), n)
	case mean.Low <= 1 && mean.High >= 1:
		return fmt.Sprintf("no difference found between %s and %s (ratio %s to %s).", reports.Sentence(c.A),
			reports.Sentence(c.B), digits(mean.Low), digits(mean.High))
	default:
		return times(c, mean) + "."
	}
}

// detectable says how large a slowdown would have been found.
func detectable(share float64) string {
	if share > 0.95 {
		return "No slowdown, however large, would have been found 19 times in 20."
	}
	return fmt.Sprintf("A slowdown of %s or more would have been found 19 times in 20.", percentText(share))
}

// evidence is the interval as percentages, and p.
func evidence(cell compare.Cell) string {
	p := "p < 0.0001"
	if cell.P >= 1e-4 {
		p = "p = " + units.Significant(cell.P, 2)
	}
	return fmt.Sprintf("%+.1f %% to %+.1f %%, %s", 100*(cell.Typical.Low-1), 100*(cell.Typical.High-1), p)
}

// basis says what was paired, and what that cannot show.
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

// ComparisonFailures says what makes comparisons fail: nothing could be compared or, with a limit (0.05: five per
// cent), engines at scales of A that are slower in B by more than that for sure, or that could not be compared.
func ComparisonFailures(all []compare.Comparison, limit *float64) (failures []string) {
	empty := func(c compare.Comparison) bool { _, n := c.Overall(); return n == 0 }
	engines := !slices.ContainsFunc(all, func(c compare.Comparison) bool { return !betweenEngines(c) })
	if engines && !slices.ContainsFunc(all, func(c compare.Comparison) bool { return !empty(c) }) {
		return []string{"there is nothing to compare with the searches of " + reports.Sentence(all[0].A)}
	}
	for _, c := range all {
		if empty(c) && !engines { // of the engines of a store, some may have been compared
			failures = append(failures, fmt.Sprintf("there is nothing to compare: no engine has searches of the same graph in "+
				"%s and %s", reports.Sentence(c.A), reports.Sentence(c.B)))
		}
		for _, cell := range c.Cells {
			switch {
			case limit == nil:
			case cell.SlowerThan(*limit):
				failures = append(failures, fmt.Sprintf("%s: %s is slower than %s by more than %g %%: at least %.1f %%",
					cellName(c, cell), reports.Sentence(c.B), reports.Sentence(c.A), *limit*100, 100*(1-cell.Typical.High)))
			case !cell.Compared() && cell.RunsA > 0:
				failures = append(failures, fmt.Sprintf("%s: not compared: %s", cellName(c, cell), reports.Sentence(cell.Reason)))
			}
		}
	}
	return failures
}

// dissimilarities are lines about everything but speed. Engines differ in everything but the input.
func dissimilarities(c compare.Comparison) (lines []string) {
	add := func(name string, differences []compare.Difference) {
		for _, d := range differences {
			lines = append(lines, fmt.Sprintf("%s%s: %s %s; %s %s", name, reports.Name(d.What), reports.Sentence(c.A),
				reports.Sentence(strings.Join(d.A, ", ")), reports.Sentence(c.B), reports.Sentence(strings.Join(d.B, ", "))))
		}
	}
	for _, warning := range c.Warnings {
		lines = append(lines, reports.Sentence(warning))
	}
	add("", c.Differences)
	for _, cell := range c.Cells {
		if !ofEngines(c, cell) {
			add(fmt.Sprintf("%s, %s: ", reports.Sentence(cell.Engine), reports.Sentence(cell.Graph.String())), cell.Differences)
		}
	}
	return lines
}

// percentText is a share with two digits.
func percentText(share float64) string { return units.Significant(100*share, 2) + " %" }
