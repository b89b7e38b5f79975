package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// maxSeparate is the number of records whose runs are shown one by one. More of them are the repeats of a sweep.
const maxSeparate = 8

// Many reports whether a report has one line for each variant, and single records only folded.
func (r Report) Many() bool { return len(r.Results) > maxSeparate }

// variants groups runs that agree in everything but the time of their start. A variant has the same label on every
// graph, unless the scales of the report are of graphs with several edge factors or seeds.
func (r Report) variants() [][]Run {
	type place struct {
		label, input string
		graph        record.GraphID
	}
	runs, recipes := r.Runs(), map[string]bool{}
	for _, run := range runs {
		if run.Source == "" {
			recipes[run.input()] = true
		}
	}
	labels, taken, at := map[string]string{}, map[string]bool{}, map[place]int{}
	var out [][]Run
	for _, run := range runs {
		what := fmt.Sprintln(run.Engine.Name, run.Engine.Checksum, run.Options, run.program())
		if run.Source == "" && len(recipes) > 1 {
			what += run.input()
		}
		if labels[what] == "" {
			labels[what] = unique(taken, run.Label[:strings.LastIndex(run.Label, " [")], " #")
		}
		run.Label = labels[what]
		key := place{run.Label, run.input(), run.GraphID}
		i, known := at[key]
		if !known {
			i, at[key] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], run)
	}
	return out
}

// named are the runs of figures that stand alone, without a list of records: names have no mark if they differ anyway.
func (r Report) named() []Run {
	if r.Many() || len(r.Results) < 2 {
		return r.shown()
	}
	var out []Run
	for _, repeats := range r.variants() {
		if len(repeats) > 1 || strings.Contains(repeats[0].Label, " #") {
			return r.shown()
		}
		out = append(out, repeats[0])
	}
	return out
}

// shown are the runs to draw together: all of them or, of many records, the run with the median rate of each variant.
func (r Report) shown() []Run {
	if !r.Many() {
		return r.Runs()
	}
	var out []Run
	for _, repeats := range r.variants() {
		if rated := byRate(repeats); len(rated) > 0 {
			out = append(out, rated[(len(rated)-1)/2])
		}
	}
	return out
}

// byRate returns the runs that have a result, slowest first.
func byRate(runs []Run) []Run {
	rated := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		return r.Verdict().Grade >= Bad || r.Rates() == nil
	})
	slices.SortStableFunc(rated, func(a, b Run) int { return cmp.Compare(a.Rates().TEPS.Mean, b.Rates().TEPS.Mean) })
	return rated
}

// VariantTable has a line for each variant and graph.
func (r Report) VariantTable() Table {
	var all []Variant
	variants := r.variants()
	for _, repeats := range variants {
		worst := slices.MaxFunc(repeats, func(a, b Run) int { return cmp.Compare(a.Verdict().Grade, b.Verdict().Grade) })
		v := Variant{Engine: repeats[0].Label, GraphID: repeats[0].GraphID, Graph: repeats[0].graphCell(),
			Planned: len(repeats), State: worst.Verdict().Word, Class: worst.Verdict().Class(),
			Differs: differences(repeats[0], variants)}
		for _, run := range byRate(repeats) {
			v.Runs = append(v.Runs, run.Run)
		}
		all = append(all, v)
	}
	t := VariantTable(all)
	t.Note += " The figures show the run with the median rate."
	return t
}

// differences are what distinguishes a run from those of variants with the same name, but for the number at its end.
func differences(r Run, variants [][]Run) string {
	name := func(r Run) string { return strings.Split(r.Label, " #")[0] }
	mine, differs := r.traits(), map[string]bool{}
	for _, other := range variants {
		if theirs := other[0].traits(); name(other[0]) == name(r) && other[0].Source == r.Source {
			for trait := range mine {
				differs[trait] = differs[trait] || mine[trait] != theirs[trait]
			}
			for trait := range theirs {
				differs[trait] = differs[trait] || mine[trait] != theirs[trait]
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

// traits are what variants of one name may differ in, by the words before the value.
func (r Run) traits() map[string]string {
	t := map[string]string{"on ": r.Machine, "program ": Clean(r.Engine.Checksum, 12)}
	if r.Source == "" {
		t[""] = r.input()
	}
	if d := r.Description; d != nil {
		t["version "] = EngineName(d.Version)
	}
	for name, value := range r.Options {
		t[EngineName(name)+"="] = EngineName(value)
	}
	return t
}

// Variant is one engine with its options on one graph, measured several times.
type Variant struct {
	record.GraphID
	Engine, Graph string       // as they are shown
	Runs          []record.Run // that have a result
	Planned       int          // number of runs, with a result or without
	Memory        int64        // bytes that a run needs; 0: unknown
	State, Class  string       // of the worst run
	Differs       string       // from variants of the same name
}

// VariantTable has a line for each variant: medians over its runs, and the range of their rates. Columns without a
// value are left out.
func VariantTable(all []Variant) Table {
	t := NewRunTable(all, func(v Variant) record.GraphID { return v.GraphID },
		"#runs|#GTEPS|#"+Range+"|#median ms|#kernel 1 s|state|#memory|#MTEPS/W|what differs",
		"Numbers are medians over the runs; the rate of a run is the harmonic mean over its roots.")
	for _, v := range all {
		var kernel1, search, rates []float64
		for _, run := range v.Runs {
			if run.Construction != nil {
				kernel1 = append(kernel1, run.Construction.Elapsed.Seconds())
			}
			search = append(search, run.Statistics.Time.Median*1e3)
			rates = append(rates, run.Statistics.TEPS.Mean/1e9)
		}
		between := Missing
		if len(rates) > 1 {
			between = units.Significant(slices.Min(rates), 3) + " … " + units.Significant(slices.Max(rates), 3)
		}
		t.Add(v.Engine, v.Graph, fmt.Sprintf("%d/%d", len(v.Runs), v.Planned), median(rates), between,
			median(search), median(kernel1), v.State, units.Bytes(v.Memory), v.perWatt(), v.Differs)
		t.Style(7, v.Class)
		t.Style(10, "why")
		t.Compare(RowKey{v.Engine, v.GraphID}, 3, 5, 6, 9)
	}
	t.Head[7].Class = "whole"
	t.DropEmpty()
	return t
}

// median is that of the values, and Missing if there are none.
func median(values []float64) string {
	if len(values) == 0 {
		return Missing
	}
	return units.Significant(units.Median(values), 4)
}

// perWatt is the median of the runs that have a power with the same label as that of the first, and this label.
func (v Variant) perWatt() string {
	var rates []float64
	label := ""
	for _, run := range v.Runs {
		if f, found := run.Energy.Headline(); found && (label == "" || label == f.Label()) {
			rates, label = append(rates, f.MTEPSPerWatt), f.Label()
		}
	}
	return strings.TrimSpace(median(rates) + " " + label)
}
