// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tepsbench/teps/record"
)

// Sorted orders runs by graph, and on each graph the fastest first. Scales come before other graphs, which keep their
// order.
func Sorted(runs []Summary) []Summary {
	var graphs []record.GraphID
	for _, run := range runs {
		graphs = append(graphs, run.GraphID)
	}
	slices.SortStableFunc(graphs, func(a, b record.GraphID) int {
		return cmp.Or(min(len(a.Source), 1)-min(len(b.Source), 1), a.Scale-b.Scale)
	})
	return slices.SortedStableFunc(slices.Values(runs), func(a, b Summary) int {
		return cmp.Or(slices.Index(graphs, a.GraphID)-slices.Index(graphs, b.GraphID), cmp.Compare(b.Rate(), a.Rate()))
	})
}

// Variants sums up the runs that agree in everything but their start. A variant has one label on all graphs, unless the
// scales of the report have several edge factors or seeds.
func (r Report) Variants() (out []Summary) {
	type place struct {
		label, input string
		graph        record.GraphID
	}
	recipes := map[string]bool{}
	for _, run := range r.runs {
		if run.Source == "" {
			recipes[run.Input()] = true
		}
	}
	labels, taken, at := map[string]string{}, map[string]bool{}, map[place]int{}
	var repeats [][]record.Result
	for _, run := range r.runs {
		what := fmt.Sprintln(run.Engine.Name, run.Kernel, run.Options, run.Build, run.Machine, run.Version())
		if run.Source == "" && len(recipes) > 1 {
			what += run.Input()
		}
		if labels[what] == "" {
			name, _, _ := strings.Cut(run.Label, " [")
			labels[what] = Unique(taken, name, " #")
		}
		run.Label, run.Key.Engine = labels[what], labels[what]
		key := place{run.Label, run.Input(), run.GraphID}
		i, known := at[key]
		if !known {
			i, at[key] = len(out), len(out)
			out, repeats = append(out, run), append(repeats, nil)
		}
		repeats[i] = append(repeats[i], run.Repeats...)
	}
	for i, first := range out {
		out[i].Differs = differences(first, out)
		if out[i] = out[i].Of(repeats[i]...); len(out[i].Rated) == 0 {
			out[i].noNumbers()
		}
	}
	return out
}

// differences describes how a run differs from the runs of variants with the same name.
func differences(s Summary, variants []Summary) string {
	name := func(s Summary) string { return strings.Split(s.Label, " #")[0] }
	mine, differs := s.traits(), map[string]bool{}
	for _, other := range variants {
		if theirs := other.traits(); name(other) == name(s) && other.Source == s.Source {
			for _, traits := range []map[string]string{mine, theirs} {
				for trait := range traits {
					differs[trait] = differs[trait] || mine[trait] != theirs[trait]
				}
			}
		}
	}
	var out []string
	for _, trait := range slices.Sorted(maps.Keys(differs)) {
		if value := mine[trait]; differs[trait] && value != "" && value != Missing {
			out = append(out, trait+value)
		}
	}
	return Joined(", ", out...)
}

// traits are the values in which variants of one name may differ, by the words before the value.
func (s Summary) traits() map[string]string {
	t := map[string]string{"on ": s.Machine, "build ": s.BuildName(), "version ": s.Version()}
	if s.Source == "" {
		t[""] = s.Input()
	}
	for name, value := range s.Options {
		t[EngineName(name)+"="] = EngineName(value)
	}
	return t
}
