// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

const maxScalingLines = 6 // that can be distinguished in a figure

func scaling(runs []reports.Summary, _ []reports.Reference) reports.Part {
	lines := scalingLines(runs)
	strong := slices.DeleteFunc(slices.Clone(lines), func(l scalingLine) bool { return l.weak })
	return reports.Part{
		Title: "Scaling over threads and ranks", Table: scalingTable(lines),
		Explanation: "A line is one engine on one machine with the same options except for the number of its workers. " +
			"Speed-up and efficiency are relative to the line’s smallest number of workers.",
		Figures: []reports.Figure{
			scalingFigure("strong-scaling", "Strong scaling: search rate over the number of workers, for the same graph",
				strong),
			scalingFigure("weak-scaling",
				"Weak scaling: search rate over the number of workers, for a graph that grows with them", lines[len(strong):]),
		},
	}
}

// scalingLine is one version of an engine with the same options on one machine, measured with several numbers of
// workers: threads, or ranks with the same number of threads each.
type scalingLine struct {
	scalingKey
	name   string
	points []scalingPoint // by number of workers
}

type scalingPoint struct {
	reports.Summary
	workers int
}

// scalingKey has everything that the runs of a line have in common.
type scalingKey struct {
	weak     bool   // the graph grows with the workers
	worker   string // "thread" or "rank", whose number differs
	searched string // the graph, or in weak scaling the share of each worker
	scale    int    // of the graph or share
	family   string // engine and options that the user set, without the number of workers
	details  string // version, program, machine and graph: named where lines differ in them
}

