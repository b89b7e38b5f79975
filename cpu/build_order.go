package cpu

import (
	"math/bits"
	"sync/atomic"
)

// Ordering: which vertex gets which number inside the engine. Isolated labels get none.
//
//	0 ............ hubs ............ strays ............ searched ............ n
//	|    hubs       |    grouped      |     strays        |       leaves       |
//
// Hubs are the vertices of largest degree, by descending degree (Kolganov 2018, section 2.2, "global sort"; stable).
// They are the parents of nearly everything, share a few cache lines of every bitmap, and stand first in every list,
// so that a bottom-up scan ends early (section 2.1, "local sort").
//
// Every other vertex that has a hub for a neighbour belongs to the group of its largest one. The vertices of a group
// have consecutive numbers, so that a hub in the frontier finds its whole group with a few operations on words of 64
// vertices and without looking at a single edge. Inside a group the order is still by descending degree, unless option reorder
// says otherwise (build_reorder.go).
// Leaves are vertices with a single tuple, whose neighbour is a hub. They find nothing, and their parent is known from the graph, so a
// search never looks at them; they are ordered by their hub too. Strays are the rest, without a hub for a neighbour.

// order fills b.original (label of each vertex), b.vertex (vertex of each label) and the borders above.
func (b *builder) order() (err error) {
	if b.vertex, err = allocate[uint32](b.memory, "vertex of each label", b.labels); err != nil {
		return err
	}
	records, spare, err := b.byDegree()
	if err != nil {
		return err
	}
	if b.original, err = allocate[uint32](b.memory, "label of each vertex", b.vertices); err != nil {
		return err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.labels, 1)
		for label := from; label < to; label++ {
			b.vertex[label] = none
		}
	})
	b.number(records)
	b.hubs = min(b.wantHubs(b.vertices), b.vertices)
	b.strays, b.searched = b.vertices, b.vertices
	for _, borders := range []*[]uint32{&b.groups, &b.leaves} {
		if *borders, err = allocate[uint32](b.memory, "groups", b.hubs+1); err != nil {
			return err
		}
	}
	if b.hubs < b.vertices {
		switch b.reorder {
		case reorderLabel:
			records, spare = b.byLabel(records, spare)
			b.number(records)
		case reorderKolganov:
			if records, spare, err = b.byBreadth(records, spare); err != nil {
				return err
			}
			b.number(records)
		}
		near, err := b.nearest(nil)
		if err != nil {
			return err
		}
		if b.reorder == reorderNeighbour {
			if records, spare, err = b.bySecond(near, records, spare); err != nil {
				return err
			}
		}
		records, spare = b.byGroup(near, records, spare)
		release(b.memory, &near)
		b.number(records)
	} else {
		for h := range b.groups {
			b.groups[h], b.leaves[h] = uint32(b.vertices), uint32(b.vertices)
		}
	}
	release(b.memory, &records)
	release(b.memory, &spare)
	return nil
}

// number gives the labels in records their place there as number.
func (b *builder) number(records []uint64) {
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.vertices, 1)
		for v := from; v < to; v++ {
			label := uint32(records[v])
			b.original[v] = label
			b.vertex[label] = uint32(v)
		}
	})
}

// byDegree returns the labels that are not isolated by descending degree, as the lower halves of records, and an array
// of the same length.
func (b *builder) byDegree() (records, spare []uint64, err error) {
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
	if records, err = allocate[uint64](b.memory, "vertices to sort", b.vertices); err != nil {
		return nil, nil, err
	}
	if spare, err = allocate[uint64](b.memory, "vertices to sort", b.vertices); err != nil {
		return nil, nil, err
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
	return records, spare, nil
}

// nearest returns the smallest neighbour of every vertex in the numbers so far, or the smallest above a given one. A larger one is replaced by a smaller one
// wherever a tuple shows one; that happens a few times for each vertex and not once for each edge, so workers share the
// array.
func (b *builder) nearest(above []uint32) ([]uint32, error) {
	near, err := allocate[uint32](b.memory, "nearest neighbours", b.vertices)
	if err != nil {
		return nil, err
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.vertices, 1)
		for v := from; v < to; v++ {
			near[v] = none
		}
	})
	b.team.run(func(worker int) {
		var pairs [batchSize]uint64
		rest := b.share(worker)
		for tuples := b.batch(&rest); len(tuples) > 0; tuples = b.batch(&rest) {
			translate(tuples, b.vertex, &pairs)
			if above == nil {
				offerAll(pairs[:len(tuples)], near)
			} else {
				offerAbove(pairs[:len(tuples)], above, near)
			}
		}
	})
	return near, b.ctx.Err()
}

