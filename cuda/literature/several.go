// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"context"
	"slices"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// several is a search on several GPUs with a process each, as in algorithm 1 of Bisson, Bernaschi and Mastrostefano
// (kernels/base.cu has the grid). A level:
//
//  1. expand: own frontiers go to the GPUs of the column
//  2. scan: the kernel puts what it discovers into bins, one for each GPU of the row
//  3. fold: bins go to the owners
//  4. update: the kernel makes what was not visited the next own frontier
//
// In Merrill, Garland and Grimshaw (2012), section 7, the grid has one row, so frontiers stay where they are. The host
// adds up frontiers and counts of bins in between: reduce.
type several struct {
	*base
	link                                        *team.Link
	rank, ranks, rows, columns, gridRow, column uint64
	places                                      uint64 // own labels, with room for as many on each GPU

	own      uint64      // [places] own frontier, by numbers in the column
	n        uint64      // vertices of it
	frontier uint64      // [sources] that of the column, if the grid has several rows
	out, in  uint64      // [room] what was discovered here, by bin, and for this GPU
	tails    uint64      // [team.MaxRanks] of bins
	begins   []uint64    // of bins in out
	counts   []uint64    // of vertices in bins
	others   [2][]uint64 // own and out of the other GPUs, if they are open

	clear    func(root uint64)              // what the kernel has visited
	discover func(frontier, n uint64) int64 // fills bins; returns the edges of a frontier
	update   func(found, n uint64)          // makes the own frontier, and counts it in Counters.vertices

	last  time.Time
	spent []team.Spent // on each level
}

// newSeveral connects the GPU of a process, and starts the clock of kernel 1.
func newSeveral(ctx context.Context, b *base, g team.Grid, world *team.World, transfer string) (s *several, err error) {
	s = &several{base: b, rank: uint64(world.Rank()), ranks: uint64(g.Ranks), rows: uint64(g.Rows)}
	s.columns = s.ranks / s.rows
	s.gridRow, s.column = s.rank/s.columns, s.rank%s.columns
	if s.link, err = team.NewLink(world, b.gpu, transfer); err == nil {
		b.Work = s.link.NewWork(ctx, 0, advice)
	}
	return s, err
}

// steps returns those of kernel 1 before the rows.
func (s *several) steps(transfer offload.Step, set plugins.Settings) (all []offload.Step) {
	if s.ranks > 1 && set.Text("transfer") == "nccl" {
		all = append(all, offload.Step{Name: "communicator", Do: func() error { return s.link.StartNCCL(&s.Work) }})
	}
	return append(all, transfer, offload.Step{Name: "exchange of edges", Do: s.distribute})
}

// distribute brings the edges of the tuples of all processes to their GPUs.
func (s *several) distribute() error {
	all, err := team.Combine(s.link, func(a, b uint64) uint64 { return max(a, b) }, s.labels)
	if err != nil {
		return err
	}
	s.labels, s.places = all[0], (all[0]+s.ranks-1)/s.ranks
	s.owned, s.sources, s.targets = s.places, s.places*s.rows, s.places*s.columns
	pairs, n := s.pairs, s.tuples
	s.pairs, s.tuples, err = s.link.Edges(&s.Work, func(queue func(pairs, n uint64)) { queue(pairs, n) }, s.columns)
	s.Release(&pairs)
	return err
}

// method allocates bins with room for some vertices and connects the arrays.
func (s *several) method(room uint64) method {
	s.own = s.array("frontier", uint64(team.Exported(int64(4*s.places))))
	if s.rows > 1 {
		s.frontier = s.array("frontier of the column", 4*s.sources)
	}
	s.out, s.in = s.array("bins", uint64(team.Exported(int64(8*room)))), s.array("found by others", 8*room)
	s.tails = s.array("tails of bins", 8*team.MaxRanks)
	s.begins, s.counts = make([]uint64, s.columns), make([]uint64, s.columns)
	s.spent = make([]team.Spent, 0, maxLevels+1)
	for i, at := range []uint64{s.own, s.out} {
		if !s.link.Staged && s.Err == nil {
			others, err := s.link.OpenAll(at, nil)
			s.Fail("", err)
			s.others[i] = others
		}
	}
	return method{begin: s.begin, step: s.step, frontiers: s.describe}
}

func (s *several) begin(root uint64) {
	s.n, s.spent = 0, s.spent[:0]
	if root%s.ranks == s.rank {
		s.n = 1
		s.set(s.own, uint32(root/s.columns))
	}
	s.clear(root)
	s.wait() // others read the frontier
}

// wait waits for the GPU.
func (s *several) wait() {
	if s.Err == nil {
		s.Fail("", cu.Synchronize())
	}
}