// workers is the number of threads that a run searched with, those of all ranks together, and how many ranks it had; 0:
// the engine has none. Without ranks it is the option threads, or the threads that the engine reported.
func workers(r reports.Summary) (threads, ranks int) {
	ranks = number(r.Options["ranks"])
	if i := slices.IndexFunc(r.Roots, func(root record.RootRecord) bool { return len(root.Ranks) > 0 }); i >= 0 {
		ranks = len(r.Roots[i].Ranks)
	}
	threads = number(r.Options["threads"])
	if r.Construction != nil && threads == 0 {
		for _, fact := range r.Construction.Details {
			if fact.Name == "threads" || fact.Name == "threads of each rank" {
				threads = number(fact.Value)
			}
		}
	}
	if ranks > 0 {
		threads = ranks * max(threads, 1)
	}
	return threads, ranks
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// workersText spells the number of workers: 8 threads, 8 ranks, 2 ranks × 4 threads.
func workersText(r reports.Summary) string {
	threads, ranks := workers(r)
	switch {
	case ranks == 0:
		return reports.Plural(threads, "thread", "threads")
	case threads > ranks:
		return reports.Plural(ranks, "rank", "ranks") + " × " + reports.Plural(threads/ranks, "thread", "threads")
	}
	return reports.Plural(ranks, "rank", "ranks")
}

// keyOf is the key of a run in strong scaling.
func keyOf(r reports.Summary) scalingKey {
	worker, engine := "thread", r.Engine.Name
	if _, ranks := workers(r); ranks > 0 {
		worker = "rank"
	}
	if d := r.Description; d != nil {
		engine = cmp.Or(d.Name, engine)
	}
	parts := []string{reports.Joined(" ", reports.EngineName(cmp.Or(r.Engine.Builtin, engine)), string(r.Kernel))}
	if partition := r.Options["partition"]; partition != "" {
		parts = append(parts, partitionName(partition))
	}
	for _, option := range slices.Sorted(maps.Keys(r.Engine.Options)) {
		value := r.Engine.Options[option]
		// Rows of a grid that the engine chose follow from the number of ranks.
		if option != worker+"s" && option != "partition" && !(option == "rows" && value == "0") {
			parts = append(parts, reports.EngineName(option+"="+value))
		}
	}
	return scalingKey{worker: worker, searched: r.GraphName(), scale: r.Scale, family: strings.Join(parts, " "),
		details: reports.Joined(", ", "version "+r.Version(), "build "+r.BuildName(), r.Machine, r.Input())}
}

// scalingLines are the lines with at least two numbers of workers: strong ones, then weak ones, with the most numbers
// and then the largest graphs first. Only complete runs without a wrong search on a known graph are on a line.
func scalingLines(runs []reports.Summary) []scalingLine {
	groups := map[scalingKey]map[int][]reports.Summary{} // by number of workers
	for _, r := range runs {
		workers, _ := workers(r)
		if workers == 0 || r.Rates() == nil || r.Verdict().Grade >= reports.Bad || r.Graph == nil {
			continue
		}
		keys := []scalingKey{keyOf(r)}
		if share := float64(r.Scale) - math.Log2(float64(workers)); r.Source == "" && share == math.Trunc(share) {
			weak := keys[0]
			weak.weak, weak.scale = true, int(share)
			weak.searched = fmt.Sprintf("2%s vertices per thread", reports.Superscript(weak.scale))
			keys = append(keys, weak)
		}
		for _, key := range keys {
			if groups[key] == nil {
				groups[key] = map[int][]reports.Summary{}
			}
			groups[key][workers] = append(groups[key][workers], r)
		}
	}
	var lines []scalingLine
	named := map[string]int{}
	for key, byWorkers := range groups {
		if len(byWorkers) < 2 {
			continue
		}
		line := scalingLine{scalingKey: key, name: key.family + ", " + key.searched}
		for _, workers := range slices.Sorted(maps.Keys(byWorkers)) {
			var repeats []record.Result
			for _, r := range byWorkers[workers] {
				repeats = append(repeats, r.Repeats...)
			}
			line.points = append(line.points, scalingPoint{byWorkers[workers][0].Of(repeats...), workers})
		}
		lines = append(lines, line)
		named[line.name]++
	}
	for i, l := range lines {
		if named[l.name] > 1 {
			lines[i].name += ", " + l.details
		}
	}
	slices.SortFunc(lines, func(a, b scalingLine) int {
		weak := map[bool]int{true: 1}
		return cmp.Or(weak[a.weak]-weak[b.weak], len(b.points)-len(a.points), b.scale-a.scale,
			strings.Compare(a.name, b.name))
	})
	return lines
}

// scalingFigure draws rates over workers with the ideal from each line's first point, and messages and bytes of ranks.
func scalingFigure(name, title string, lines []scalingLine) reports.Figure {
	f := reports.Figure{Name: name, Title: title}
	if len(lines) == 0 {
		return f
	}
	f.Note("Harmonic means, medians over runs that agree in everything. Thin, broken: a rate " +
		"that grows as the workers do.")
	lines = limited(&f, lines, maxScalingLines, "lines, those with the most points; the table has all")
	x, common := workerAxis(lines), lines[0].searched
	if slices.ContainsFunc(lines, func(l scalingLine) bool { return l.searched != common }) {
		common = ""
	} else {
		x.Title += ", " + common
	}
	for i, quantity := range []struct {
		title  string
		height float64
		of     func(reports.Summary) float64
	}{
		{"Search rate (GTEPS)", 3.4, func(r reports.Summary) float64 { return r.Rates().TEPS.Mean / 1e9 }},
		{"Messages of a search", 2.6, func(r reports.Summary) float64 { sum, _ := sumRanks(r); return sum.messages }},
		{"KiB of a search", 2.6, func(r reports.Summary) float64 { sum, _ := sumRanks(r); return sum.bytes / 1024 }},
	} {
		var curves []curve
		for k, l := range lines {
			c := curve{label: l.name, look: reports.Looks(k)}
			if common != "" {
				c.label = strings.Replace(l.name, ", "+common, "", 1)
			}
			for _, p := range l.points {
				c.points = append(c.points, xy(float64(p.workers), quantity.of(p.Summary)))
			}
			curves = append(curves, c)
		}
		if spanOf(curves...).empty() { // threads and single ranks send nothing
			continue
		}
		for k, c := range curves {
			if first, last := c.points[0], c.points[len(c.points)-1]; i == 0 {
				end := min(last.X, first.X*logAxis("", spanOf(curves...)).Max/first.Y)
				curves[k].under = reports.Line{Color: c.look.Color, Width: 0.6, Broken: true,
					Points: []reports.Point{first, xy(end, first.Y*end/first.X)}, About: reports.About{Key: c.label}}
			}
		}
		f.Legend, f.Panels = legend(curves), append(f.Panels, curvePanel(quantity.height, x, quantity.title, curves...))
	}
	for i := range f.Panels[:len(f.Panels)-1] {
		f.Panels[i].X.Title = ""
	}
	return f
}

// workerAxis is a logarithmic axis with a tick at each number of workers. Of many, powers of two are labeled.
func workerAxis(lines []scalingLine) reports.Axis {
	labels, counts := map[int]string{}, newSpan()
	a := reports.Axis{Title: "Number of " + lines[0].worker + "s", Log: true}
	if slices.ContainsFunc(lines, func(l scalingLine) bool { return l.worker != lines[0].worker }) {
		a.Title = "Number of threads or ranks"
	}
	for _, l := range lines {
		for _, p := range l.points {
			if _, ranks := workers(p.Summary); ranks > 0 && p.workers > ranks {
				a.Title = "Number of threads, in all ranks"
			}
			labels[p.workers] = strconv.Itoa(p.workers)
			counts.add(float64(p.workers))
		}
	}
	a.Min, a.Max = counts.low/1.15, counts.high*1.15
	for _, n := range slices.Sorted(maps.Keys(labels)) {
		if len(labels) > 10 && n&(n-1) != 0 {
			labels[n] = ""
		}
		a.Ticks = append(a.Ticks, reports.Tick{At: float64(n), Label: labels[n]})
	}
	return a
}

func scalingTable(lines []scalingLine) reports.Table {
	var all []scalingPoint
	for _, l := range lines {
		all = append(all, l.points...)
	}
	t := reports.NewRunTable(all, "scaling|line|#workers|graph|#GTEPS, harmonic|#± deviation|#speed-up|#efficiency|"+
		"#messages|#bytes",
		"Speed-up is the rate over that of the first row of the line; efficiency is the speed-up over the growth of the "+
			"workers: in weak scaling, too, the rate has to grow as the workers do. More workers than cores share them. "+
			"Runs that are not complete or have a wrong search are left out. Numbers are medians over runs that agree in "+
			"everything. Messages and bytes are those of all ranks in a search.")
	for _, l := range lines {
		for _, p := range l.points {
			teps, messages, bytes, deviation := p.Rates().TEPS, reports.Missing, reports.Missing, reports.Missing
			speedUp := teps.Mean / l.points[0].Rates().TEPS.Mean
			if ranked, ok := sumRanks(p.Summary); ok {
				messages, bytes = ranked.sent()
			}
			if teps.StdDev != nil {
				deviation = units.Significant(*teps.StdDev/1e9, 2)
			}
			t.Add(map[bool]string{false: "strong", true: "weak"}[l.weak], l.name, workersText(p.Summary),
				p.GraphCell(), reports.GTEPS(teps.Mean), deviation, units.Significant(speedUp, 3),
				units.Percent(speedUp*float64(l.points[0].workers)/float64(p.workers), 3), messages, bytes)
		}
	}
	t.DropEmpty()
	return t
}
