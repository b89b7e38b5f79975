package reports

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tepsbench/teps/harness"
)

const mostLevelFigures = 12 // a figure of levels for each engine, but not for ever so many

// figures are the drawings of results, in the order in which a page shows them.
type figures struct {
	parts  []part
	levels []levelFigure
}

// levelFigure is a drawing of one search, and the run that it stands for.
type levelFigure struct {
	*figure
	run int // its place among the runs
}

// draw chooses the drawings of runs: those of every part, and for each engine the levels of the median root at its
// largest scale.
func (p pen) draw(runs []labelled, references []Reference) figures {
	out := figures{parts: p.parts(runs, references)}

	largest := map[string]int{} // label to the run at its largest scale that has levels
	for i, l := range runs {
		if _, found := medianRoot(l.run); !found || judge(l.run).Word == "INVALID" {
			continue
		}
		if other, known := largest[l.label]; !known || runs[other].run.Scale < l.run.Scale {
			largest[l.label] = i
		}
	}
	taken := map[string]bool{}
	for i, l := range runs {
		if at, known := largest[l.label]; !known || at != i || len(out.levels) == mostLevelFigures {
			continue
		}
		root, _ := medianRoot(l.run)
		f := overLevels(p, l.label, l.run.Scale, root)
		f.name = fmt.Sprintf("levels-%s-s%d", safeFile(l.run.Engine.Name), l.run.Scale)
		for n := 2; taken[f.name]; n++ {
			f.name = fmt.Sprintf("levels-%s-s%d-%d", safeFile(l.run.Engine.Name), l.run.Scale, n)
		}
		taken[f.name] = true
		out.levels = append(out.levels, levelFigure{f, i})
	}
	if n := len(out.levels); n < len(largest) {
		last := out.levels[n-1]
		last.notes = append(last.notes, fmt.Sprintf("The first %d of %d engines have a drawing like this one.", n, len(largest)))
	}
	return out
}

// labels names the runs of results for drawings and tables: by engine, and with the mark of its record when there are several.
// Engines whose names look the same once cleaned stay apart.
func labels(results ...harness.Result) []labelled {
	type origin struct {
		result int
		engine string
	}
	shown := map[string]origin{}
	var out []labelled
	for i, r := range results {
		machine, record := joined(", ", clean(r.Machine.Hostname, nameRunes), clean(r.Machine.CPU, nameRunes)), ""
		if len(results) > 1 {
			date := ""
			if !r.Started.IsZero() {
				date = r.Started.Format(time.DateOnly)
			}
			record = recordMark(i) + " " + joined(", ", clean(r.ID, nameRunes), date, clean(r.Machine.CPU, nameRunes))
		}
		for _, run := range r.Runs {
			from := origin{i, run.Engine.Name}
			name := shownName(run.Engine.Name)
			if len(results) > 1 {
				name += " " + recordMark(i)
			}
			label := name
			for n := 2; ; n++ {
				if other, taken := shown[label]; !taken || other == from {
					break
				}
				label = name + " #" + strconv.Itoa(n)
			}
			shown[label] = from
			out = append(out, labelled{label, run, machine, record})
		}
	}
	return out
}

// recordMark stands for the i-th of several records, from 0.
func recordMark(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

// all returns the drawings in order.
func (f figures) all() []*figure {
	var out []*figure
	for _, c := range f.parts {
		out = append(out, c.figures...)
	}
	for _, l := range f.levels {
		out = append(out, l.figure)
	}
	return out
}
