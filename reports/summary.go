// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Summary is what one engine measured on one graph: one run, or the repeats of a variant, which agree in engine,
// options, build, machine and input. All numbers of a report come from Summaries. Those of a variant are medians over
// the repeats that have a result (of two, their mean), and its roots are those of all these repeats.
type Summary struct {
	record.Run
	Label   string
	Machine string          // host and processor
	Build   string          // the checksum of an engine's program, or the commit or program of teps
	Key     RowKey          // of its row in tables
	Repeats []record.Result // its runs, each in a record of one run
	Rated   []record.Run    // those with a result, slowest first
	Planned int             // number of runs, with a result or without
	Worst   Verdict         // that of the worst run
	Memory  int64           // bytes that a run of a sweep needs; 0: unknown
	Differs string          // from variants of the same name
	graph   string          // the cut name of its graph
}

// Of sums up runs of an engine on one graph, each in a record of one run, under the names of s.
func (s Summary) Of(repeats ...record.Result) Summary {
	var rated []record.Run
	s.Repeats, s.Planned = repeats, len(repeats)
	for i, r := range repeats {
		one := Summary{Run: r.Runs[0]}
		v := one.Verdict()
		if i == 0 || v.Grade > s.Worst.Grade {
			s.Worst = v
		}
		if v.Grade < Bad && one.Rates() != nil {
			rated = append(rated, one.Run)
		}
	}
	s.Run = repeats[0].Runs[0]
	if s = s.Over(rated); len(rated) == 0 && len(repeats) > 1 {
		s.noNumbers()
	}
	return s
}

// Over takes the numbers from runs that have a result. These runs may lack their roots.
func (s Summary) Over(rated []record.Run) Summary {
	s.Rated = slices.SortedStableFunc(slices.Values(rated), func(a, b record.Run) int {
		return cmp.Compare(a.Statistics.TEPS.Mean, b.Statistics.TEPS.Mean)
	})
	if n := len(rated); n > 0 {
		s.Run = s.Rated[(n-1)/2]
	}
	if len(rated) > 1 {
		s.average()
	}
	return s
}

// MPIProcesses is the number of processes of the engine that searched: 1 unless it is an engine of several.
func (s Summary) MPIProcesses() int {
	if s.Engine.Builtin != "mpi" && (s.Description == nil || !s.Description.Spreads) {
		return 1
	}
	processes, _ := strconv.Atoi(s.Options["ranks"])
	return max(1, processes)
}

// Peak is the most memory that the processes of the run had; zeros: not known.
func (s Summary) Peak() record.PeakMemory { return *cmp.Or(s.Run.Memory, &record.PeakMemory{}) }

// noNumbers removes the numbers of a variant without a result.
func (s *Summary) noNumbers() { s.Statistics, s.Construction, s.Energy, s.Roots = nil, nil, nil, nil }

// average replaces the numbers of the run by medians over all rated runs.
func (s *Summary) average() {
	var times, rates []record.Spread
	var kernel1 []float64
	var figures []record.PowerFigure
	s.Roots = nil
	for _, run := range s.Rated {
		s.Roots = append(s.Roots, run.Roots...)
		times, rates = append(times, run.Statistics.Time), append(rates, run.Statistics.TEPS)
		if run.Construction != nil {
			kernel1 = append(kernel1, float64(run.Construction.Elapsed))
		}
		if run.Energy != nil {
			if s.Energy == nil {
				s.Energy, s.Compliance.Power = run.Energy, run.Compliance.Power
			}
			figures = append(figures, run.Energy.Figures...)
		}
	}
	s.Statistics = new(*s.Statistics)
	s.Statistics.Time, s.Statistics.TEPS = medianSpread(times), medianSpread(rates)
	if s.Construction != nil {
		s.Construction = new(*s.Construction)
		s.Construction.Elapsed = time.Duration(units.Median(kernel1))
	}
	if s.Energy != nil {
		s.Energy = new(*s.Energy)
		s.Energy.Figures = slices.Clone(s.Energy.Figures)
		for i, f := range s.Energy.Figures {
			s.Energy.Figures[i] = medianFigure(f, figures)
		}
	}
}

// medians is a copy of the first of all in which each number is the median over all. numbers returns places in its
// argument, a copy.
func medians[T any](all []T, numbers func(*T) []*float64) T {
	out := all[0]
	places := numbers(&out)
	values := make([][]float64, len(places))
	for _, one := range all {
		for i, x := range numbers(&one) {
			values[i] = append(values[i], *x)
		}
	}
	for i, place := range places {
		*place = units.Median(values[i])
	}
	return out
}

func medianSpread(all []record.Spread) record.Spread {
	return medians(all, func(s *record.Spread) []*float64 {
		var deviation float64
		if s.StdDev != nil {
			deviation = *s.StdDev
			s.StdDev = &deviation
		}
		return []*float64{&s.Min, &s.FirstQuartile, &s.Median, &s.ThirdQuartile, &s.Max, &s.Mean, &deviation}
	})
}

// medianFigure has the medians over all figures of the same power as f.
func medianFigure(f record.PowerFigure, all []record.PowerFigure) record.PowerFigure {
	same := slices.DeleteFunc(slices.Clone(all), func(g record.PowerFigure) bool {
		return g.Of != f.Of || g.Method != f.Method
	})
	return medians(same, func(f *record.PowerFigure) []*float64 {
		return []*float64{&f.MTEPSPerWatt, &f.Watts, &f.Joules, &f.JoulesPerSearch, &f.Uncertainty}
	})
}

// labelWidth is the width in columns of the name of an engine or a graph in figures and tables.
const labelWidth = 30

