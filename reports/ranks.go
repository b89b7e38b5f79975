package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

const mostBars = 12 // runs with a bar each

// rankedRun is a run of an engine that has ranks, summed up: means of a search, over the searches that are not wrong.
type rankedRun struct {
	labelled
	ranks    int
	cut      string // as the engine's option partition says; empty when it has none
	phases   []rankedPhase
	messages float64
	bytes    float64
	perRank  [][]float64 // [rank][phase] seconds
}

// rankedPhase is one phase of a search.
type rankedPhase struct {
	name     string
	seconds  float64 // mean over ranks
	slowest  float64 // of the slowest rank, level by level
	messages float64 // of all ranks
	bytes    float64
	sends    bool // messages were counted
}

// transfers says whether a phase is a transfer or waits for one; everything else computes.
func (p rankedPhase) transfers() bool { return p.sends || p.name == "reduce" }

// rankedRuns are the runs that have ranks and rates.
func rankedRuns(runs []labelled) []rankedRun {
	var out []rankedRun
	for _, l := range runs {
		if drawable(l.run) == nil {
			continue
		}
		if r, ok := sumRanks(l); ok {
			out = append(out, r)
		}
	}
	return out
}

func sumRanks(l labelled) (rankedRun, bool) {
	r := rankedRun{labelled: l, cut: l.run.Options["partition"]}
	searches := 0
	for _, root := range l.run.Roots {
		if root.Broken() || len(root.Ranks) == 0 {
			continue
		}
		if searches > 0 && len(root.Ranks) != r.ranks {
			return r, false
		}
		r.ranks = len(root.Ranks)
		searches++
		r.add(root)
	}
	if searches == 0 || len(r.phases) == 0 {
		return r, false
	}
	n := float64(searches)
	for i := range r.phases {
		p := &r.phases[i]
		p.seconds, p.slowest, p.messages, p.bytes = p.seconds/n, p.slowest/n, p.messages/n, p.bytes/n
		r.messages += p.messages
		r.bytes += p.bytes
	}
	for _, times := range r.perRank {
		for i := range times {
			times[i] /= n
		}
	}
	return r, true
}

func (r *rankedRun) add(root harness.RootRecord) {
	for _, level := range root.Levels {
		r.addPhases(level.Phases)
	}
	r.addPhases(root.Phases)
	if r.perRank == nil {
		r.perRank = make([][]float64, len(root.Ranks))
	}
	for k, rank := range root.Ranks {
		for _, p := range rank.Phases {
			i := r.place(p.Name)
			for len(r.perRank[k]) <= i {
				r.perRank[k] = append(r.perRank[k], 0)
			}
			r.perRank[k][i] += p.Elapsed.Seconds()
		}
	}
}

func (r *rankedRun) addPhases(list []plugins.Phase) {
	for _, phase := range list {
		p := &r.phases[r.place(phase.Name)]
		p.seconds += phase.Elapsed.Seconds()
		p.slowest += max(phase.Slowest, phase.Elapsed).Seconds()
		messages, counted := phase.Messages.Get()
		bytes, _ := phase.Bytes.Get()
		p.messages += float64(messages)
		p.bytes += float64(bytes)
		p.sends = p.sends || counted
	}
}

// place is where a phase stands in r.phases.
func (r *rankedRun) place(name string) int {
	i := slices.IndexFunc(r.phases, func(p rankedPhase) bool { return p.name == name })
	if i < 0 {
		i = len(r.phases)
		r.phases = append(r.phases, rankedPhase{name: name})
	}
	return i
}

// name is the run for an axis.
func (r rankedRun) name() string { return fmt.Sprintf("%s, s%d", r.label, r.run.Scale) }

// times adds up computing and transfers.
func (r rankedRun) times() (computing, transfers float64) {
	for _, p := range r.phases {
		if p.transfers() {
			transfers += p.seconds
		} else {
			computing += p.seconds
		}
	}
	return computing, transfers
}

// The network that transfers are modelled for beside measured ones (Hockney's model: a latency for every message, and its
// bytes by the bandwidth): that of a cluster, whatever the run had.
const (
	modelLatency   = 2e-6 // seconds a message
	modelBandwidth = 10e9 // bytes a second out of a rank
	modelText      = "2 µs a message, 10 GB/s out of a rank"
)

// modelled is what the transfers of the mean rank would take in that network, one message after the other.
func (r rankedRun) modelled() float64 {
	return (r.messages*modelLatency + r.bytes/modelBandwidth) / float64(r.ranks)
}

// imbalance is the time of the slowest rank over that of the mean, in what ranks compute.
func (r rankedRun) imbalance() (float64, bool) {
	slowest, mean := 0.0, 0.0
	for _, times := range r.perRank {
		sum := 0.0
		for i, t := range times {
			if !r.phases[i].transfers() {
				sum += t
			}
		}
		slowest = max(slowest, sum)
		mean += sum / float64(len(r.perRank))
	}
	return slowest / mean, mean > 0
}

// ranksTable holds what the drawings of ranks show.
func ranksTable(runs []rankedRun) tableView {
	t := tableView{Head: append(words("run", "cut"), numbers("ranks", "computing", "transfers and waiting", "imbalance", "messages", "bytes")...),
		Note: "Means of a search. Times are means over ranks; messages and bytes are those of all ranks together. Imbalance is the computing time of the slowest rank over the mean."}
	for _, r := range runs {
		computing, transfers := r.times()
		imbalance := missing
		if x, known := r.imbalance(); known {
			imbalance = significant(x, 3)
		}
		cut := strings.ToUpper(clean(r.cut, nameRunes))
		t.Rows = append(t.Rows, append(words(r.name(), joined("", cut)), numbers(fmt.Sprint(r.ranks), duration(computing), duration(transfers), imbalance,
			integer(int64(r.messages+0.5)), integer(int64(r.bytes+0.5)))...))
	}
	return t
}
