// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

const (
	maxLevels = 200 // in a table, or bars in a figure; a path has as many levels as vertices
	maxShares = 16  // levels of a figure that has room for their shares of the time
	maxTicks  = 20  // levels that all have a tick
)

// LevelFigures draw the search of the median root of each engine, at its largest scale and on each other graph, by the
// position of its run.
func LevelFigures(runs []reports.Summary) map[int]reports.Figure {
	type place struct{ label, source string }
	largest := map[place]int{} // the run at the largest scale that has levels
	for i, r := range runs {
		at := place{r.Label, r.Source}
		if other, known := largest[at]; hasLevels(r) && (!known || runs[other].Scale < r.Scale) {
			largest[at] = i
		}
	}
	out, taken := map[int]reports.Figure{}, map[string]bool{}
	for _, i := range slices.Sorted(maps.Values(largest)) {
		f := levelsFigure(runs[i])
		f.Name = reports.Unique(taken, "levels-"+reports.FileName(runs[i].Engine.Name)+"-"+graphFile(runs[i]), "-")
		out[i] = f
	}
	return out
}

// levelsFigure draws the median search level by level: frontier, adjacency entries looked at, time and counters.
func levelsFigure(r reports.Summary) reports.Figure {
	root, _ := medianRoot(r)
	levels, vertex := root.Levels, reports.RootLabel(root)
	f := reports.Figure{Title: fmt.Sprintf("The search from vertex %s by %s %s, level by level", vertex, r.Label,
		r.AtGraph())}
	f.Note(fmt.Sprintf("%s, %s: the root with the median time, vertex %s, %s in all. Colors: direction of the level.",
		reports.EngineName(r.Engine.Name), r.GraphName(), vertex, units.Seconds(root.Time)))
	each := (len(levels)-1)/maxLevels + 1
	if each > 1 {
		levels = merged(levels, each)
		f.Note(fmt.Sprintf("A bar is the time of %d levels together, a point the mean of their counts.", each))
	} else if len(levels) <= maxShares {
		f.Note("Percentages: share of the search.")
	}
	width := float64(each) // of a bar, in levels
	place := func(at float64) string {
		if each > 1 {
			return fmt.Sprintf("levels %.0f to %.0f", at-(width-1)/2, at+(width-1)/2)
		}
		return fmt.Sprintf("level %.0f", at)
	}
	counted := func(label, what string, look int) curve {
		return curve{label: label, look: reports.Looks(look), about: func(p reports.Point) string {
			return place(p.X) + ": " + units.Integer(int64(p.Y)) + " " + what
		}}
	}
	counts := []curve{counted("frontier (vertices expanded)", "vertices expanded", 0),
		counted("adjacency entries looked at", "entries looked at", 1)}
	var bands, times []reports.Shape
	var used [2]bool // directions
	slowest := 0.0
	for i, level := range levels {
		at, direction := float64(i)*width+(width-1)/2, directionOf(level)
		counts[0].points = append(counts[0].points, xy(at, float64(level.Frontier)))
		if n, known := level.Edges.Get(); known {
			counts[1].points = append(counts[1].points, xy(at, float64(n)))
		}
		color, ms, share := directionColors()[direction], level.Elapsed.Seconds()*1e3,
			reports.Percentage(level.Elapsed.Seconds(), root.Time)
		used[direction], slowest = true, max(slowest, ms)
		bands = append(bands, reports.Bar{At: at, Half: 0.5 * width, To: math.MaxFloat64, Color: color.Area()})
		times = append(times, reports.Bar{At: at, Half: 0.32 * width, To: ms, Color: color, About: reports.About{
			Text: fmt.Sprintf("%s, %s: %s, %s", place(at), level.Direction, units.Duration(level.Elapsed), share)}})
		if len(levels) <= maxShares {
			times = append(times, reports.Text{At: xy(at, ms), Text: share, Color: reports.Faint(), Size: 8, DY: 2})
		}
	}
	x := levelAxis(len(levels) * each)
	one := curve{points: []reports.Point{{Y: 1}}} // axes of counts reach it
	panel := curvePanel(2.1, x, "Count", counts...)
	panel.Y, panel.Shapes = logAxis("Count", spanOf(append(counts, one)...)), slices.Concat(bands, panel.Shapes)
	f.Legend, f.Panels = legend(counts), []reports.Panel{panel}
	if slowest > 0 { // an engine need not time its levels
		f.Panels = append(f.Panels, reports.Panel{Height: 2.1, X: x, Y: linearAxis("Time (ms)", slowest*1.15),
			Shapes: times})
	}
	if counters := counterCurves(levels); len(counters) > 0 {
		f.Legend = append(f.Legend, legend(counters)...)
		panel := curvePanel(2.1, x, "Counters", counters...)
		panel.Shapes = slices.Concat(bands, panel.Shapes)
		f.Panels = append(f.Panels, panel)
		f.Note("Counters are those of the engine; 0 is left out.")
	}
	f.Panels[len(f.Panels)-1].X.Title = "Level"
	for k, key := range directionKeys()[:2] {
		if used[k] {
			f.Legend = append(f.Legend, key)
		}
	}
	return f
}