// summaries sums up each run under the name of its engine, with the mark of its record among several. Engines whose
// cleaned names are equal get a number.
func summaries(records ...record.Result) (out []Summary) {
	type origin struct {
		record int
		engine string
		kernel record.Kernel
	}
	var names, graphs []string
	for _, r := range records {
		for _, run := range r.Runs {
			names, graphs = append(names, Sentence(run.Engine.Name)), append(graphs, Sentence(run.GraphID.Graph().Cell()))
		}
	}
	short, graphs := Shorten(labelWidth, names...), Shorten(labelWidth, graphs...)
	labels, taken := map[origin]string{}, map[string]bool{}
	for i, r := range records {
		suffix := ""
		if len(records) > 1 {
			suffix = " " + mark(i)
		}
		for _, run := range r.Runs {
			from := origin{i, run.Engine.Name, run.Kernel}
			if labels[from] == "" {
				name := Joined(" ", EngineName(short[len(out)]), string(run.Kernel)) // its rates are compared with no others
				labels[from] = Unique(taken, name+suffix, " #")
			}
			single := r
			single.Runs = []record.Run{run}
			out = append(out, Summary{
				Label: labels[from], Machine: Joined(", ", Name(r.Machine.Hostname), Name(r.Machine.CPU)),
				Build: cmp.Or(run.Engine.Checksum, cleanCommit(r.Software.Commit), r.Software.Program, r.Software.Commit,
					r.Software.Version),
				Key: RowKey{labels[from], run.GraphID}, graph: graphs[len(out)],
			}.Of(single))
		}
	}
	return out
}

func cleanCommit(commit string) string {
	if strings.HasSuffix(commit, "+dirty") {
		return ""
	}
	return commit
}

// Version is the version that the engine states.
func (s Summary) Version() string {
	if s.Description == nil {
		return ""
	}
	return EngineName(s.Description.Version)
}

// BuildName is a short name of the build.
func (s Summary) BuildName() string { return ShortBuild(s.Build) }

// ShortBuild shortens a commit or a checksum; a plus stands for changes since the commit.
func ShortBuild(build string) string {
	commit, dirty := strings.CutSuffix(Clean(build, SentenceLength), "+dirty")
	word := []rune(commit)
	return string(word[:min(7, len(word))]) + map[bool]string{true: "+"}[dirty]
}

// Input is the recipe of the run's graph, or its checksum.
func (s Summary) Input() string {
	if s.Graph == nil {
		return ""
	}
	if k := s.Graph.Recipe; k.Scale > 0 {
		return fmt.Sprintf("edge factor %d, seeds %d and %d", k.EdgeFactor, k.Seed1, k.Seed2)
	}
	return Clean(s.Graph.SHA256, 12)
}

// RowName names the run on an axis by its engine and its graph.
func (s Summary) RowName() string {
	if s.Source != "" {
		return s.Label + ", " + s.GraphCell()
	}
	return fmt.Sprintf("%s, 2%s", s.Label, Superscript(s.Scale))
}

// GraphCell is the run's graph in a column: a scale, or a name.
func (s Summary) GraphCell() string { return cmp.Or(s.graph, Sentence(s.GraphID.Graph().Cell())) }

// GraphName is the run's graph in a sentence: scale 20, or a name.
func (s Summary) GraphName() string { return Name(s.GraphID.Graph().String()) }

// AtGraph is the run's graph in a sentence: at scale 20, or on and its name.
func (s Summary) AtGraph() string { return Sentence(s.GraphID.Graph().At()) }

func (s Summary) named() string { return fmt.Sprintf("%s %s: ", s.Label, s.AtGraph()) }

// Device is the host's processor, or the engine's first device if it is another kind or the only one with a name.
func (s Summary) Device() string {
	cpu, d := s.Repeats[0].Machine.CPU, s.Description
	if d == nil || len(d.Devices) == 0 || d.Devices[0].Kind == "cpu" && cpu != "" {
		return Name(cpu)
	}
	if n := len(d.Devices); n > 1 {
		return fmt.Sprintf("%d × %s", n, Name(d.Devices[0].Name))
	}
	return Name(d.Devices[0].Name)
}

// Rates returns the statistics of a run without a wrong search, else nil. Every rate of a report is from here.
func (s Summary) Rates() *record.Statistics {
	if s.Verdict().Grade == Wrong {
		return nil
	}
	return s.Statistics
}

// Rate is the harmonic mean of a run that is a result, in tuples a second; 0 of others.
func (s Summary) Rate() float64 {
	if s.Rates() == nil || s.Verdict().Grade >= Bad {
		return 0
	}
	return s.Rates().TEPS.Mean
}

// PowerFigures are the figures of a run that may be shown; none where a search was found wrong.
func (s Summary) PowerFigures() []record.PowerFigure {
	if s.Energy == nil || s.Verdict().Grade == Wrong {
		return nil
	}
	return s.Energy.Figures
}

// PowerFigure is the figure to show where there is room for one.
func (s Summary) PowerFigure() (record.PowerFigure, bool) {
	if len(s.PowerFigures()) == 0 {
		return record.PowerFigure{}, false
	}
	return s.Energy.Headline()
}

// PerWatt is the measured figure for a narrow column: the number and what power it is of.
func (s Summary) PerWatt() string {
	f, found := s.PowerFigure()
	if !found || f.Method != power.Measured {
		return Missing
	}
	return units.Significant(f.MTEPSPerWatt, 4) + " " + f.Label()
}

// On returns the graph of the run.
func (s Summary) On() record.GraphID { return s.GraphID }
