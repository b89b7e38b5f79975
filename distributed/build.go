package distributed

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// ErrOtherRank is the error of a rank that stops because another rank has failed.
var ErrOtherRank = errors.New("another rank has failed")

// builder is kernel 1 on one rank. Each rank starts with a slice of the tuples, in any order, and ends with its part.
type builder struct {
	*Part
	ctx      context.Context
	world    comm.Group
	column   comm.Group // ranks of the same grid column, by row
	row      comm.Group // ranks of the same grid row, by column
	modulo   bool
	tuples   []graph.Edge
	position int64      // of tuples[0] in the whole list
	entries  [][]uint32 // of this part, from each rank: pairs of a row slot and a column slot
	count    []uint32   // [row slot] entries
}

var buildPhases = [...]string{"measure", "route", "order", "lists"}

// makePart distributes the graph and returns the rank's part and the times of buildPhases.
func makePart(
	ctx context.Context, world comm.Group, c Configuration, tuples []graph.Edge, position int64,
) (p *Part, phases []time.Duration, err error) {
	b := &builder{Part: &Part{grid: c.Grid}, ctx: ctx, world: world, modulo: c.Modulo, tuples: tuples, position: position}
	b.i, b.j = c.Grid.Place(world.Rank())
	for _, phase := range []func() error{b.measure, b.route, b.order, b.makeLists} {
		start := time.Now()
		if err := b.agree(phase()); err != nil {
			return nil, nil, err
		}
		phases = append(phases, time.Since(start))
	}
	if c.OneD {
		b.down = lists[Row]{}
	}
	return b.Part, phases, nil
}

// agree makes all ranks return an error if any has one.
func (b *builder) agree(err error) error {
	if err == nil {
		err = b.ctx.Err()
	}
	failed := [1]int64{}
	if err != nil {
		failed[0] = 1
	}
	b.world.Allreduce(failed[:])
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
	send := make([][]uint32, ranks)
	expected := 4*len(b.tuples)/ranks + len(b.tuples)/ranks/2
	for k := range send {
		send[k] = make([]uint32, 0, expected)
	}
	for k, e := range b.tuples {
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
		to := pu.firstOfColumn + pv.row // from u to v
		send[to] = append(send[to], pv.rowBase+slotV, pu.columnBase+slotU)
		to = pv.firstOfColumn + pu.row
		send[to] = append(send[to], pu.rowBase+slotU, pv.columnBase+slotV)
	}
	b.entries = make([][]uint32, ranks)
	b.world.Alltoallv(send, b.entries)
	total := 0
	for _, entries := range b.entries {
		total += len(entries) / 2
	}
	if total >= maxUint32 {
		return fmt.Errorf("%d adjacency entries on one rank, want fewer than %d; use more ranks: %w",
			total, uint32(maxUint32), plugins.ErrMemory)
	}
	b.count = make([]uint32, b.grid.C*int(share))
	for _, entries := range b.entries {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			b.count[entries[k]]++
		}
	}
	return nil
}

// order numbers the rank's own vertices by descending degree and makes all blocks equally wide.
func (b *builder) order() error {
	share := int(b.Partition.Share)
	send := make([][]uint32, b.grid.C)
	for m := range send {
		send[m] = b.count[m*share : (m+1)*share]
	}
	counts := make([][]uint32, b.grid.C)
	b.row.Alltoallv(send, counts)
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
	b.number = make([]uint32, share)
	b.degree = make([]uint32, b.width)
	labels := make([]uint32, b.width)
	for slot := range b.number {
		b.number[slot] = uint32(b.width)
	}
	_, first, stride := b.Partition.Slots(b.world.Rank())
	for v, slot := range sorted {
		b.number[slot] = uint32(v)
		b.degree[v] = degree[slot]
		labels[v] = uint32(first+int64(slot)*stride) + 1
	}
	b.label = make([]uint32, 0, b.columns)
	blocks := make([][]uint32, b.grid.R)
	b.column.Allgatherv(labels, blocks)
	for _, block := range blocks {
		b.label = append(b.label, block...)
	}
	return nil
}

// byDescendingDegree returns the slots with nonzero degree by descending degree and then ascending slot: a radix sort
// from the least significant digit.
func byDescendingDegree(degree []uint32) []uint32 {
	const digit = 11
	var largest uint32
	slots := make([]uint32, 0, len(degree))
	for slot, d := range degree {
		if d != 0 {
			slots = append(slots, uint32(slot))
			largest = max(largest, d)
		}
	}
	next := make([]uint32, len(slots))
	for low := 0; low < bits.Len32(largest); low += digit {
		var start [1<<digit + 1]int
		for _, s := range slots {
			start[(largest-degree[s])>>low&(1<<digit-1)+1]++
		}
		for k := range 1 << digit {
			start[k+1] += start[k]
		}
		for _, s := range slots {
			k := (largest - degree[s]) >> low & (1<<digit - 1)
			next[start[k]] = s
			start[k]++
		}
		slots, next = next, slots
	}
	return slots
}

// makeLists makes the lists of the rank's rows and columns. Entries arrive in any
// order as pairs of slots. Two counting sorts (lists.go) turn them into lists: the first by column, in the order of
// list indexes; the second visits the columns in that order and appends each to its rows. So the lists of rows come
// out sorted, hubs first, with duplicates next to each other.
func (b *builder) makeLists() error {
	row, index := b.translations()
	byColumn := sortByColumn(b.ctx, b.entries, row, index, b.columns)
	if err := b.ctx.Err(); err != nil {
		return err // the sort is incomplete
	}
	b.entries = nil
	counts := make([]uint32, b.rows+1)
	for slot, n := range b.count {
		if n != 0 {
			counts[row[slot]] = n
		}
	}
	b.count = nil
	b.up = sortByRow(b.ctx, byColumn, counts, b.grid.R, b.width)
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.down = byColumn
	b.nonEmpty = make(bitmap, b.rows/32)
	b.first = make([]Column, b.rows)
	b.template = make([]uint32, b.rows)
	for v := range b.rows {
		if at := b.up.at[v]; at < b.up.at[v+1] {
			b.nonEmpty.add(uint32(v))
			b.first[v] = b.up.targets[at]
			b.template[v] = b.label[b.up.targets[at]]
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
	blocks = make([][]uint32, b.grid.R)
	b.column.Allgatherv(b.number, blocks)
	index = make([]listIndex, b.grid.R*share)
	for block, numbers := range blocks {
		for slot, v := range numbers {
			index[block*share+slot] = b.listOf(block, Local(v))
		}
	}
	return row, index
}
