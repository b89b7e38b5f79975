package distributed

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// part is what one rank holds of the graph. Kernel 1 writes it, searches only read it.
type part struct {
	partition Partition
	grid      Grid
	i, j      int // the rank's place in the grid
	n         int // vertices owned that are not isolated
	width     int // numbers in a block
	rows      int // C*width
	columns   int // R*width

	number []Own    // [slot] Own of each label owned; width where isolated
	degree []uint32 // [Own] tuples at the vertex, duplicates counted
	label  []uint32 // [Column] label + 1; 0 where a block has no vertex

	up       lists[Column] // of rows: the columns that they have an entry in, hubs first, each once
	down     lists[Row]    // of columns, by key: the rows that they have an entry in; none when the cut is 1D
	filled   bitmap        // [Row] rows with an entry
	first    []Column      // [Row] first column of the row's list
	template []uint32      // [Row] its label + 1; 0 for an empty row
}

// lists are neighbour lists, one after the other: list k is targets[at[k]:at[k+1]].
type lists[V Row | Column] struct {
	at      []uint32
	targets []V
}

// of returns list k.
func (l *lists[V]) of(k int) []V { return l.targets[l.at[k]:l.at[k+1]] }

// key is the place of a column in the order of hubs: blocks are numbered by descending degree, and equal numbers of
// different blocks stand together.
func (p *part) key(block int, own Own) key { return key(own)*key(p.grid.R) + key(block) }

// errElsewhere is the error of a rank that stops because another one has to.
var errElsewhere = errors.New("another rank has failed")

// builder is kernel 1 on one rank. The ranks begin with the tuples wherever they lie, each with some, and end with their
// parts.
type builder struct {
	*part
	ctx    context.Context
	world  Comm
	column Comm // the ranks of the same grid column, by row
	row    Comm // the ranks of the same grid row, by column
	modulo bool
	tuples []graph.Edge
	first0 int64      // position of tuples[0] in the whole list
	came   [][]uint32 // entries of this part from each rank: pairs of a row slot and a column slot
	slots  []uint32   // [row slot] tuples counted
	phases []timed
}

// timed is a phase of kernel 1 on one rank.
type timed struct {
	Name    string
	Elapsed time.Duration
}

// buildPart is kernel 1. All ranks of world call it, each with its share of the tuples and the position of its first.
func buildPart(ctx context.Context, world Comm, c Configuration, tuples []graph.Edge, position int64) (*part, []timed, error) {
	b := &builder{part: &part{grid: c.Grid}, ctx: ctx, world: world, modulo: c.Modulo, tuples: tuples, first0: position}
	b.i, b.j = c.Grid.Place(world.Rank())
	for _, phase := range []struct {
		name string
		do   func() error
	}{
		{"measure", b.measure},
		{"route", b.route},
		{"order", b.order},
		{"lists", func() error { return b.lists(!c.OneD) }},
	} {
		start := time.Now()
		err := b.agree(phase.do())
		b.phases = append(b.phases, timed{Name: phase.name, Elapsed: time.Since(start)})
		if err != nil {
			return nil, nil, err
		}
	}
	return b.part, b.phases, nil
}

// agree lets all ranks stop when one has to.
func (b *builder) agree(err error) error {
	if err == nil {
		err = b.ctx.Err()
	}
	failed := [1]int64{}
	if err != nil {
		failed[0] = 1
	}
	b.world.Allreduce(Max, failed[:])
	if err == nil && failed[0] != 0 {
		return errElsewhere
	}
	return err
}