// step takes a level.
func (s *several) step(uint64) (l plugins.Level, found bool) {
	s.last = time.Now()
	var t team.Spent
	frontier, n := s.expand(&t)
	s.lap(&t, team.Expand)
	s.fill(s.tails, 0, 8*team.MaxRanks)
	l.Edges = plugins.Counted(s.discover(frontier, n))
	s.wait() // others read the bins
	s.lap(&t, team.Scan)
	bins := s.gather(slices.Concat([]uint64{s.n}, s.begins, s.counts)...)
	s.lap(&t, team.Reduce)
	for _, b := range bins {
		l.Frontier += int64(b[0])
	}
	if l.Frontier == 0 {
		return l, false
	}
	received := s.fold(bins, &t)
	s.lap(&t, team.Fold)
	s.clearCounters()
	s.update(s.in, received)
	s.n = uint64(s.read().vertices)
	s.lap(&t, team.Update)
	if len(s.spent) < cap(s.spent) {
		s.spent = append(s.spent, t)
	}
	return l, s.Err == nil
}

func (s *several) lap(t *team.Spent, phase int) {
	now := time.Now()
	t.Phase[phase] += uint64(now.Sub(s.last))
	s.last = now
}

// gather returns the numbers of all processes, nil after an error.
func (s *several) gather(own ...uint64) (all [][]uint64) {
	if s.Err == nil {
		var err error
		all, err = team.GatherNumbers(s.link, own...)
		s.Fail("", err)
	}
	return all
}

// expand sends the own frontier down the column. It returns that of the column.
func (s *several) expand(t *team.Spent) (frontier, n uint64) {
	if s.rows == 1 {
		return s.own, s.n
	}
	sizes := s.gather(s.n)
	if s.lap(t, team.Reduce); s.Err != nil {
		return s.frontier, 0
	}
	from, send, receive := slices.Clone(s.others[0]), make([]team.Part, s.ranks), make([]team.Part, s.ranks)
	for k := s.column; k < s.ranks; k += s.columns {
		send[k] = team.At(s.own, 4*s.n)
		receive[k] = team.At(s.frontier+4*n, 4*sizes[k][0])
		n += sizes[k][0]
	}
	s.exchange(from, send, receive, 4*slices.MaxFunc(sizes, slices.Compare)[0], t, 1)
	return s.frontier, n
}

// fold sends bins along the row. Behind a number, bins has where those of each GPU begin and their lengths. It returns
// how many vertices this GPU has got.
func (s *several) fold(bins [][]uint64, t *team.Spent) (received uint64) {
	from, send, receive := slices.Clone(s.others[1]), make([]team.Part, s.ranks), make([]team.Part, s.ranks)
	largest := uint64(0)
	for k, b := range bins {
		begins, counts := b[1:1+s.columns], b[1+s.columns:]
		largest = max(largest, 8*slices.Max(counts))
		if bin := uint64(k) % s.columns; uint64(k)/s.columns == s.gridRow {
			send[k] = team.At(s.out+8*s.begins[bin], 8*s.counts[bin])
			receive[k] = team.At(s.in+8*received, 8*counts[s.column])
			received += counts[s.column]
			if from != nil {
				from[k] += 8 * begins[s.column]
			}
		}
	}
	s.exchange(from, send, receive, largest, t, 0)
	return received
}

// exchange moves parts, counts them, and copies the one that stays.
func (s *several) exchange(from []uint64, send, receive []team.Part, largest uint64, t *team.Spent, kind int) {
	if s.Err != nil {
		return
	}
	own, into := &send[s.rank], &receive[s.rank]
	if own.Bytes > 0 {
		s.Fail("", cu.MemcpyDtoD(cu.DevicePtr(into.At), cu.DevicePtr(own.At), int64(own.Bytes)))
	}
	*own, *into = team.Part{}, team.Part{}
	for _, p := range send {
		if t.Bytes[kind] += p.Bytes; p.Bytes > 0 {
			t.Messages[kind]++
		}
	}
	if largest > 0 && s.ranks > 1 {
		s.Fail("", s.link.Move(from, send, receive, largest))
	}
}

// describe describes levels after the clock.
func (s *several) describe(levels []plugins.Level, _ uint64) {
	for i := range levels {
		s.spent[i].Describe(&levels[i], true)
		levels[i].Counters = nil // are not combined
	}
	team.LimitPhases(levels)
}

// Wake also waits for the other processes.
func (s *several) Wake() error { return team.Agree(s.link, s.base.Wake()) }

// Report adds what this process has spent on all levels.
func (s *several) Report(root graph.Vertex) plugins.Traversal {
	t := s.base.Report(root)
	var sum team.Spent
	for i := range s.spent {
		sum.Add(&s.spent[i])
	}
	t.Ranks = []plugins.Rank{{Phases: append(sum.Phases(true), t.Phases...)}}
	return t
}
