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

// Grouped puts things with the same key together, in the order in which the keys come first.
func Grouped[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	place := map[K]int{}
	for _, one := range all {
		i, known := place[key(one)]
		if !known {
			i, place[key(one)], groups = len(groups), len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
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
	labels, taken := map[string]string{}, map[string]bool{}
	var named []Summary
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
		named = append(named, run)
	}
	for _, same := range Grouped(named, func(run Summary) place { return place{run.Label, run.Input(), run.GraphID} }) {
		var repeats []record.Result
		for _, run := range same {
			repeats = append(repeats, run.Repeats...)
		}
		variant := same[0].Of(repeats...)
		if len(variant.Rated) == 0 {
			variant.noNumbers()
		}
		out = append(out, variant)
	}
	for i, variant := range out {
		out[i].Differs = differences(variant, out)
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
