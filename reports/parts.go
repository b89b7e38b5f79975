package reports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tepsbench/teps/record"
)

// ErrNoRecord is the error of a report without a record.
var ErrNoRecord = errors.New("reports: no result to show; name at least one record")

// New makes a report of records.
func New(references []Reference, records ...record.Result) (Report, error) {
	if len(records) == 0 {
		return Report{}, ErrNoRecord
	}
	r := Report{References: references, Plots: AllPlots()}
	all := runs(records...)
	for i, one := range records {
		result := Result{Result: one, Runs: runs(one)}
		if len(records) > 1 {
			result.Mark = mark(i)
		}
		for k := range result.Runs {
			result.Runs[k].key, all = all[0].key, all[1:]
		}
		r.Results = append(r.Results, result)
	}
	return r, nil
}

// AllPlots are the parts of a report in the order in which they are shown. A new one is a file with its function and a
// line here; page, Markdown and files of figures follow.
func AllPlots() []Plot {
	return []Plot{ratesPart, directionsPart, constructionPart, scalingPart, ranksPart, energyPart}
}

// Parts are the parts about runs that have something to show.
func (r Report) Parts(runs []Run) []Part {
	var out []Part
	for _, plot := range r.Plots {
		out = append(out, plot(runs, r.References))
	}
	return filled(out)
}

// filled are the parts that have something to show.
func filled(parts []Part) (out []Part) {
	for _, part := range parts {
		part.Figures = slices.DeleteFunc(part.Figures, func(f Figure) bool { return len(f.Panels) == 0 })
		if len(part.Figures) > 0 || part.TableOnly && len(part.Table.Rows) > 0 {
			part.Table.Name = part.Title
			out = append(out, part)
		}
	}
	return out
}

// Together are the parts that show the runs of several records at once.
func (r Report) Together() []Part {
	if len(r.Results) < 2 {
		return nil
	}
	return append(filled([]Part{r.History()}), r.Parts(r.shown())...)
}

// Figures are all figures of a report in order, those of levels last.
func (r Report) Figures() []Figure {
	runs := r.named()
	var out []Figure
	for _, part := range append(filled([]Part{r.History()}), r.Parts(runs)...) {
		out = append(out, part.Figures...)
	}
	levels := LevelFigures(runs)
	for _, i := range slices.Sorted(maps.Keys(levels)) {
		out = append(out, levels[i])
	}
	return out
}

// Figure returns the figure of that name. The error names those of the records.
func (r Report) Figure(name string) (Figure, error) {
	var names []string
	for _, f := range r.Figures() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Figure{}, fmt.Errorf("these records have no figure %q; they have %s", name,
		cmp.Or(strings.Join(names, ", "), "nothing to draw"))
}
