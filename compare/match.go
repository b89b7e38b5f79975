package compare

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
)

// matched are the runs of one engine at one scale on both sides.
type matched struct {
	engine, engineB string
	scale           int
	a, b            []harness.Run
}

// match pairs runs by the label of their engine and by scale, in the order of a, and what only b has after that. Where each
// side has one label alone, these two belong together even if they differ.
func match(a, b []harness.Result) (all []matched) {
	renamed := map[string]string{} // labels of b by those of a
	if la, lb := labels(a), labels(b); len(la) == 1 && len(lb) == 1 {
		renamed[la[0]] = lb[0]
	}
	type key struct {
		engine string
		scale  int
	}
	at := map[key]int{}
	add := func(k key, engineB string, runs func(*matched)) {
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, matched{engine: k.engine, engineB: engineB, scale: k.scale})
		}
		runs(&all[i])
	}
	for _, result := range a {
		for _, run := range result.Runs {
			label := cmp.Or(renamed[run.Engine.Name], run.Engine.Name)
			add(key{label, run.Scale}, label, func(m *matched) { m.engine = run.Engine.Name; m.a = append(m.a, run) })
		}
	}
	for _, result := range b {
		for _, run := range result.Runs {
			add(key{run.Engine.Name, run.Scale}, run.Engine.Name, func(m *matched) { m.b = append(m.b, run) })
		}
	}
	return all
}

// labels are the distinct labels of engines, sorted.
func labels(results []harness.Result) (names []string) {
	for _, result := range results {
		for _, run := range result.Runs {
			names = append(names, run.Engine.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func sources(results []harness.Result) (all []Source) {
	for _, r := range results {
		all = append(all, Source{ID: r.ID, Started: r.Started.Format(time.RFC3339), Sealed: r.Sealed()})
	}
	return all
}

// sourceWarnings are about the records themselves.
func sourceWarnings(a, b []Source) (warnings []string) {
	seen, unsealed := map[string]bool{}, 0
	for _, s := range slices.Concat(a, b) {
		if seen[s.ID] {
			warnings = append(warnings, fmt.Sprintf("run %s is there twice: a run compared with itself shows nothing", s.ID))
		}
		seen[s.ID] = true
		if !s.Sealed {
			unsealed++
		}
	}
	if unsealed > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d records have no seals (first release): whether they were edited cannot be told", unsealed, len(a)+len(b)))
	}
	return warnings
}

// cost is the time of a search in seconds a tuple, by root; the rate is its inverse. A search without a count of tuples has
// none.
func costs(run harness.Run) map[graph.Vertex]float64 {
	all := map[graph.Vertex]float64{}
	for _, r := range run.Roots {
		if r.NEdge != nil && *r.NEdge > 0 && r.Time > 0 {
			all[r.Root] = r.Time / float64(*r.NEdge)
		}
	}
	return all
}

// common are the roots that all runs have, sorted, with the costs of each run.
func common(runs []harness.Run) (roots []graph.Vertex, byRun []map[graph.Vertex]float64) {
	for n, run := range runs {
		c := costs(run)
		byRun = append(byRun, c)
		if n == 0 {
			for root := range c {
				roots = append(roots, root)
			}
			continue
		}
		roots = slices.DeleteFunc(roots, func(root graph.Vertex) bool { _, has := c[root]; return !has })
	}
	slices.Sort(roots)
	return roots, byRun
}

// sameGraph says that all runs had the same tuples.
func sameGraph(runs []harness.Run) bool {
	for _, run := range runs {
		if run.Graph == nil || run.Graph.Recipe != runs[0].Graph.Recipe {
			return false
		}
	}
	return true
}
