package distributed

import (
	"math/bits"

	"github.com/tepsbench/teps/internal/memory"
)

// The lists of a part are made by two counting sorts: the first by column, in the order of list indexes; the second
// visits the columns in that order and appends each to its rows. So the lists of rows come out sorted, hubs first, with
// duplicates next to each other, which are dropped, from the columns too. Each worker sorts the entries of a range of
// rows.

// rowRange is the rows from..to-1 with their lists, and those of all columns with these rows only.
type rowRange struct {
	from, to Row
	up       lists[Column] // of row from+k
	down     lists[Row]
}

// splitRows splits rows into n ranges with about equally many entries and borders at multiples of 32, so that no word
// of a bitmap belongs to two ranges.
func splitRows(counts []uint32, n int) (ranges []rowRange) {
	total := 0
	for _, c := range counts {
		total += int(c)
	}
	ranges = make([]rowRange, n)
	v, sum := 0, 0
	for k := range ranges {
		ranges[k].from = Row(v)
		for v < len(counts) && (k == n-1 || sum < total*(k+1)/n || v&31 != 0) {
			sum += int(counts[v])
			v++
		}
		ranges[k].to = Row(v)
	}
	return ranges
}

// sortByColumn translates those entries, pairs of a row slot and a column slot, that are in the range, and sorts them
// by list index. The result is incomplete if the context has ended.
func (b *builder) sortByColumn(r *rowRange, row []Row, index []listIndex) {
	at := make([]uint32, b.columns+1)
	extent := r.to - r.from
	for _, entries := range b.entries {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			if row[entries[k]]-r.from < extent {
				at[index[entries[k+1]]]++
			}
		}
	}
	var end uint32
	for k, n := range at { // from lengths of lists to their ends
		end += n
		at[k] = end
	}
	targets := make([]Row, end)
	for _, entries := range b.entries {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			if v := row[entries[k]]; v-r.from < extent {
				column := index[entries[k+1]]
				at[column]--
				targets[at[column]] = v
			}
		}
	}
	r.down = lists[Row]{at, targets}
}

// sortByRow makes the lists of rows from those of columns, and drops duplicates from both. counts[v] is the number of
// entries of row v. The result is incomplete if the context has ended.
func (b *builder) sortByRow(r *rowRange, counts []uint32) {
	rows := int(r.to - r.from)
	begin, next := make([]uint32, rows+1), make([]uint32, rows)
	var sum uint32
	for k, n := range counts[r.from:r.to] {
		begin[k], next[k] = sum, sum
		sum += n
	}
	targets := make([]Column, len(r.down.targets))
	var kept, from uint32 // entries of columns that are not duplicates; where the next list of a column begins
	k := 0
	for local := range b.width {
		if local&(1<<12-1) == 0 && b.ctx.Err() != nil {
			break
		}
		for block := range b.grid.R {
			column := b.columnOf(block, Local(local))
			to := r.down.at[k+1]
			r.down.at[k] = kept
			for _, v := range r.down.targets[from:to] {
				place := next[v-r.from]
				if place > begin[v-r.from] && targets[place-1] == column {
					continue // a duplicate
				}
				targets[place] = column
				next[v-r.from] = place + 1
				r.down.targets[kept] = v
				kept++
			}
			from = to
			k++
		}
	}
	r.down.at[k] = kept
	// Close the gaps that duplicates leave.
	var to uint32
	for k := range rows {
		n := copy(targets[to:], targets[begin[k]:next[k]])
		begin[k] = to
		to += uint32(n)
	}
	begin[rows] = to
	r.up = lists[Column]{begin, targets[:to]}
}

// keepLists moves the lists of the ranges to memory of the part, those of rows into one array. Parts in one dimension
// have no lists of columns.
func (b *builder) keepLists(ranges []rowRange, columns bool) error {
	total := uint32(0)
	before := make([]uint32, len(ranges)) // entries of earlier ranges
	for k, r := range ranges {
		before[k] = total
		total += uint32(len(r.up.targets))
		if columns {
			b.down = append(b.down, lists[Row]{
				memory.Allocate[uint32](b.memory, "offsets of columns", len(r.down.at)),
				memory.Allocate[Row](b.memory, "entries of columns", len(r.up.targets)),
			})
		}
	}
	b.up.at = memory.Allocate[uint32](b.memory, "offsets of rows", b.rows+1)
	b.up.targets = memory.Allocate[Column](b.memory, "entries of rows", int(total))
	if err := b.memory.Err(); err != nil {
		return err
	}
	b.up.at[b.rows] = total
	b.team.Run(func(worker int) {
		r := &ranges[worker]
		copy(b.up.targets[before[worker]:], r.up.targets)
		for k, at := range r.up.at[:r.to-r.from] {
			b.up.at[int(r.from)+k] = before[worker] + at
		}
		if columns {
			copy(b.down[worker].at, r.down.at)
			copy(b.down[worker].targets, r.down.targets)
		}
		*r = rowRange{}
	})
	return nil
}

// byDescendingDegree returns the slots with nonzero degree by descending degree and then ascending slot.
func byDescendingDegree(degree []uint32) []uint32 {
	var largest uint32
	slots := make([]uint32, 0, len(degree))
	for slot, d := range degree {
		if d != 0 {
			slots = append(slots, uint32(slot))
			largest = max(largest, d)
		}
	}
	return sortByKey(slots, largest, func(slot uint32) uint32 { return largest - degree[slot] })
}

// sortByKey sorts numbers by ascending key and keeps the order of equal ones: a radix sort from the least significant
// digit.
func sortByKey(numbers []uint32, largest uint32, key func(uint32) uint32) []uint32 {
	const digit = 11
	next := make([]uint32, len(numbers))
	for low := 0; low < bits.Len32(largest); low += digit {
		var start [1<<digit + 1]int
		for _, n := range numbers {
			start[key(n)>>low&(1<<digit-1)+1]++
		}
		for k := range 1 << digit {
			start[k+1] += start[k]
		}
		for _, n := range numbers {
			k := key(n) >> low & (1<<digit - 1)
			next[start[k]] = n
			start[k]++
		}
		numbers, next = next, numbers
	}
	return numbers
}
