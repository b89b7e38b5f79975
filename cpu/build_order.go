package cpu

import "math/bits"

// Ordering: which vertex gets which number inside the engine.
//
// Vertices are renumbered by descending degree and isolated ones are dropped (Kolganov 2018, section 2.2, "global
// sort"; stable). The hubs, which are the parents of nearly everything, then share a few cache lines of every bitmap,
// and a list in ascending order has its hubs first (section 2.1, "local sort"), so that a bottom-up scan ends early.

// order fills b.original (label of each vertex) and b.vertex (vertex of each label, none where isolated).
func (b *builder) order() (err error) {
	if b.vertex, err = allocate[uint32](b.memory, "vertex of each label", b.labels); err != nil {
		return err
	}
	used := make([]int, b.team.size+1) // vertices before each worker's labels
	top := make([]uint32, b.team.size)
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 1)
		for _, d := range b.degrees[from:to] {
			if d != 0 {
				used[worker+1]++
				top[worker] = max(top[worker], d)
			}
		}
	})
	var largest uint32
	for worker, d := range top {
		used[worker+1] += used[worker]
		largest = max(largest, d)
	}
	b.vertices = used[b.team.size]

	records, err := allocate[uint64](b.memory, "vertices to sort", b.vertices)
	if err != nil {
		return err
	}
	spare, err := allocate[uint64](b.memory, "vertices to sort", b.vertices)
	if err != nil {
		return err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 1)
		at := used[worker]
		for label := from; label < to; label++ {
			if d := b.degrees[label]; d != 0 {
				records[at] = uint64(largest-d)<<32 | uint64(label)
				at++
			}
		}
	})
	records, spare = sortRecords(b.team, records, spare, bits.Len32(largest))

	if b.original, err = allocate[uint32](b.memory, "label of each vertex", b.vertices); err != nil {
		return err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 1)
		for label := from; label < to; label++ {
			b.vertex[label] = none
		}
	})
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.vertices, 1)
		for v := from; v < to; v++ {
			label := uint32(records[v])
			b.original[v] = label
			b.vertex[label] = uint32(v)
		}
	})
	release(b.memory, &records)
	release(b.memory, &spare)
	return nil
}

// sortRecords sorts records by the low `width` bits of their upper halves, keeping the order of equal ones: a radix
// sort from the least significant digit, every pass over all workers. Both arrays are overwritten; it returns the
// sorted one and the other.
func sortRecords(t *team, records, spare []uint64, width int) (sorted, other []uint64) {
	const digit = 11
	counts := make([][1 << digit]int, t.size)
	for low := 0; low < width; low += digit {
		shift := 32 + low
		t.run(func(worker int) {
			from, to := t.share(worker, len(records), 1)
			mine := &counts[worker]
			*mine = [1 << digit]int{}
			for _, r := range records[from:to] {
				mine[r>>shift&(1<<digit-1)]++
			}
		})
		at := 0
		for d := range 1 << digit {
			for worker := range counts {
				n := counts[worker][d]
				counts[worker][d] = at
				at += n
			}
		}
		t.run(func(worker int) {
			from, to := t.share(worker, len(records), 1)
			mine := &counts[worker]
			for _, r := range records[from:to] {
				d := r >> shift & (1<<digit - 1)
				spare[mine[d]] = r
				mine[d]++
			}
		})
		records, spare = spare, records
	}
	return records, spare
}
