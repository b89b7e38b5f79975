package reports

import (
	"fmt"
	"strconv"

	"github.com/tepsbench/teps/harness"
)

const mostLevelFigures = 12 // a figure of levels for each engine, but not for ever so many

// figures are the drawings of a result, in the order in which a page shows them.
type figures struct {
	scale  *figure   // nil when nothing has rates
	roots  []*figure // one, or one for every 24 runs
	ranks  []*figure // of engines that have ranks
	levels []levelFigure
}

// levelFigure is a drawing of one search, and the run that it stands for.
type levelFigure struct {
	*figure
	run int // its place in Result.Runs
}

// draw chooses the drawings of r: rates over scales, rates over roots, and for each engine the levels of the median root
// at its largest scale.
func (p pen) draw(r harness.Result) figures {
	runs := labels(r)
	out := figures{scale: overScale(p, runs), roots: overRoots(p, runs), ranks: overPhases(p, rankedRuns(runs, mostBars))}
	out.ranks = append(out.ranks, overRankCounts(p, rankedRuns(runs, mostLines))...)

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
		for _, run := range r.Runs {
			from := origin{i, run.Engine.Name}
			name := clean(run.Engine.Name, nameRunes)
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
			out = append(out, labelled{label, run})
		}
	}
	return out
}

// recordMark stands for the i-th of several records, from 0.
func recordMark(i int) string { return "[" + strconv.Itoa(i+1) + "]" }

// all returns the drawings in order.
func (f figures) all() []*figure {
	var out []*figure
	if f.scale != nil {
		out = append(out, f.scale)
	}
	out = append(out, f.roots...)
	out = append(out, f.ranks...)
	for _, l := range f.levels {
		out = append(out, l.figure)
	}
	return out
}

// WritePlots draws the figures of r into dir, each as SVG and as PNG (300 dots an inch, 6.8 inches wide), and returns
// the paths of the files. A result without rates and levels has none. Each file appears whole or not at all; the error
// wraps that of the file system and names the file.
func WritePlots(dir string, r harness.Result) ([]string, error) {
	p, err := newPen()
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range p.draw(r).all() {
		drawn, err := writeFigure(dir, f)
		paths = append(paths, drawn...)
		if err != nil {
			return paths, err
		}
	}
	return paths, nil
}
