// SPDX-License-Identifier: Apache-2.0

// Package parts makes the chapters of a report: figures, with a table of the same numbers. Each file has one part or
// what several parts draw with (axes.go, published.go). A part takes every number from reports.Summary.
package parts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tepsbench/teps/compare"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Plot makes a part from runs. A part without anything to show is left out of a report.
type Plot func(runs []reports.Summary, references []reports.Reference) reports.Part

// All are the parts of a report in the order in which they are shown. A new one is a file with its function and a line
// here; page, Markdown and files of figures follow.
func All() []Plot { return []Plot{rates, directions, construction, scaling, ranks, energy} }

// Of are the parts about runs that have something to show.
func Of(r reports.Report, runs []reports.Summary) (out []reports.Part) {
	for _, plot := range All() {
		out = append(out, filled(plot(runs, r.References))...)
	}
	return out
}

// filled returns the part if it has something to show, and otherwise nothing.
func filled(part reports.Part) []reports.Part {
	part.Figures = slices.DeleteFunc(part.Figures, func(f reports.Figure) bool { return len(f.Panels) == 0 })
	if len(part.Figures) == 0 && (!part.TableOnly || len(part.Table.Rows) == 0) {
		return nil
	}
	part.Table.Name = part.Title
	return []reports.Part{part}
}

// OfSeveral are the parts that show the runs of several records at once.
func OfSeveral(r reports.Report) []reports.Part {
	if len(r.Results) < 2 {
		return nil
	}
	return append(filled(History(r)), Of(r, reports.Sorted(r.All))...)
}

// Figures are all figures of a report in order, those of levels last.
func Figures(r reports.Report) (out []reports.Figure) {
	runs := named(r)
	if len(r.Results) > 1 {
		runs = reports.Sorted(runs)
	}
	for _, part := range append(filled(History(r)), Of(r, runs)...) {
		out = append(out, part.Figures...)
	}
	levels := LevelFigures(runs)
	for _, i := range slices.Sorted(maps.Keys(levels)) {
		out = append(out, levels[i])
	}
	return out
}

// named are the runs for figures outside a page, where no list of records explains the marks: names have no mark if
// they differ without it.
func named(r reports.Report) []reports.Summary {
	if r.Many() || len(r.Results) < 2 {
		return r.All
	}
	variants := r.Variants()
	if slices.ContainsFunc(variants, func(v reports.Summary) bool {
		return v.Planned > 1 || strings.Contains(v.Label, " #")
	}) {
		return r.All
	}
	runs := slices.Clone(r.All)
	for i, v := range variants {
		runs[i].Label = v.Label
	}
	return runs
}

// Figure returns the figure of that name. The error names those of the records.
func Figure(r reports.Report, name string) (reports.Figure, error) {
	var names []string
	for _, f := range Figures(r) {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return reports.Figure{}, fmt.Errorf("these records have no figure %q; they have %s", name,
		cmp.Or(strings.Join(names, ", "), "nothing to draw"))
}

// Verdicts say how each of several records compares with the first, by the rules of `teps compare`, and which run is
// the fastest on each graph. Records are named by their hosts if these differ.
func Verdicts(r reports.Report) (lines []string) {
	var sides []compare.Side
	hosts := map[string]bool{}
	for _, result := range r.Results {
		sides = append(sides, compare.Side{Name: result.Mark, Results: []record.Result{result.Result}})
		hosts[result.Machine.Hostname] = true
	}
	for i, side := range sides {
		if len(hosts) > 1 {
			sides[i].Name = reports.Joined(" ", reports.Name(r.Results[i].Machine.Hostname), side.Name)
		}
		if i > 0 && !r.Many() {
			line := compare.Of(sides[0], sides[i]).Summary()
			lines = append(lines, cmp.Or(line, fmt.Sprintf("%s and %s have nothing to compare: no engine searched the same "+
				"graph in both", sides[0].Name, sides[i].Name))+".")
		}
	}
	fastest, graphs, best, highest := []string{}, map[record.GraphID]bool{}, 0, 0.0
	for _, run := range reports.Sorted(r.All) {
		if m := run.Repeats[0].Machine; !graphs[run.GraphID] && run.Rate() > 0 {
			if run.Rate() > highest {
				best, highest = len(fastest), run.Rate()
			}
			fastest = append(fastest, fmt.Sprintf("%s, %s has %s GTEPS on %s", run.AtGraph(), run.Label,
				reports.GTEPS(run.Rate()), reports.Name(cmp.Or(m.Hostname, m.CPU))))
		}
		graphs[run.GraphID] = true
	}
	if r.Many() && len(fastest) > 1 { // this is the title of the page; its first table has a star for each graph
		fastest = fastest[best : best+1]
	}
	if len(fastest) > 0 {
		lines = append(lines, "The fastest: "+strings.Join(fastest, "; ")+".")
	}
	return lines
}

// Faults are the runs of several records without a result.
func Faults(r reports.Report) (faults []reports.Verdict) {
	for _, result := range r.Results {
		for _, fault := range result.Headline().Faults {
			fault.Why = result.Mark + " " + fault.Why
			faults = append(faults, fault)
		}
	}
	return faults
}

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
