// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/parents"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// ErrOtherRank is the error of a rank that stops because another rank has failed.
var ErrOtherRank = errors.New("another rank has failed")

// builder is kernel 1 on one rank, which starts with a slice of the tuples, in any order, and ends with its part.
type builder struct {
	*Part
	Configuration
	ctx        context.Context
	team       *team.Team
	memory     *memory.Arena
	world      comm.Group
	column     comm.Group     // ranks of the same grid column, by row
	row        comm.Group     // ranks of the same grid row, by column
	in         plugins.Input  // this rank's slice of the tuples and weights
	buckets    int            // that each rank's row slots are divided into
	shift      int            // the bucket of a slot is slot>>shift
	slotBits   int            // of the largest slot
	entryWords int            // of an entry
	entries    [][]uint32     // of this part, from each rank: see route
	count      []uint32       // [row place] entries
	rowOf      []uint32       // [row place] its row
	indexOf    []uint32       // [column place] its list index
	hubLabel   parents.Labels // of each hub, in grids of several columns
}

// NewRank is kernel 1. All ranks of world call it, each with the teams of its process and its slice of the tuples and
// weights. built has no kernel 2, and the bytes and entries of this rank.
func NewRank(
	ctx context.Context, world comm.Group, c Configuration, teams *team.Teams, in plugins.Input,
) (s *Rank, built plugins.Built, err error) {
	start := time.Now()
	b := &builder{
		Part: &Part{}, Configuration: c, ctx: ctx, team: teams.New(c.Threads), memory: memory.New(), in: in,
		entryWords: 2,
		// A group keeps buffers for its longest messages, and those of kernel 1 are much longer than those of searches.
		world: world.Split(0, world.Rank()),
	}
	if in.ShortestPaths {
		b.entryWords = 3
	}
	allocate := func() (err error) {
		s, err = b.newRank(world)
		return err
	}
	type phase struct {
		name string
		run  func() error
	}
	phases := []phase{
		{"measure", b.measure}, {"route", b.route}, {"number", b.findPlaces}, {"order", b.order}, {"lists", b.makeLists},
		{"", allocate},
	}
	if in.ShortestPaths {
		w := &weigher{builder: b}
		phases = append(phases, phase{"weighted lists", w.makeLists}, phase{"reach", func() error { return w.makePaths(s) }})
	}
	for _, phase := range phases {
		begin := time.Now()
		if err := b.agree(phase.run()); err != nil {
			b.team.Stop()
			b.memory.ReleaseAll()
			return nil, plugins.Built{}, err
		}
		if phase.name != "" {
			built.Phases = append(built.Phases, plugins.Phase{Name: phase.name, Elapsed: time.Since(begin)})
		}
	}
	built.Vertices, built.VertexBits, built.Details = b.Partition.Labels, graph.VertexBits, b.details()
	built.Tuning = "alpha and beta are fixed defaults or set by the user before kernel 1"
	built.Bytes, built.Entries = b.memory.Held(), plugins.Counted(int64(len(b.up.targets)))
	built.Elapsed = time.Since(start)
	return s, built, nil
}

func (b *builder) allocate(what string, n int) []uint32 {
	return memory.Allocate[uint32](b.memory, what, n)
}

// agree makes all ranks return an error if any has one.
func (b *builder) agree(err error) error {
	if err == nil {
		err = b.ctx.Err()
	}
	if comm.Any(b.world, err != nil) && err == nil {
		return ErrOtherRank
	}
	return err
}

func (b *builder) largest(number int64) int64 {
	minimum := []int64{-number}
	b.world.Alltoallv(nil, nil, nil, minimum)
	return -minimum[0]
}

// measure finds the largest label and assigns the labels to ranks.
func (b *builder) measure() error {
	labels := make([]int64, b.team.Size())
	b.team.Split(len(b.in.Tuples), 1, func(worker, from, to int) {
		largest := graph.Vertex(-1)
		for _, e := range b.in.Tuples[from:to] {
			u, v := e.Ends()
			largest = max(largest, u, v)
		}
		labels[worker] = int64(largest) + 1
	})
	minima, tuples := []int64{-slices.Max(labels)}, []int64{int64(len(b.in.Tuples))}
	b.world.Alltoallv(nil, nil, tuples, minima)
	b.Partition = NewPartition(-minima[0], b.world.Size(), b.Modulo)
	b.choose(min(b.Partition.Labels, 2*tuples[0]))
	b.grid = b.Grid
	b.i, b.j = b.grid.Place(b.world.Rank())
	b.column = b.world.Split(b.j, b.i)
	b.row = b.world.Split(b.i, b.j)
	if b.Prefix && b.grid.C > 1 && b.grid.R == b.grid.C && !b.in.ShortestPaths {
		b.transposed, b.Why = true, b.Why+"; frontiers are exchanged with the transposed rank"
	}
	p := &b.Partition
	buckets := int64(min(max(maxMessages/p.Ranks, 1), maxBuckets))
	b.slotBits, b.shift = bits.Len64(uint64(p.Share-1)), max(bits.Len64(uint64((p.Share-1)/buckets)), 5)
	if p.Share > maxUint32 || b.shift+b.slotBits+bits.Len(uint(b.grid.R-1)) > 64 {
		return fmt.Errorf("%d labels on each rank: use more ranks, or relabel the vertices: %w", p.Share, plugins.ErrTuples)
	}
	return nil
}

