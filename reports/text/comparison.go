package text

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Comparison writes c: a table with a line for each engine and graph, a sentence for each with the result, and what the
// two sides do not have in common. width is that of Columns.
func Comparison(w io.Writer, c compare.Comparison, width int) error {
	b := bytes.NewBufferString(rendered(comparisonTable(c), width))
	for _, cell := range c.Cells {
		paragraph(b, "\n", comparisonSentence(cell))
	}
	if lines := dissimilarities(c); len(lines) > 0 {
		b.WriteString("\nA and B differ in more than speed:\n")
		for _, line := range lines {
			paragraph(b, "  ", line)
		}
	}
	return flush(w, b, "the comparison")
}

const paragraphWidth = 100

// paragraph writes a text in lines that fit, those after the first indented.
func paragraph(b *bytes.Buffer, before, s string) {
	b.WriteString(before)
	for i, line := range strings.Split(text.WrapSoft(s, paragraphWidth-4), "\n") {
		if i > 0 {
			b.WriteString("    ")
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func comparisonTable(c compare.Comparison) reports.Table {
	t := reports.NewRunTable(c.Cells, func(cell compare.Cell) record.GraphID { return cell.Graph },
		"#roots|#A GTEPS|#B GTEPS|#B/A|verdict", "")
	for _, cell := range c.Cells {
		roots, a, b, ratio := reports.Missing, reports.Missing, reports.Missing, reports.Missing
		if cell.Compared() {
			roots, a, b = strconv.Itoa(cell.Common), reports.GTEPS(cell.TEPSA), reports.GTEPS(cell.TEPSB)
			ratio = ratioText(*cell.Typical)
		}
		t.Add(reports.Sentence(cell.Engine), reports.Sentence(cell.Graph.Cell()), roots, a, b, ratio, string(cell.Verdict))
	}
	return t
}

// ratioText is a ratio with its interval: 0.949 [0.940 0.959].
func ratioText(r compare.Ratio) string {
	return fmt.Sprintf("%s [%s %s]", units.Significant(r.Estimate, 3), units.Significant(r.Low, 3),
		units.Significant(r.High, 3))
}

func cellName(cell compare.Cell) string {
	name := reports.Sentence(cell.Engine)
	if cell.EngineB != "" {
		name += " against " + reports.Sentence(cell.EngineB)
	}
	return fmt.Sprintf("%s, %s", name, reports.Sentence(cell.Graph.String()))
}

// comparisonSentence explains one line of the table.
func comparisonSentence(cell compare.Cell) string {
	if !cell.Compared() {
		return fmt.Sprintf("%s: not compared: %s.", cellName(cell), reports.Sentence(cell.Reason))
	}
	var verdict string
	switch cell.Verdict {
	case compare.Same:
		verdict = fmt.Sprintf("no difference found (%s). %s", evidence(cell), detectable(cell.Detectable))
	case compare.Slower:
		verdict = fmt.Sprintf("B is %s slower (%s).", percentText(1-cell.Typical.Estimate), evidence(cell))
	case compare.Faster:
		verdict = fmt.Sprintf("B is %s faster (%s).", percentText(cell.Typical.Estimate-1), evidence(cell))
	case compare.Undecided:
		verdict = fmt.Sprintf("cannot tell: %s (%s).", cell.Reason, evidence(cell))
	}
	return cellName(cell) + ": " + verdict + basis(cell)
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
	case cell.Unit == compare.ByRun:
		return fmt.Sprintf(" The test compares %d pairs of runs.", min(cell.RunsA, cell.RunsB))
	case cell.Scatter != nil:
		return fmt.Sprintf(" Runs of the same side differ by up to %s; with %d runs on each side, "+
			"the test takes that into account.", percentText(*cell.Scatter), compare.MinPairs)
	case cell.Verdict == compare.Same:
		return ""
	}
	return " With one run on each side, anything that made a whole run slow or fast looks like a difference: " +
		"repeat both to be sure."
}

// ComparisonFailures says what makes a comparison fail: nothing could be compared or, with a limit (0.05: five per
// cent), engines at scales of A that are slower in B by more than that for sure, or that could not be compared.
func ComparisonFailures(c compare.Comparison, limit *float64) (failures []string) {
	compared := 0
	for _, cell := range c.Cells {
		switch {
		case cell.Compared():
			compared++
			if limit != nil && cell.SlowerThan(*limit) {
				failures = append(failures, fmt.Sprintf("%s: B is slower than A by more than %g %%: at least %.1f %%",
					cellName(cell), *limit*100, 100*(1-cell.Typical.High)))
			}
		case limit != nil && cell.RunsA > 0:
			failures = append(failures, fmt.Sprintf("%s: not compared: %s", cellName(cell), reports.Sentence(cell.Reason)))
		}
	}
	if compared == 0 && len(failures) == 0 {
		failures = append(failures, "there is nothing to compare: no engine has searches of the same graph on both sides")
	}
	return failures
}

// dissimilarities are lines about everything but speed.
func dissimilarities(c compare.Comparison) (lines []string) {
	add := func(name string, differences []compare.Difference) {
		for _, d := range differences {
			lines = append(lines, fmt.Sprintf("%s%s: A %s; B %s", name, reports.Name(d.What),
				reports.Sentence(strings.Join(d.A, ", ")), reports.Sentence(strings.Join(d.B, ", "))))
		}
	}
	for _, warning := range c.Warnings {
		lines = append(lines, reports.Sentence(warning))
	}
	add("", c.Differences)
	for _, cell := range c.Cells {
		add(fmt.Sprintf("%s, %s: ", reports.Sentence(cell.Engine), reports.Sentence(cell.Graph.String())), cell.Differences)
	}
	return lines
}

// percentText is a share with two digits.
func percentText(share float64) string { return units.Significant(100*share, 2) + " %" }
