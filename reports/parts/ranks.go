// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"slices"
	"strings"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/reports"
)

func ranks(runs []reports.Summary, _ []reports.Reference) reports.Part {
	var ranked []rankedRun
	for _, r := range runs {
		if one, ok := sumRanks(r); ok && r.Rates() != nil {
			ranked = append(ranked, one)
		}
	}
	return reports.Part{
		Title: "Ranks: where the time goes and what is sent", Table: ranksTable(ranked),
		Figures:     []reports.Figure{phaseFigure(ranked)},
		Explanation: "Messages and bytes are counted. Transfers include the wait for other ranks.",
	}
}

// rankedRun sums up a run of an engine with ranks: means of a search, over the searches that are not wrong.
type rankedRun struct {
	reports.Summary
	phases          []rankedPhase
	messages, bytes float64
	computing       []float64 // seconds of each rank in all searches
}

type rankedPhase struct {
	name                     string
	seconds, messages, bytes float64
	sends                    bool // messages were counted
}

// transfers reports whether a phase is a transfer or waits for one. All other phases compute.
func (p rankedPhase) transfers() bool { return p.sends || p.name == "reduce" }

// sumRanks adds up the searches of a run; ok is false for one without ranks, or with several numbers of them.
func sumRanks(run reports.Summary) (r rankedRun, ok bool) {
	r.Summary = run
	n := 0.0 // searches
	for _, root := range run.Roots {
		if root.Broken() || len(root.Ranks) == 0 || run.LevelFault(root) != "" {
			continue
		}
		if n++; n == 1 {
			r.computing = make([]float64, len(root.Ranks))
		}
		if len(root.Ranks) != len(r.computing) {
			return r, false
		}
		var phases []plugins.Phase
		for _, level := range root.Levels {
			phases = append(phases, level.Phases...)
		}
		for _, phase := range append(phases, root.Phases...) {
			p := r.phaseNamed(phase.Name)
			messages, counted := phase.Messages.Get()
			bytes, _ := phase.Bytes.Get()
			p.seconds, p.sends = p.seconds+phase.Elapsed.Seconds(), p.sends || counted
			p.messages, p.bytes = p.messages+float64(messages), p.bytes+float64(bytes)
		}
		for k, rank := range root.Ranks {
			for _, phase := range rank.Phases {
				if !r.phaseNamed(phase.Name).transfers() {
					r.computing[k] += phase.Elapsed.Seconds()
				}
			}
		}
	}
	for i := range r.phases {
		p := &r.phases[i]
		p.seconds, p.messages, p.bytes = p.seconds/n, p.messages/n, p.bytes/n
		r.messages += p.messages
		r.bytes += p.bytes
	}
	return r, len(r.phases) > 0
}

func (r *rankedRun) phaseNamed(name string) *rankedPhase {
	i := slices.IndexFunc(r.phases, func(p rankedPhase) bool { return p.name == name })
	if i < 0 {
		i = len(r.phases)
		r.phases = append(r.phases, rankedPhase{name: name})
	}
	return &r.phases[i]
}

func (r rankedRun) sent() (messages, bytes string) {
	return units.Integer(int64(r.messages + 0.5)), units.Integer(int64(r.bytes + 0.5))
}

// imbalance is the computing time of the slowest rank over that of the mean rank; NaN without computing.
func (r rankedRun) imbalance() float64 {
	sum := 0.0
	for _, seconds := range r.computing {
		sum += seconds
	}
	return slices.Max(r.computing) * float64(len(r.computing)) / sum
}

// phaseFigure draws time, messages and bytes of the phases, a row for every run. The last of many phases are gray.
func phaseFigure(runs []rankedRun) reports.Figure {
	f := reports.Figure{Name: "phases", Title: "Time, messages and bytes of the phases of a search by engines with ranks"}
	if len(runs) == 0 {
		return f
	}
	f.Note("Means over searches; times are means over ranks too, messages and bytes those of all ranks together. Ranks " +
		"that are goroutines of one process copy nothing, so their transfers are only waiting.")
	runs = limited(&f, runs, maxRows, "runs; the table has all")
	var names []string
	for _, r := range runs {
		for _, p := range r.phases {
			if !slices.Contains(names, p.name) {
				names = append(names, p.name)
			}
		}
	}
	colors := append(slices.Clone(reports.BarColors()), reports.Outside()) // of all others
	for _, quantity := range []struct {
		title string
		of    func(rankedPhase) float64
	}{
		{"Time of a search (ms)", func(p rankedPhase) float64 { return p.seconds * 1e3 }},
		{"Messages of a search", func(p rankedPhase) float64 { return p.messages }},
		{"KiB of a search", func(p rankedPhase) float64 { return p.bytes / 1024 }},
	} {
		var rows []row
		for _, r := range runs {
			parts, sum := make([]float64, len(names)), 0.0
			for _, p := range r.phases {
				parts[slices.Index(names, p.name)] = quantity.of(p)
				sum += quantity.of(p)
			}
			rows = append(rows, barRow(r.RowName()+", "+workersText(r.Summary), units.Significant(sum, 3), parts, colors...))
		}
		f.Panels = append(f.Panels, barPanel(quantity.title, rows))
	}
	f.Legend = blocks(colors, names...)
	return f
}

func ranksTable(runs []rankedRun) reports.Table {
	t := reports.NewTable("run|partition|#workers|#computing|#transfers and waiting|#imbalance|#messages|#bytes",
		"Means of a search. Times are means over ranks; messages and bytes are those of all ranks together. Imbalance is "+
			"the computing time of the slowest rank over the mean.")
	for _, r := range runs {
		var computing, transfers float64
		for _, p := range r.phases {
			if p.transfers() {
				transfers += p.seconds
			} else {
				computing += p.seconds
			}
		}
		messages, bytes := r.sent()
		t.Add(r.RowName(), partitionName(r.Options["partition"]), workersText(r.Summary), units.Seconds(computing),
			units.Seconds(transfers), units.Significant(r.imbalance(), 3), messages, bytes)
	}
	return t
}

// partitionName spells the option partition as the literature does: 1D, 2D.
func partitionName(option string) string { return strings.Replace(reports.Name(option), "d", "D", 1) }