// measure finds the largest label, and deals the labels to the ranks.
func (b *builder) measure() error {
	var err error
	var labels [1]int64
	for k, e := range b.tuples {
		u, v, narrow := e.Narrow()
		if !narrow || u >= none-1 || v >= none-1 {
			err = fmt.Errorf("distributed: construct: tuple %d is %v: %w: labels must be below %d; relabel the vertices",
				b.first0+int64(k), e, plugins.ErrTuples, uint32(none-1))
			break
		}
		labels[0] = max(labels[0], int64(max(u, v))+1)
	}
	b.world.Allreduce(Max, labels[:])
	b.partition = NewPartition(labels[0], b.world.Size(), b.modulo)
	b.column = b.world.Split(b.j, b.i)
	b.row = b.world.Split(b.i, b.j)
	return err
}

// route sends the two entries of every tuple, from each end to the other, to the ranks that hold them.
func (b *builder) route() error {
	ranks, share := b.world.Size(), uint32(b.partition.Share)
	// Where the vertices of an owner lie in the grid.
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
			break // the end of the phase tells the others
		}
		u, v, _ := e.Narrow()
		if u == v {
			continue
		}
		ownerU, slotU := b.partition.Owner(Label(u))
		ownerV, slotV := b.partition.Owner(Label(v))
		pu, pv := &places[ownerU], &places[ownerV]
		to := pu.firstOfColumn + pv.row // from u to v
		send[to] = append(send[to], pv.rowBase+slotV, pu.columnBase+slotU)
		to = pv.firstOfColumn + pu.row
		send[to] = append(send[to], pu.rowBase+slotU, pv.columnBase+slotV)
	}
	b.came = make([][]uint32, ranks)
	b.world.Alltoallv(send, b.came)
	total := 0
	for _, entries := range b.came {
		total += len(entries) / 2
	}
	if total >= none {
		return fmt.Errorf("distributed: construct: %d entries on one rank: %w: want fewer than %d; use more ranks", total, plugins.ErrMemory, uint32(none))
	}
	b.slots = make([]uint32, b.grid.C*int(share))
	for _, entries := range b.came {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			b.slots[entries[k]]++
		}
	}
	return nil
}

// order numbers the vertices that the rank owns by descending degree, and makes all blocks equally wide.
func (b *builder) order() error {
	share := int(b.partition.Share)
	send := make([][]uint32, b.grid.C)
	for m := range send {
		send[m] = b.slots[m*share : (m+1)*share]
	}
	counted := make([][]uint32, b.grid.C)
	b.row.Alltoallv(send, counted)
	degree := make([]uint32, share)
	for _, of := range counted {
		for slot, d := range of {
			degree[slot] += d
		}
	}
	sorted := byDescendingDegree(degree)
	b.n = len(sorted)
	widest := [1]int64{int64(b.n)}
	b.world.Allreduce(Max, widest[:])
	b.width = (int(widest[0]) + 31) &^ 31
	b.rows, b.columns = b.grid.C*b.width, b.grid.R*b.width
	if most := int64(b.width) * int64(b.world.Size()); most >= none {
		return fmt.Errorf("distributed: construct: %d numbers for vertices: %w: want fewer than %d; use a smaller scale", most, plugins.ErrTuples, uint32(none))
	}
	b.number = make([]Own, share)
	b.degree = make([]uint32, b.width)
	labels := make([]uint32, b.width)
	_, first, stride := b.partition.Slots(b.world.Rank())
	for own, slot := range sorted {
		b.degree[own] = degree[slot]
		labels[own] = uint32(first+int64(slot)*stride) + 1
	}
	for slot := range b.number {
		b.number[slot] = Own(b.width)
	}
	for own, slot := range sorted {
		b.number[slot] = Own(own)
	}
	b.label = make([]uint32, 0, b.columns)
	blocks := make([][]uint32, b.grid.R)
	b.column.Allgatherv(labels, blocks)
	for _, block := range blocks {
		b.label = append(b.label, block...)
	}
	return nil
}

// byDescendingDegree returns the slots whose degree is not 0, largest degree first and equal ones in ascending order: a
// radix sort from the least significant digit.
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
	spare := make([]uint32, len(slots))
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
			spare[start[k]] = s
			start[k]++
		}
		slots, spare = spare, slots
	}
	return slots
}