func levelAxis(n int) reports.Axis {
	x := reports.Axis{Min: -0.5, Max: float64(n) - 0.5}
	for i := 0; i < n && n <= maxTicks; i++ {
		x.Ticks = append(x.Ticks, reports.Tick{At: float64(i), Label: strconv.Itoa(i)})
	}
	return x
}

// blocks are the keys of parts of bars. Parts beyond the colors have the last one.
func blocks(colors []reports.Color, names ...string) (keys []reports.Key) {
	for i, name := range names {
		keys = append(keys, reports.Key{Label: name, Block: true,
			Look: reports.Look{Color: colors[min(i, len(colors)-1)]}})
	}
	return keys
}

func hasLevels(r reports.Summary) bool {
	_, found := medianRoot(r)
	return found && r.Verdict().Grade != reports.Wrong
}

// counterCurves are the counters of levels over their numbers, without launches of kernels.
func counterCurves(levels []plugins.Level) (curves []curve) {
	for i, level := range levels {
		for _, c := range level.Counters {
			if c.Name == plugins.KernelLaunches || c.Value <= 0 {
				continue
			}
			name := reports.EngineName(c.Name)
			k := slices.IndexFunc(curves, func(other curve) bool { return other.label == name })
			if k < 0 {
				k = len(curves)
				curves = append(curves, curve{label: name, look: reports.Looks(2 + k)}) // after frontier and entries
			}
			curves[k].points = append(curves[k].points, xy(float64(i), float64(c.Value)))
		}
	}
	return curves
}

// merged makes one level of each n: their time together, the means of their counts, and the direction of the first.
func merged(levels []plugins.Level, n int) (out []plugins.Level) {
	for part := range slices.Chunk(levels, n) {
		one, entries, counted, size := plugins.Level{Direction: part[0].Direction}, int64(0), true, int64(len(part))
		for _, level := range part {
			one.Elapsed += level.Elapsed
			one.Frontier += level.Frontier
			edges, known := level.Edges.Get()
			entries, counted = entries+edges, counted && known
		}
		if one.Frontier /= size; counted {
			one.Edges = plugins.Counted(entries / size)
		}
		out = append(out, one)
	}
	return out
}

// drawable reports whether a search has levels that fit its time and its tree.
func drawable(r reports.Summary, root record.RootRecord) bool {
	return len(root.Levels) > 0 && !root.Broken() && r.LevelFault(root) == ""
}

// medianRoot returns the search with the median time among those that recorded levels.
func medianRoot(r reports.Summary) (record.RootRecord, bool) {
	candidates := slices.DeleteFunc(slices.Clone(r.Roots), func(root record.RootRecord) bool {
		return !drawable(r, root)
	})
	if len(candidates) == 0 {
		return record.RootRecord{}, false
	}
	slices.SortStableFunc(candidates, func(a, b record.RootRecord) int { return cmp.Compare(a.Time, b.Time) })
	return candidates[(len(candidates)-1)/2], true
}

// Levels lists the levels of the median root. The table is empty where no search has levels.
func Levels(r reports.Summary) reports.Table {
	root, found := medianRoot(r)
	if !found {
		return reports.Table{}
	}
	t := reports.NewTable("#level|direction|#vertices expanded|#entries looked at|#time|#share|#bytes sent|#messages|"+
		"phases|counters", "")
	t.Name = fmt.Sprintf("Levels of the median root: %s, %s, vertex %s, search %d, %s", r.Label, r.GraphName(),
		reports.RootLabel(root), root.Index, units.Seconds(root.Time))
	levels, inside := root.Levels[:min(len(root.Levels), maxLevels)], 0.0
	for i, level := range levels {
		seconds, share := level.Elapsed.Seconds(), reports.Missing
		if inside += seconds; seconds > 0 {
			share = reports.Percentage(seconds, root.Time)
		}
		t.Add(strconv.Itoa(i), level.Direction.String(), units.Integer(level.Frontier), reports.Count(level.Edges),
			reports.Measured(seconds), share, reports.Count(level.Bytes), reports.Count(level.Messages),
			reports.PhasesText(level.Phases), reports.CountersText(level.Counters))
	}
	if len(levels) < len(root.Levels) {
		t.Note = fmt.Sprintf("The first %d of %d levels; the record has all.", len(levels), len(root.Levels))
	} else if outside := root.Time - inside; inside > 0 && outside >= 0 {
		t.Add("", "outside levels", "", "", units.Seconds(outside), reports.Percentage(outside, root.Time), "", "", "", "")
	}
	t.DropEmpty()
	return t
}

func graphFile(r reports.Summary) string {
	if r.Source != "" {
		return reports.FileName(r.Source)
	}
	return fmt.Sprintf("s%d", r.Scale)
}
