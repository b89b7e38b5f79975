package distributed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// ErrOtherRank is the error of a rank that stops because another rank has failed.
var ErrOtherRank = errors.New("another rank has failed")

// builder is kernel 1 on one rank. Each rank starts with a slice of the tuples, in any order, and ends with its part.
type builder struct {
	*Part
	ctx      context.Context
	team     *team.Team
	memory   *memory.Arena
	world    comm.Group
	column   comm.Group // ranks of the same grid column, by row
	row      comm.Group // ranks of the same grid row, by column
	modulo   bool
	oneD     bool
	tuples   []graph.Edge
	position int64      // of tuples[0] in the whole list
	entries  [][]uint32 // of this part, from each rank: pairs of a row slot and a column slot
	count    []uint32   // [row slot] entries
}

var buildPhases = [...]string{"measure", "route", "order", "lists"}

// makePart distributes the graph and returns the rank's part and the times of buildPhases.
func makePart(
	ctx context.Context, world comm.Group, c Configuration, t *team.Team, m *memory.Arena, tuples []graph.Edge,
	position int64,
) (p *Part, phases []time.Duration, err error) {
	b := &builder{
		Part: &Part{grid: c.Grid}, ctx: ctx, team: t, memory: m, world: world, modulo: c.Modulo, oneD: c.OneD,
		tuples: tuples, position: position,
	}
	b.i, b.j = c.Grid.Place(world.Rank())
	for _, phase := range []func() error{b.measure, b.route, b.order, b.makeLists} {
		start := time.Now()
		if err := agree(ctx, world, phase()); err != nil {
			return nil, nil, err
		}
		phases = append(phases, time.Since(start))
	}
	return b.Part, phases, nil
}

// agree makes all ranks return an error if any has one.
func agree(ctx context.Context, world comm.Group, err error) error {
	if err == nil {
		err = ctx.Err()
	}
	failed := [1]int64{}
	if err != nil {
		failed[0] = 1
	}
	world.Allreduce(failed[:])
	if err == nil && failed[0] != 0 {
		return ErrOtherRank
	}
	return err
}

// largest returns the largest of the numbers of all ranks.
func (b *builder) largest(number uint32) uint32 {
	all := make([][]uint32, b.world.Size())
	b.world.Allgatherv([]uint32{number}, all)
	return slices.Max(slices.Concat(all...))
}

// measure finds the largest label and assigns the labels to ranks.
func (b *builder) measure() error {
	var err error
	var labels uint32
	for k, e := range b.tuples {
		u, v, narrow := e.Ends32()
		if !narrow || max(u, v) >= maxUint32-1 {
			err = fmt.Errorf("tuple %d is %v; labels must be below %d, relabel the vertices: %w",
				b.position+int64(k), e, uint32(maxUint32-1), plugins.ErrTuples)
			break
		}
		labels = max(labels, u+1, v+1)
	}
	b.Partition = NewPartition(int64(b.largest(labels)), b.world.Size(), b.modulo)
	b.column = b.world.Split(b.j, b.i)
	b.row = b.world.Split(b.i, b.j)
	return err
}

// route sends the two entries of every tuple, one from each end to the other, to the ranks that store them.
func (b *builder) route() error {
	ranks, share := b.world.Size(), uint32(b.Partition.Share)
	// The position in the grid of the vertices of each owner.
	type place struct{ row, firstOfColumn, rowBase, columnBase uint32 }
	places := make([]place, ranks)
	for q := range places {
		i, j := b.grid.Place(q)
		places[q] = place{uint32(i), uint32(b.grid.Rank(0, j)), uint32(j) * share, uint32(i) * share}
	}
	// Two passes: the workers count their entries for each rank, and then know where to write them.
	next := make([][]int, b.team.Size()) // [worker][rank]
	each := func(worker int, do func(to uint32, row, column uint32)) {
		from, to := b.team.Share(worker, len(b.tuples), 1)
		for k, e := range b.tuples[from:to] {
			if k&(1<<16-1) == 0 && b.ctx.Err() != nil {
				break // agree notifies the other ranks
			}
			u, v, _ := e.Ends32()
			if u == v {
				continue
			}
			ownerU, slotU := b.Partition.Owner(Label(u))
			ownerV, slotV := b.Partition.Owner(Label(v))
			pu, pv := &places[ownerU], &places[ownerV]
			do(pu.firstOfColumn+pv.row, pv.rowBase+slotV, pu.columnBase+slotU) // from u to v
			do(pv.firstOfColumn+pu.row, pu.rowBase+slotU, pv.columnBase+slotV)
		}
	}
	b.team.Run(func(worker int) {
		own := make([]int, ranks)
		each(worker, func(to, _, _ uint32) { own[to] += 2 })
		next[worker] = own
	})
	send := make([][]uint32, ranks)
	for k := range send {
		total := 0
		for _, own := range next {
			own[k], total = total, total+own[k]
		}
		send[k] = make([]uint32, total)
	}
	b.team.Run(func(worker int) {
		own := next[worker]
		each(worker, func(to, row, column uint32) {
			message, at := send[to], own[to]
			if at+1 < len(message) { // always, unless ctx has ended during the first pass
				message[at], message[at+1] = row, column
				own[to] = at + 2
			}
		})
	})
	b.entries = make([][]uint32, ranks)
	// In a group of its own, because the entries are needed for longer than until the next exchange.
	b.world.Split(0, b.world.Rank()).Alltoallv(send, b.entries, nil)
	total := 0
	for _, entries := range b.entries {
		total += len(entries) / 2
	}
	if total >= maxUint32 {
		return fmt.Errorf("%d adjacency entries on one rank, want fewer than %d; use more ranks: %w",
			total, uint32(maxUint32), plugins.ErrMemory)
	}
	b.count = make([]uint32, b.grid.C*int(share))
	b.team.Split(len(b.count), 16, func(_, from, to int) {
		for _, entries := range b.entries {
			if b.ctx.Err() != nil {
				break
			}
			for k := 0; k+1 < len(entries); k += 2 {
				if row := int(entries[k]); row >= from && row < to {
					b.count[row]++
				}
			}
		}
	})
	return nil
}

