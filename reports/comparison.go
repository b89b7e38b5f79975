package reports

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/compare"
)

// terminalColumns is the width that everything for a terminal fits into.
const terminalColumns = 100

// Comparison writes c for a terminal: a table with a line for each engine and scale, a sentence for each that says what it
// comes to, and what the two sides do not have in common. The error is that of w.
func Comparison(w io.Writer, c compare.Comparison) error {
	var b strings.Builder
	b.WriteString(trimmed(comparisonTable(c)) + "\n")
	for _, cell := range c.Cells {
		if cell.Verdict != compare.NotCompared {
			paragraph(&b, "\n", comparisonSentence(cell))
		}
	}
	for _, sentence := range notCompared(c.Cells) {
		paragraph(&b, "\n", sentence)
	}
	if sentence := byChance(c); sentence != "" {
		paragraph(&b, "\n", sentence)
	}
	if lines := dissimilarities(c); len(lines) > 0 {
		b.WriteString("\nA and B differ in more than speed:\n")
		for _, line := range lines {
			paragraph(&b, "  ", line)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: write the comparison: %w", err)
	}
	return nil
}

// paragraph writes a text in lines that fit, those after the first indented.
func paragraph(b *strings.Builder, before, s string) {
	b.WriteString(before)
	b.WriteString(strings.ReplaceAll(trimmed(text.WrapSoft(s, terminalColumns-4)), "\n", "\n    ") + "\n")
}

// trimmed leaves out the spaces that fill lines up.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func comparisonTable(c compare.Comparison) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	style := t.Style()
	style.Format.Header = text.FormatDefault
	style.Options.DrawBorder, style.Options.SeparateColumns = false, false
	style.Box.PaddingRight = ""
	t.AppendHeader(table.Row{"engine", "scale", "roots", "A GTEPS", "B GTEPS", "B/A of means", "B/A of a root", "verdict"})
	right := []table.ColumnConfig{}
	for column := 2; column <= 7; column++ {
		right = append(right, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, cell := range c.Cells {
		row := table.Row{text.Snip(clean(cell.Engine, 13), 13, "…"), cell.Scale, missing, missing, missing, missing, missing, string(cell.Verdict)}
		if cell.Verdict != compare.NotCompared {
			row[2] = cell.Matched
			if cell.Matched == 0 {
				row[2] = fmt.Sprintf("%d:%d", cell.RootsA, cell.RootsB)
			}
			row[3], row[4] = gteps(cell.TEPSA), gteps(cell.TEPSB)
			row[5], row[6] = ratioText(cell.Means), ratioText(cell.Typical)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

// ratioText is a ratio with its interval: 0.949 [0.940 0.959].
func ratioText(r *compare.Ratio) string {
	if r == nil {
		return missing
	}
	if r.Low == nil || r.High == nil {
		return significant(r.Estimate, 3) + " [–]"
	}
	return fmt.Sprintf("%s [%s %s]", significant(r.Estimate, 3), significant(*r.Low, 3), significant(*r.High, 3))
}

func cellName(cell compare.Cell) string {
	name := shownName(cell.Engine)
	if cell.EngineB != "" {
		name += " against " + shownName(cell.EngineB)
	}
	return fmt.Sprintf("%s, scale %d", name, cell.Scale)
}

// notCompared has a sentence for each reason.
func notCompared(cells []compare.Cell) (sentences []string) {
	var reasons []string
	names := map[string][]string{}
	for _, cell := range cells {
		if cell.Verdict != compare.NotCompared {
			continue
		}
		if names[cell.Reason] == nil {
			reasons = append(reasons, cell.Reason)
		}
		names[cell.Reason] = append(names[cell.Reason], cellName(cell))
	}
	for _, reason := range reasons {
		sentences = append(sentences, fmt.Sprintf("Not compared (%s): %s.", clean(reason, sentenceRunes), strings.Join(names[reason], "; ")))
	}
	return sentences
}

// comparisonSentence says what one line of the table comes to.
func comparisonSentence(cell compare.Cell) string {
	warnings := ""
	for _, warning := range cell.Warnings {
		warnings += " " + clean(warning, sentenceRunes) + "."
	}
	var verdict string
	switch cell.Verdict {
	case compare.Same:
		verdict = fmt.Sprintf("no difference found (%s). A slow-down of %s would have been found 19 times of 20.", evidence(cell), visibleText(*cell.Visible))
	case compare.Slower:
		verdict = fmt.Sprintf("B is %s slower (%s).", percent(1-cell.Typical.Estimate), evidence(cell))
	case compare.Faster:
		verdict = fmt.Sprintf("B is %s faster (%s).", percent(cell.Typical.Estimate-1), evidence(cell))
	}
	return cellName(cell) + ": " + verdict + basis(cell) + warnings
}

// evidence is the interval as percentages, p, and the p of the Mann-Whitney test, which sees little.
func evidence(cell compare.Cell) string {
	p := chance(*cell.P)
	if cell.Method != compare.ByRate {
		p += ", of rates without regard to roots " + chance(*cell.MannWhitneyP)
	}
	if cell.Typical.Low == nil {
		return p + ", too few roots for an interval"
	}
	return fmt.Sprintf("%+.1f %% to %+.1f %%, %s", 100*(*cell.Typical.Low-1), 100*(*cell.Typical.High-1), p)
}

func chance(p float64) string {
	if p < 1e-4 {
		return "p < 0.0001"
	}
	return "p = " + significant(p, 2)
}

// basis says on which test a verdict rests, and what that test cannot tell.
func basis(cell compare.Cell) string {
	switch cell.Method {
	case compare.ByRun:
		return fmt.Sprintf(" Student's t between %d and %d runs over %d roots.", cell.RunsA, cell.RunsB, cell.Matched)
	case compare.ByRate:
		return " " + unmatched(cell) + ", so rates were ranked without regard to roots (Mann-Whitney), which cannot see small differences."
	}
	one := "one run a side"
	if cell.RunsA > 1 || cell.RunsB > 1 {
		one = "one run on a side"
	}
	if cell.Verdict == compare.Same {
		return ""
	}
	return " With " + one + ", what made a whole run slow or fast is taken for a difference: repeat both to be sure."
}

// unmatched says why roots were not compared one by one.
func unmatched(cell compare.Cell) string {
	switch cell.Unmatched {
	case compare.OtherGraphs:
		return "The graphs differ or are not recorded"
	case compare.FewRoots:
		return fmt.Sprintf("Both sides share %s, fewer than the %d that the test root by root needs", plural(cell.Common, "root", "roots"), compare.FewestRoots)
	}
	return fmt.Sprintf("The roots differ (%d of %d and %d are the same)", cell.Common, cell.RootsA, cell.RootsB)
}

// byChance says how sure several answers together are.
func byChance(c compare.Comparison) string {
	compared, different := 0, 0
	for _, cell := range c.Cells {
		if cell.Verdict != compare.NotCompared {
			compared++
		}
		if cell.Verdict == compare.Slower || cell.Verdict == compare.Faster {
			different++
		}
	}
	if compared < 2 || different == 0 {
		return ""
	}
	any := 1 - math.Pow(c.Confidence, float64(compared))
	return fmt.Sprintf("%d of %d comparisons show a difference. Where nothing differs, at least one of %d does so by chance with a probability of %.0f %%.",
		different, compared, compared, 100*any)
}

// ComparisonFailures says what makes a comparison fail: nothing that could be compared or, with a limit (0.05: five per cent),
// engines at scales of A that are slower in B by more than that for sure, or that could not be compared.
func ComparisonFailures(c compare.Comparison, limit *float64) (failures []string) {
	compared := 0
	for _, cell := range c.Cells {
		switch {
		case cell.Verdict != compare.NotCompared:
			compared++
			if limit != nil && cell.SlowerThan(*limit) {
				failures = append(failures, fmt.Sprintf("%s: B is slower than A by more than %g %%: at least %.1f %%", cellName(cell), *limit*100, 100*(1-*cell.Typical.High)))
			}
		case limit != nil && cell.RunsA > 0:
			failures = append(failures, fmt.Sprintf("%s: not compared: %s", cellName(cell), clean(cell.Reason, sentenceRunes)))
		}
	}
	if compared == 0 && len(failures) == 0 {
		failures = append(failures, "there is nothing to compare: no engine at no scale has searches on both sides")
	}
	return failures
}

// dissimilarities are lines about everything but speed.
func dissimilarities(c compare.Comparison) (lines []string) {
	add := func(name string, differences []compare.Difference) {
		for _, d := range differences {
			lines = append(lines, fmt.Sprintf("%s%s: A %s; B %s", name, clean(d.What, nameRunes), listText(d.A), listText(d.B)))
		}
	}
	for _, warning := range c.Warnings {
		lines = append(lines, clean(warning, sentenceRunes))
	}
	add("", c.Differences)
	for _, cell := range c.Cells {
		add(fmt.Sprintf("%s, scale %d: ", shownName(cell.Engine), cell.Scale), cell.Differences)
	}
	return lines
}

func listText(values []string) string {
	var all []string
	for _, v := range values {
		all = append(all, clean(v, sentenceRunes/2))
	}
	return strings.Join(all, ", ")
}

// percent is a share with two digits.
func percent(share float64) string { return significant(100*share, 2) + " %" }

func visibleText(share float64) string {
	if share > 0.95 {
		return "no size"
	}
	return percent(share) + " or more"
}
