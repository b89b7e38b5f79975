package distributed

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/tepsbench/teps/internal/memory"
	"github.com/tepsbench/teps/plugins"
)

// The lists of a part are made by two counting sorts: the first by column, in the order of list indexes; the second
// visits the columns in that order and appends each to its rows. So the lists of rows come out sorted, hubs first, with
// duplicates next to each other, which are dropped, from the columns too. Each worker sorts the entries of a range of
// rows, into which they are divided first.

// entry is an entry of the part's matrix.
type entry struct {
	row    Row
	column listIndex
}

// rowRange is the rows from..to-1 with their lists, and those of all columns with these rows only.
type rowRange struct {
	from, to Row
	entries  []entry
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

func tooManyEntries(n int) error {
	return fmt.Errorf("%d adjacency entries on one rank, want fewer than %d; use more ranks: %w",
		n, uint32(maxUint32), plugins.ErrMemory)
}

// divide translates the entries and gives each range its own. If the context ends, the ranges have only some of their
// entries; if memory runs out, they have none.
func (b *builder) divide(ranges []rowRange, row []Row, index []listIndex) {
	n := len(ranges)
	of := rangesOfWords(ranges, b.rows)
	next := make([]int, b.buckets*n) // [bucket*n+range] where the next entry goes
	b.team.Pieces(b.buckets, 1, func(_, bucket, _ int) {
		from, to := b.slotsOf(bucket)
		for slot := from; slot < to; slot++ {
			if entries := b.count[slot]; entries != 0 {
				next[bucket*n+int(of[row[slot]>>5])] += int(entries)
			}
		}
	})
	total := 0
	first := make([]int, n+1)
	for k := range ranges {
		for bucket := range b.buckets {
			at := &next[bucket*n+k]
			*at, total = total, total+*at
		}
		first[k+1] = total
	}
	if b.divided = memory.Allocate[entry](b.memory, "entries by range of rows", total); b.memory.Err() != nil {
		return
	}
	for k := range ranges {
		ranges[k].entries = b.divided[first[k]:first[k+1]]
	}
	b.eachBucket(func(bucket int, entries []uint32) {
		next := next[bucket*n:][:n]
		for k := 0; k+1 < len(entries); k += 2 {
			v := row[entries[k]]
			at := &next[of[v>>5]]
			b.divided[*at] = entry{v, index[entries[k+1]]}
			*at++
		}
	})
}

// rangesOfWords returns the range of each word of n rows.
func rangesOfWords(ranges []rowRange, n int) []uint16 {
	of := make([]uint16, n/32+1)
	for k, r := range ranges {
		for w := r.from >> 5; w < (r.to+31)>>5; w++ {
			of[w] = uint16(k)
		}
	}
	return of
}

// cutLists cuts the long ones of the first n lists of those that top-down levels scan, whose entries are ordered by
// range. of is the range of each word of rows.
func cutLists[V Row | Column](b *builder, all *lists[V], n int, of []uint16) {
	b.ranges = rangesOf(b.team.Size())
	for n > 0 && len(all.of(n-1)) < minSegment*b.ranges {
		n--
	}
	b.segmented = uint32(n)
	b.segments = memory.Allocate[uint32](b.memory, "segments", n*(b.ranges+1))
	if b.memory.Err() != nil {
		return
	}
	b.team.Pieces(n, 1<<8, func(_, from, to int) {
		for u := from; u < to; u++ {
			list, before := all.of(u), b.segments[u*(b.ranges+1):]
			for k := range b.ranges {
				before[k+1] = before[k] + uint32(sort.Search(len(list)-int(before[k]), func(i int) bool {
					return int(of[list[int(before[k])+i]>>5]) > k
				}))
			}
		}
	})
}

// sortByColumn sorts the entries of a range by list index. The result is incomplete if the context has ended.
func (b *builder) sortByColumn(r *rowRange) {
	at := make([]uint32, b.columns+1)
	each := func(do func(entry)) {
		for entries := range slices.Chunk(r.entries, 1<<16) {
			if b.ctx.Err() != nil {
				return
			}
			for _, e := range entries {
				do(e)
			}
		}
	}
	each(func(e entry) { at[e.column]++ })
	var end uint32
	for k, n := range at { // from lengths of lists to their ends
		end += n
		at[k] = end
	}
	targets := make([]Row, end)
	each(func(e entry) {
		if at[e.column] > 0 { // always, unless the context has ended meanwhile
			at[e.column]--
			targets[at[e.column]] = e.row
		}
	})
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
	for word := range b.columns / 32 {
		if word&(1<<7-1) == 0 && b.ctx.Err() != nil {
			break
		}
		first := b.listedColumn(word)
		for column := first; column < first+32; column++ {
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

// keepLists moves the lists of the ranges to memory of the part. Parts in one dimension have no lists of columns.
func (b *builder) keepLists(ranges []rowRange, counts []uint32, columns bool) error {
	total := uint32(0)
	before := make([]uint32, len(ranges)) // entries of earlier ranges
	for k, r := range ranges {
		before[k] = total
		total += uint32(len(r.up.targets))
	}
	b.up.at = memory.Allocate[uint32](b.memory, "offsets of rows", b.rows+1)
	b.up.targets = memory.Allocate[Column](b.memory, "entries of rows", int(total))
	if columns {
		b.down.at = memory.Allocate[uint32](b.memory, "offsets of columns", b.columns+1)
		b.down.targets = memory.Allocate[Row](b.memory, "entries of columns", int(total))
	}
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
		if columns && len(ranges) > 1 {
			b.sortColumns(r)
		}
	})
	if columns {
		b.team.Pieces(b.columns, 1<<8, func(_, from, to int) { b.joinColumns(ranges, from, to) })
		b.down.at[b.columns] = total
	}
	if hubs := b.hubsPerRank(); b.team.Size() > 1 && columns {
		cutLists(b, &b.down, hubs*b.grid.R, rangesOfWords(splitRows(counts, rangesOf(b.team.Size())), b.rows))
	} else if b.team.Size() > 1 {
		// In one dimension, a range has rows of every rank: of hubs as many entries as the others.
		local := rangesOfWords(splitRows(b.degree, rangesOf(b.team.Size())), b.width)[:b.width/32]
		cutLists(b, &b.up, hubs, slices.Repeat(local, b.grid.R))
	}
	return b.memory.Err()
}

// sortColumns sorts the lists of columns of a range by row: it visits the rows in order and appends each to its
// columns.
func (b *builder) sortColumns(r *rowRange) {
	next, width := slices.Clone(r.down.at), uint32(b.width)
	for k := range int(r.to - r.from) {
		for _, c := range r.up.of(k) {
			at := &next[b.listOf(int(uint32(c)/width), Local(uint32(c)%width))]
			r.down.targets[*at] = r.from + Row(k)
			*at++
		}
	}
}

// joinColumns makes lists from..to-1 of columns of those of the ranges, one after the other.
func (b *builder) joinColumns(ranges []rowRange, from, to int) {
	for k := from; k < to; k++ {
		at := uint32(0)
		for i := range ranges {
			at += ranges[i].down.at[k]
		}
		b.down.at[k] = at
		for i := range ranges {
			at += uint32(copy(b.down.targets[at:], ranges[i].down.of(k)))
		}
	}
}

// byDescendingDegree returns the slots with nonzero degree by descending degree and then ascending slot.
func (b *builder) byDescendingDegree(degree []uint32) []uint32 {
	var largest uint32
	slots := make([]uint32, 0, len(degree))
	for slot, d := range degree {
		if d != 0 {
			slots = append(slots, uint32(slot))
			largest = max(largest, d)
		}
	}
	return b.sortByKey(slots, largest, func(slot uint32) uint32 { return largest - degree[slot] })
}

// sortByKey sorts numbers by ascending key and keeps the order of equal ones: a radix sort from the least significant
// digit. Each worker counts and then moves its share of the numbers.
func (b *builder) sortByKey(numbers []uint32, largest uint32, key func(uint32) uint32) []uint32 {
	const digit = 11
	next := make([]uint32, len(numbers))
	starts := make([][1 << digit]int, b.team.Size())
	for low := 0; low < bits.Len32(largest); low += digit {
		b.team.Split(len(numbers), 1, func(worker, from, to int) {
			start := &starts[worker]
			clear(start[:])
			for _, n := range numbers[from:to] {
				start[key(n)>>low&(1<<digit-1)]++
			}
		})
		total := 0
		for k := range 1 << digit {
			for worker := range starts {
				start := &starts[worker][k]
				*start, total = total, total+*start
			}
		}
		b.team.Split(len(numbers), 1, func(worker, from, to int) {
			start := &starts[worker]
			for _, n := range numbers[from:to] {
				k := key(n) >> low & (1<<digit - 1)
				next[start[k]] = n
				start[k]++
			}
		})
		numbers, next = next, numbers
	}
	return numbers
}