// order numbers the rank's own vertices and makes all blocks equally wide.
func (b *builder) order() error {
	share := int(b.Partition.Share)
	send := make([][]uint32, b.grid.C)
	for m := range send {
		send[m] = b.count[m*share : (m+1)*share]
	}
	counts := make([][]uint32, b.grid.C)
	b.row.Alltoallv(send, counts, nil)
	degree := make([]uint32, share)
	for _, count := range counts {
		for slot, n := range count {
			degree[slot] += n
		}
	}
	sorted := byDescendingDegree(degree)
	b.width = (int(b.largest(uint32(len(sorted)))) + 31) &^ 31
	b.rows, b.columns = b.grid.C*b.width, b.grid.R*b.width
	if numbers := int64(b.width) * int64(b.world.Size()); numbers >= maxUint32 {
		return fmt.Errorf("%d vertex numbers, want fewer than %d; use a smaller scale: %w",
			numbers, uint32(maxUint32), plugins.ErrTuples)
	}
	if b.grid.C == 1 {
		sorted = b.groupByHub(sorted)
	}
	labels := make([]uint32, b.width)
	_, first, stride := b.Partition.Slots(b.world.Rank())
	for v, slot := range sorted {
		labels[v] = uint32(first+int64(slot)*stride) + 1
	}
	blocks := make([][]uint32, b.grid.R)
	b.column.Allgatherv(labels, blocks)

	b.number = memory.Allocate[uint32](b.memory, "numbers", share)
	b.slot = memory.Allocate[uint32](b.memory, "slots", len(sorted))
	b.degree = memory.Allocate[uint32](b.memory, "degrees", b.width)
	b.label = memory.Allocate[uint32](b.memory, "labels", b.columns)
	if err := b.memory.Err(); err != nil {
		return err
	}
	for k, block := range blocks {
		copy(b.label[k*b.width:], block)
	}
	b.setNumbers(b.number, sorted)
	b.vertices = copy(b.slot, sorted)
	for v, slot := range sorted {
		b.degree[v] = degree[slot]
	}
	return nil
}

// setNumbers fills number, the Local of each slot, for own vertices in the order of sorted.
func (b *builder) setNumbers(number, sorted []uint32) {
	for slot := range number {
		number[slot] = uint32(b.width)
	}
	for v, slot := range sorted {
		number[slot] = uint32(v)
	}
}

// makeLists makes the lists of the rank's rows and columns from the entries, which arrive in any order.
func (b *builder) makeLists() error {
	row, index := b.translations()
	counts := make([]uint32, b.rows)
	for slot, n := range b.count {
		if n != 0 {
			counts[row[slot]] = n
		}
	}
	b.count = nil
	ranges := splitRows(counts, b.team.Size())
	b.team.Run(func(worker int) { b.sortByColumn(&ranges[worker], row, index) })
	b.entries = nil
	if err := b.ctx.Err(); err != nil {
		return err // the sort is incomplete
	}
	b.team.Run(func(worker int) { b.sortByRow(&ranges[worker], counts) })
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if err := b.keepLists(ranges, !b.oneD); err != nil {
		return err
	}
	return b.makeColumns()
}

// makeColumns stores the first entries of all rows column by column, and the first of every own vertex by label.
func (b *builder) makeColumns() error {
	for k := range b.more {
		b.more[k] = memory.Allocate[uint32](b.memory, "columns", b.rows/32)
	}
	for k := range b.entry {
		b.entry[k] = memory.Allocate[Column](b.memory, "columns", b.rows)
	}
	b.template = memory.Allocate[uint32](b.memory, "output template", int(b.Partition.Share))
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.team.Split(b.rows, 32, func(_, from, to int) {
		for v := from; v < to; v++ {
			list := b.up.of(v)
			for k := range min(len(list), numColumns+1) {
				b.more[k].add(uint32(v))
			}
			for k := range min(len(list), numColumns) {
				b.entry[k][v] = list[k]
			}
		}
	})
	own := b.j * b.width
	for v, slot := range b.slot {
		if list := b.up.of(own + v); len(list) > 0 {
			b.template[slot] = b.label[list[0]]
		}
	}
	return nil
}

// translations returns the row of every row slot and the list index of every column slot, which other ranks have
// numbered.
func (b *builder) translations() (row []Row, index []listIndex) {
	share := int(b.Partition.Share)
	blocks := make([][]uint32, b.grid.C)
	b.row.Allgatherv(b.number, blocks)
	row = make([]Row, b.grid.C*share)
	for m, numbers := range blocks {
		for slot, v := range numbers {
			row[m*share+slot] = Row(m*b.width) + Row(v) // meaningless for isolated vertices, which have no entries
		}
	}
	return row, b.listIndexes(b.number)
}

// listIndexes returns the list index of every column slot, if all ranks number their vertices like this one.
func (b *builder) listIndexes(number []uint32) []listIndex {
	share := int(b.Partition.Share)
	blocks := make([][]uint32, b.grid.R)
	b.column.Allgatherv(number, blocks)
	index := make([]listIndex, b.grid.R*share)
	for block, numbers := range blocks {
		for slot, v := range numbers {
			index[block*share+slot] = b.listOf(block, Local(v))
		}
	}
	return index
}
