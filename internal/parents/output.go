// SPDX-License-Identifier: Apache-2.0

package parents

import (
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
)

// Output is the step of a search that writes the parents of a list of places (labels, or the labels that a rank owns),
// inside the clock. From Begin on, workers that wait copy the template (Ahead); Write copies the rest, region by
// region, and corrects each region while it is in a cache. For searches that reach few vertices, Erase makes all
// unreached, and Correct follows after the engine has written the template's parents of those that it reached. So every
// search confirms or replaces every entry.
type Output struct {
	team     *team.Team
	template Labels // [places]
	widen    func(into []graph.Vertex, labels []uint32)
	workers  []shares
	region   int

	parent        []graph.Vertex // the parent of place k is parent[first+k*stride]
	first, stride int
}

// shares is what a worker contributes to the output. The padding keeps two workers off one cache line.
type shares struct {
	corrections   *Corrections
	from, to, end int // copied ahead: places from..to-1 of the worker's share, which ends at end
	_             [32]byte
}

const aheadPlaces = 128 // copied at a time while a worker waits, in less than a microsecond

// NewOutput returns the output of searches with a template of labels below bound. Each worker fills its corrections.
func NewOutput(t *team.Team, template Labels, bound int64, corrections []*Corrections) *Output {
	o := &Output{team: t, template: template, widen: Widen(bound), workers: make([]shares, t.Size())}
	for w := range o.workers {
		o.workers[w].corrections = corrections[w]
	}
	o.region = corrections[0].Region()
	return o
}

// Begin begins the output of a search to parent, where place k has entry first+k*stride.
func (o *Output) Begin(parent []graph.Vertex, first, stride int) {
	o.parent, o.first, o.stride = parent, first, stride
}

// BeginWorker resets what a worker did for the previous search. It is called between Begin and Ahead.
func (o *Output) BeginWorker(worker int) {
	x := &o.workers[worker]
	x.corrections.Reset()
	x.from, x.end = o.team.First(worker, len(o.template.Low), o.region)
	x.to = x.from
}

// End gives the array back to the caller.
func (o *Output) End() { o.parent = nil }

// Ahead copies the template while workers wait.
func (o *Output) Ahead() team.Idler { return (*ahead)(o) }

type ahead Output

// Idle copies a little of the template in the worker's share of the places.
func (a *ahead) Idle(worker int) (did, more bool) {
	o := (*Output)(a)
	x := &o.workers[worker]
	from, to := x.to, min(x.to+aheadPlaces, x.end)
	o.copy(from, to)
	x.to = to
	return true, to < x.end
}

// Write writes the template, and the corrections of all workers over it.
func (o *Output) Write() { o.team.Do(len(o.template.Low), o.region, (*write)(o)) }

type write Output

// Piece writes places from..to-1, which are a region.
func (w *write) Piece(_, from, to int) {
	o := (*Output)(w)
	begin := from // of what has not been copied
	for k := range o.workers {
		if x := &o.workers[k]; x.from <= from {
			begin = max(begin, min(x.to, to))
		}
	}
	o.copy(begin, to)
	for k := range o.workers {
		o.workers[k].corrections.Apply(from, o.parent[o.first:], o.stride)
	}
}

func (o *Output) copy(from, to int) {
	if from >= to {
		return // perhaps because there are more ranks than labels; then first is not an entry
	}
	if o.stride == 1 && o.template.High == nil {
		o.widen(o.parent[o.first+from:o.first+to], o.template.Low[from:to])
		return
	}
	for k := from; k < to; k++ {
		o.parent[o.first+k*o.stride] = o.template.At(uint32(k))
	}
}

// Erase makes all places unreached.
func (o *Output) Erase() { o.team.Do(len(o.template.Low), o.region, (*erase)(o)) }

type erase Output

// Piece makes places from..to-1 unreached.
func (e *erase) Piece(_, from, to int) {
	for k := from; k < to; k++ {
		e.parent[e.first+k*e.stride] = graph.Unreached
	}
}

// Correct writes the corrections of all workers.
func (o *Output) Correct() {
	for first := 0; first < len(o.template.Low); first += o.region {
		for k := range o.workers {
			o.workers[k].corrections.Apply(first, o.parent[o.first:], o.stride)
		}
	}
}

// Set writes a parent, or graph.Unreached, at once.
func (o *Output) Set(place int, parent graph.Vertex) { o.parent[o.first+place*o.stride] = parent }
