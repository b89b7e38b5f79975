package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
)

// maxSeparate is the number of records whose runs are shown one by one. More of them are the repeats of a sweep.
const maxSeparate = 8

// Many reports whether a report has one line for each variant, and single records only folded.
func (r Report) Many() bool { return len(r.Results) > maxSeparate }

// variants groups runs that agree in everything but the time of their start. A variant has the same label on every
// graph.
func (r Report) variants() [][]Run {
	type place struct {
		what  string
		graph record.GraphID
	}
	labels, taken, at := map[string]string{}, map[string]bool{}, map[place]int{}
	var out [][]Run
	for _, run := range r.Runs() {
		key := place{fmt.Sprintln(run.Engine.Name, run.Engine.Checksum, run.Options, run.details()), run.GraphID}
		if labels[key.what] == "" {
			labels[key.what] = unique(taken, run.Label[:strings.LastIndex(run.Label, " [")], " #")
		}
		run.Label = labels[key.what]
		i, known := at[key]
		if !known {
			i, at[key] = len(out), len(out)
			out = append(out, nil)
		}
		out[i] = append(out[i], run)
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

// VariantTable has a line for each variant and graph: the median rate of its runs that have a result, and their range.
func (r Report) VariantTable() Table {
	t := newTable("engine|"+graphHead(r.Runs())+"|#runs|#with a result|#GTEPS, median of runs|#min|#max|state",
		"The rate of a run is the harmonic mean over its roots. The figures show the run with the median rate.")
	for _, repeats := range r.variants() {
		worst := slices.MaxFunc(repeats, func(a, b Run) int { return cmp.Compare(a.Verdict().Grade, b.Verdict().Grade) })
		var rates []float64
		for _, run := range byRate(repeats) {
			rates = append(rates, run.Rates().TEPS.Mean)
		}
		median, low, high := Missing, Missing, Missing
		if n := len(rates); n > 0 {
			median, low, high = GTEPS(units.Median(rates)), GTEPS(rates[0]), GTEPS(rates[n-1])
		}
		t.add(repeats[0].Label, repeats[0].graphCell(), strconv.Itoa(len(repeats)), strconv.Itoa(len(rates)),
			median, low, high, worst.Verdict().Word)
		t.style(7, worst.Verdict().Class())
	}
	return t
}
