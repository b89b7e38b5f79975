// SPDX-License-Identifier: Apache-2.0

// Package parents writes the output of a search, the parents in original labels.
//
// Kernel 1 makes a template: a likely parent of every vertex, and none for vertices without neighbors. A search copies
// it, and corrects the entries of vertices that it reached through another neighbor or not at all. Single corrections
// would go to random places of the array, so a search first collects them by region, and then a worker copies a region
// and corrects it while it is in its cache.
package parents

import (
	"math/bits"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
)

// None stands for the parent of a vertex that has none.
const None uint32 = 1<<32 - 1

// Labels are the labels of some places, or graph.Unreached: a half of 32 bits of each, None for Unreached, and the
// other half if there are labels of more bits.
type Labels struct {
	Low  []uint32
	High []uint16 // nil: all labels are below MaxLow
}

// MaxLow bounds the labels that need no high half.
const MaxLow = 1<<lowBits - 1

// NewLabels returns room for labels below bound.
func NewLabels(m *memory.Arena, what string, places int, bound int64) Labels {
	l := Labels{Low: memory.Allocate[uint32](m, what, places)}
	if bound > MaxLow {
		l.High = memory.Allocate[uint16](m, what, places)
	}
	return l
}

// At returns the label of a place.
func (l *Labels) At(place uint32) graph.Vertex {
	if l.High == nil {
		return ToVertex(l.Low[place])
	}
	return Join(l.Low[place], l.High[place])
}

// Set sets the label of a place.
func (l *Labels) Set(place uint32, label graph.Vertex) {
	if l.Low[place] = uint32(label); l.High != nil {
		l.Low[place], l.High[place] = Split(label)
	}
}

// Part returns the labels of places from..to-1.
func (l *Labels) Part(from, to int) Labels {
	part := Labels{Low: l.Low[from:to]}
	if l.High != nil {
		part.High = l.High[from:to]
	}
	return part
}

// Split returns the halves of a label below 2^48-1, or of graph.Unreached, and Join puts them together.
func Split(label graph.Vertex) (low uint32, high uint16) {
	return uint32(label & (1<<lowBits - 1)), uint16(label >> lowBits)
}

// Join is the inverse of Split.
func Join(low uint32, high uint16) graph.Vertex {
	const labels = 1 << (lowBits + 16)
	return (graph.Vertex(high)<<lowBits+graph.Vertex(low)+1)&(labels-1) - 1
}

// Widen returns a function that writes labels of 32 bits, which are below bound, or None, as parents.
func Widen(bound int64) func(into []graph.Vertex, labels []uint32) {
	if bound <= 1<<31 {
		return widen31
	}
	return widen32
}

// widen31 is for labels below 2^31 and None: one instruction reads a label with its sign, which makes None Unreached.
func widen31(into []graph.Vertex, labels []uint32) {
	for len(into) >= 8 && len(labels) >= 8 {
		into[0] = graph.Vertex(int32(labels[0]))
		into[1] = graph.Vertex(int32(labels[1]))
		into[2] = graph.Vertex(int32(labels[2]))
		into[3] = graph.Vertex(int32(labels[3]))
		into[4] = graph.Vertex(int32(labels[4]))
		into[5] = graph.Vertex(int32(labels[5]))
		into[6] = graph.Vertex(int32(labels[6]))
		into[7] = graph.Vertex(int32(labels[7]))
		into, labels = into[8:], labels[8:]
	}
	for i, label := range labels {
		into[i] = graph.Vertex(int32(label))
	}
}

func widen32(into []graph.Vertex, labels []uint32) {
	into = into[:len(labels)]
	for i, label := range labels {
		into[i] = ToVertex(label)
	}
}

// Corrections are the parents that one worker found and that differ from the template, by region of places: chains of
// blocks in one array, where the first word of a block says where the block before it begins. A correction is the place
// in its region, and behind it the parent, whose first bit is a sign.
type Corrections struct {
	entries    []uint64
	ends       []int // [regions] where the next correction goes; a multiple of chainBlock: no block yet, or a full one
	blocks     int   // in use
	shift      int   // the region of a place is place>>shift
	parentBits int
}

const (
	regionBits = 15      // places of a region, as a power of two: 256 KiB of parents
	maxRegions = 1 << 12 // larger graphs have larger regions, if corrections have room
	chainBlock = 64      // words in a block
)

// NewCorrections returns room for a correction of each vertex, in an array with the given number of places. Parents are
// below bound.
func NewCorrections(m *memory.Arena, places, vertices int, bound int64) Corrections {
	shift, parentBits := regionBits, bits.Len64(uint64(bound))+1
	for places>>shift >= maxRegions && shift+parentBits < 64 {
		shift++
	}
	regions := (places + 1<<shift - 1) >> shift
	blocks := 1 + regions + vertices/(chainBlock-1)
	return Corrections{
		shift: shift, parentBits: parentBits,
		ends:    memory.Allocate[int](m, "regions", regions),
		entries: memory.Allocate[uint64](m, "corrections", blocks*chainBlock),
	}
}

// Reset drops all corrections.
func (c *Corrections) Reset() {
	clear(c.ends)
	c.blocks = 1 // block 0 ends every chain
}

// Region returns the number of places in a region.
func (c *Corrections) Region() int { return 1 << c.shift }

// Add records the parent of the vertex with this place, or graph.Unreached.
func (c *Corrections) Add(place uint32, parent graph.Vertex) {
	region := place >> (c.shift & 31) // with masks, a shift is one instruction
	at := c.ends[region]
	if at&(chainBlock-1) == 0 {
		begin := c.blocks * chainBlock
		c.blocks++
		c.entries[begin] = uint64(max(at-chainBlock, 0)) // the full block before, or block 0
		at = begin + 1
	}
	width := c.parentBits & 63
	inRegion := uint64(place) & (1<<(c.shift&63) - 1)
	c.entries[at] = inRegion<<width | uint64(parent)&(1<<width-1)
	c.ends[region] = at + 1
}

// Apply writes the corrections of the region that begins at a place to parent, where place k is parent[k*stride].
func (c *Corrections) Apply(first int, parent []graph.Vertex, stride int) {
	region, unused := first>>c.shift, -c.parentBits&63
	for end := c.ends[region]; end != 0; {
		begin := (end - 1) &^ (chainBlock - 1)
		for _, e := range c.entries[begin+1 : end] {
			at := first + int(e>>(c.parentBits&63))
			parent[at*stride] = graph.Vertex(e<<unused) >> unused
		}
		if end = int(c.entries[begin]); end != 0 {
			end += chainBlock
		}
	}
}

// ToVertex returns a label as a parent, and None as graph.Unreached.
func ToVertex(label uint32) graph.Vertex { return graph.Vertex(label+1) - 1 } // None + 1 is 0

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