const (
	maxBuckets  = 256     // of the row slots of a rank's block: few enough slots in each for a cache
	maxMessages = 1 << 10 // buckets of all ranks, to which a worker writes at the same time
)

// route sends the two entries of every tuple, one from each end to the other, to the ranks that store them. A message
// begins with the position of each bucket of row slots. Then come the entries by bucket, two words each: from the
// lowest bit on the row slot in the bucket, the column slot, and its block. For kernel 3 the weight follows. Workers of
// the receiver share out buckets.
func (b *builder) route() error {
	ranks := b.world.Size()
	perBlock := uint32((b.Partition.Share-1)>>b.shift + 1)
	b.buckets = b.grid.C * int(perBlock)
	// The position in the grid of the vertices of each owner.
	type place struct {
		row, firstOfColumn, firstBucket uint32
		block                           uint64
	}
	places := make([]place, ranks)
	for q := range places {
		i, j := b.grid.Place(q)
		block, column := b.columnsOf(q)
		places[q] = place{uint32(i), uint32(b.grid.Rank(0, column)), uint32(j) * perBlock, uint64(block) << b.slotBits}
	}
	// Two passes: the workers count their entries for each rank and bucket, and then know where to write them.
	next := make([][]int, b.team.Size()) // [worker][rank*buckets+bucket]
	each := func(worker int, do func(to, bucket uint32, entry uint64, tuple int)) {
		inBucket := uint32(1)<<b.shift - 1
		from, to := b.team.Share(worker, len(b.in.Tuples), 1)
		for k, e := range b.in.Tuples[from:to] {
			if k&(1<<16-1) == 0 && b.ctx.Err() != nil {
				break // agree notifies the other ranks
			}
			u, v := e.Ends()
			if u == v {
				continue
			}
			ownerU, slotU := b.Partition.Owner(u)
			ownerV, slotV := b.Partition.Owner(v)
			pu, pv := &places[ownerU], &places[ownerV]
			// From u to v, and back.
			do(pu.firstOfColumn+pv.row, pv.firstBucket+slotV>>b.shift,
				(pu.block|uint64(slotU))<<b.shift|uint64(slotV&inBucket), from+k)
			do(pv.firstOfColumn+pu.row, pu.firstBucket+slotU>>b.shift,
				(pv.block|uint64(slotV))<<b.shift|uint64(slotU&inBucket), from+k)
		}
	}
	b.team.Run(func(worker int) {
		own := make([]int, ranks*b.buckets)
		each(worker, func(to, bucket uint32, _ uint64, _ int) { own[int(to)*b.buckets+int(bucket)] += b.entryWords })
		next[worker] = own
	})
	send := make([][]uint32, ranks)
	for k := range send {
		positions := make([]uint32, b.buckets)
		total := b.buckets
		for bucket := range positions {
			positions[bucket] = uint32(total)
			for _, own := range next {
				at := k*b.buckets + bucket
				own[at], total = total, total+own[at]
			}
		}
		if total > maxUint32 {
			return tooManyEntries(total / b.entryWords)
		}
		send[k] = make([]uint32, total)
		copy(send[k], positions)
	}
	b.team.Run(func(worker int) {
		own := next[worker]
		each(worker, func(to, bucket uint32, entry uint64, tuple int) {
			message, at := send[to], &own[int(to)*b.buckets+int(bucket)]
			if *at+b.entryWords > len(message) { // ctx has ended during the first pass
				return
			}
			if message[*at], message[*at+1] = uint32(entry), uint32(entry>>32); b.entryWords > 2 {
				message[*at+2] = math.Float32bits(b.in.Weights[tuple] + 0) // -0 becomes 0
			}
			*at += b.entryWords
		})
	})
	b.entries = make([][]uint32, ranks)
	// In a separate group, because the entries are needed for longer than until the next exchange.
	b.world.Split(0, b.world.Rank()).Alltoallv(send, b.entries, nil, nil)
	total := 0
	for _, entries := range b.entries {
		total += (len(entries) - b.buckets) / b.entryWords
	}
	if total >= maxUint32 {
		return tooManyEntries(total)
	}
	return nil
}

// eachBucket calls do for the entries of every bucket from every rank, until ctx ends. One worker gets all entries of a
// row slot.
func (b *builder) eachBucket(do func(worker, bucket int, entries []uint32)) {
	b.team.Pieces(b.buckets, 1, func(worker, from, to int) {
		for bucket := from; bucket < to; bucket++ {
			for _, message := range b.entries {
				if b.ctx.Err() != nil {
					return
				}
				end := uint32(len(message))
				if bucket+1 < b.buckets {
					end = message[bucket+1]
				}
				do(worker, bucket, message[message[bucket]:end])
			}
		}
	})
}