// offerAll offers the ends of every pair to each other.
func offerAll(pairs []uint64, near []uint32) {
	for _, pair := range pairs {
		u, v := uint32(pair>>32), uint32(pair)
		if u == v { // all self-loops, also those of isolated vertices
			continue
		}
		if v < atomic.LoadUint32(&near[u]) {
			lower(&near[u], v)
		}
		if u < atomic.LoadUint32(&near[v]) {
			lower(&near[v], u)
		}
	}
}

// offerAbove offers the ends of every pair to each other where they are above what is given.
func offerAbove(pairs []uint64, above, near []uint32) {
	for _, pair := range pairs {
		u, v := uint32(pair>>32), uint32(pair)
		if u == v {
			continue
		}
		if v > above[u] {
			lower(&near[u], v)
		}
		if u > above[v] {
			lower(&near[v], u)
		}
	}
}

// lower makes *least at most u.
func lower(least *uint32, u uint32) {
	for {
		old := atomic.LoadUint32(least)
		if u >= old || atomic.CompareAndSwapUint32(least, old, u) {
			return
		}
	}
}

// byGroup sorts the labels as the picture above shows. It returns them like byDegree.
func (b *builder) byGroup(near []uint32, records, spare []uint64) (sorted, other []uint64) {
	hubs := uint32(b.hubs)
	tail, tailSpare := records[hubs:], spare[hubs:]
	strays, leaves := make([]int, b.team.size), make([]int, b.team.size)
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, len(tail), 1)
		for i := from; i < to; i++ {
			v := hubs + uint32(i)
			key := near[v]
			switch {
			case key >= hubs:
				key = hubs
				strays[worker]++
			case b.degrees[b.original[v]] == 1:
				key += hubs + 1
				leaves[worker]++
			}
			tail[i] = uint64(key)<<32 | uint64(v)
		}
	})
	b.strays, b.searched = b.vertices, b.vertices
	for worker := range b.team.size {
		b.strays -= strays[worker] + leaves[worker]
		b.searched -= leaves[worker]
	}
	tail, _ = sortRecords(b.team, tail, tailSpare, bits.Len32(2*hubs+1))
	b.findBorders(b.groups, tail, b.hubs, b.strays, 0)
	b.findBorders(b.leaves, tail, b.searched, b.vertices, hubs+1)
	// Back from numbers to labels. tail lies in either array.
	sorted, other = records, spare
	if &tail[0] != &records[hubs] {
		sorted, other = spare, records
	}
	b.team.run(func(worker int) {
		from, to := b.team.share(worker, b.vertices, 1)
		for v := from; v < to; v++ {
			old := uint32(v)
			if v >= b.hubs {
				old = uint32(sorted[v])
			}
			sorted[v] = uint64(b.original[old])
		}
	})
	return sorted, other
}

// findBorders fills borders[h] with the first of the vertices from..to-1 that belongs to hub h or a later one, and the
// last border with to. tail holds the sorted vertices that are not hubs, with key plus their hub in the upper half.
func (b *builder) findBorders(borders []uint32, tail []uint64, from, to int, key uint32) {
	tail = tail[from-b.hubs : to-b.hubs]
	hub := func(i int) int { return int(uint32(tail[i]>>32) - key) }
	b.team.run(func(worker int) {
		begin, end := b.team.share(worker, len(tail)+1, 1)
		for i := begin; i < end; i++ {
			next, last := 0, b.hubs // hubs that begin at i
			if i > 0 {
				next = hub(i-1) + 1
			}
			if i < len(tail) {
				last = hub(i)
			}
			for h := next; h <= last; h++ {
				borders[h] = uint32(from + i)
			}
		}
	})
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
