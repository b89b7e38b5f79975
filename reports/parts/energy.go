// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"slices"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
)

// Every power figure has a scope and a method, and a report shows both with the number: the power of one GPU is not
// that of a system, and an estimate is not a measurement.

func energy(runs []reports.Summary, references []reports.Reference) reports.Part {
	perWatt := quantity{"MTEPS per watt", func(r reports.Summary) float64 {
		p, _ := r.PowerFigure()
		return p.MTEPSPerWatt
	}, false, func(r reports.ReferenceRow) (mean, low, high float64) { return r.MTEPSPerWatt, 0, 0 }}
	const note = "Rate of the energy loop over its mean power, idle power included. Component power (gpu, package, " +
		"dram) leaves out the rest of the machine and is not system power."
	overScales := reports.Figure{Name: "mteps-per-watt", Title: "Search rate per watt over the size of the graph",
		Notes: []string{note}}
	overGraphs := reports.Figure{Name: "mteps-per-watt-over-graphs",
		Title: "Search rate per watt on each graph, for each engine",
		Notes: []string{note + " Depth: mean of the largest levels."}}
	metered := meteredRuns(runs)
	return reports.Part{
		Title: "Energy: search rate per watt", Table: energyTable(runs), Wide: true, TableOnly: true,
		Figures: append([]reports.Figure{scaleFigure(overScales, metered, references, perWatt),
			graphsFigure(overGraphs, metered, references, perWatt)}, powerFigures(runs)...),
		Explanation: "The rate of a loop of searches over the mean power of the same interval, idle power included.",
	}
}

// kindOfPower tells system power from component power.
func kindOfPower(f record.PowerFigure) string {
	if f.System {
		return "system"
	}
	return "component"
}

// noFigure says why a run with an energy loop has no figure.
func noFigure(r reports.Summary) string {
	if v := r.Verdict(); v.Grade == reports.Wrong {
		return v.Why
	}
	return reports.Sentence(r.Compliance.Power)
}

// meteredRuns are the runs with a power figure; their names say what power it is of.
func meteredRuns(runs []reports.Summary) (out []reports.Summary) {
	for _, r := range runs {
		if p, found := r.PowerFigure(); found {
			r.Label += " (" + kindOfPower(p) + ": " + p.Label() + ")"
			out = append(out, r)
		}
	}
	return out
}

// energyTable has a line for each power figure, and one that gives the reason for each run without.
func energyTable(runs []reports.Summary) reports.Table {
	t := reports.NewRunTable(runs, "engine|graph|power of|kind|method|#watts|#idle watts|#MTEPS/W|#± %|"+
		"#MTEPS/W above idle|#± %|#J per search|#loop|#searches",
		"MTEPS/W is the rate of the energy loop over the mean power of that same interval, idle power included; above idle, "+
			"the power of the idle baseline is subtracted. ± bounds the error that sampling adds; the error of the sensor "+
			"itself is not in it. Component power is not system power: it leaves out what the meter does not cover.")
	percent := func(x float64) string { return units.Significant(x*100, 2) }
	four := func(x float64) string { return units.Significant(x, 4) }
	for _, r := range runs {
		if r.Energy == nil {
			continue
		}
		figures := r.PowerFigures()
		if len(figures) == 0 {
			row := slices.Concat([]string{r.Label, r.GraphCell(), noFigure(r), "", ""},
				slices.Repeat([]string{reports.Missing}, 9))
			t.Add(row...)
		}
		for _, f := range figures {
			loop := r.Energy.Loop
			t.Add(r.Label, r.GraphCell(), reports.Name(f.Of), kindOfPower(f), string(f.Method), four(f.Watts),
				reports.Optional(f.IdleWatts, four), four(f.MTEPSPerWatt), percent(f.Uncertainty),
				reports.Optional(f.MTEPSPerWattOverIdle, four), reports.Optional(f.UncertaintyOverIdle, percent),
				four(f.JoulesPerSearch), units.Seconds(loop.Elapsed), units.Integer(loop.Searches))
		}
	}
	return t
}