// order numbers the rank's own vertices and makes all blocks equally wide.
func (b *builder) order() error {
	degree := b.combine(b.count, func(a, b uint32) uint32 { return a + b })
	sorted := b.byDescendingDegree(degree)
	sorted = b.groupByHub(sorted)
	b.number, b.slot = b.allocate("numbers", b.width), b.allocate("slots", len(sorted))
	b.degree = b.allocate("degrees", b.width)
	b.label = parents.NewLabels(b.memory, "labels", b.columns, b.Partition.Labels)
	err := b.memory.Err()
	if err == nil {
		b.setNumbers(b.number, sorted)
		slots := b.present.members()
		b.vertices = len(sorted)
		b.each(len(sorted), func(v int) { b.slot[v], b.degree[v] = slots[sorted[v]], degree[sorted[v]] })
	}
	for block, slots := range b.fromColumnOwners(b.column, b.slot) {
		if err == nil {
			b.setLabels(b.label.Part(block*b.width, (block+1)*b.width), b.columnOwner(block, b.j), slots)
		}
	}
	return err
}

// setLabels sets labels to those of slots of a rank, and to graph.Unreached behind them.
func (b *builder) setLabels(labels parents.Labels, rank int, slots []uint32) {
	b.each(len(labels.Low), func(v int) {
		if labels.Set(uint32(v), graph.Unreached); v < len(slots) {
			labels.Set(uint32(v), b.Partition.Label(rank, slots[v]))
		}
	})
}

// combine sends numbers of rows to their owners, and combines those of the rank's own.
func (b *builder) combine(numbers []uint32, of func(a, b uint32) uint32) (own []uint32) {
	send, received := make([][]uint32, b.grid.C), make([][]uint32, b.grid.C)
	for m := range send {
		send[m] = cut(numbers, m, b.grid.C)
	}
	b.row.Alltoallv(send, received, nil, nil)
	own = slices.Clone(received[0])
	for _, other := range received[1:] {
		b.each(len(own), func(slot int) { own[slot] = of(own[slot], other[slot]) })
	}
	return own
}

// setNumbers fills number, the Local of each place, for own vertices in the order of sorted.
func (b *builder) setNumbers(number, sorted []uint32) {
	for slot := range number {
		number[slot] = uint32(b.width)
	}
	b.each(len(sorted), func(v int) { number[sorted[v]] = uint32(v) })
}

// makeColumns stores the first entries of all rows column by column, and makes the template.
func (b *builder) makeColumns() error {
	b.grouped, b.remote = b.allocate("groups", b.rows/32), b.allocate("groups", b.rows/32)
	for k := range b.more {
		b.more[k] = b.allocate("columns", b.rows/32)
	}
	for k := range b.entry {
		b.entry[k] = b.allocate("columns", b.rows)
	}
	b.template = parents.NewLabels(b.memory, "output template", int(b.Partition.Share), b.Partition.Labels)
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.setLabels(b.template, 0, nil)
	b.each(b.rows, func(v int) { // 32 rows have a word of more
		list := b.up.of(v)
		for k := range min(len(list), numColumns+1) {
			b.more[k].add(uint32(v))
		}
		for k := range min(len(list), numColumns) {
			b.entry[k][v] = list[k]
		}
	})
	b.each(len(b.slot), func(v int) {
		if list := b.up.of(b.j*b.width + v); len(list) > 0 {
			b.template.Set(b.slot[v], b.label.At(list[0]))
		}
	})
	b.markGrouped()
	return nil
}

// fromColumnOwners sends a message to the ranks that store the columns of this rank's vertices, and returns those of
// the owners of its columns. column is a group of the grid column, in which a transposed rank sends for this one.
func (b *builder) fromColumnOwners(column comm.Group, message []uint32) [][]uint32 {
	if b.transposed {
		partner := b.grid.Rank(b.j, b.i)
		send, received := make([][]uint32, b.world.Size()), make([][]uint32, b.world.Size())
		send[partner] = message
		b.world.Alltoallv(send, received, nil, nil)
		message = received[partner]
	}
	return comm.Allgather(column, message)
}

// listIndexes returns the list index of every column place, if all ranks number their vertices like this one.
func (b *builder) listIndexes(number []uint32) []uint32 {
	index := make([]uint32, b.columns)
	for block, numbers := range b.fromColumnOwners(b.column, number) {
		b.each(b.width, func(place int) { index[block*b.width+place] = b.listOf(block, numbers[place]) })
	}
	return index
}

// each calls do for 0..n-1. Workers share out multiples of 32.
func (b *builder) each(n int, do func(k int)) {
	b.team.Split(n, 32, func(_, from, to int) {
		for k := from; k < to; k++ {
			do(k)
		}
	})
}
