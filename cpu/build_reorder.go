package cpu

import (
	"math/bits"
	"sync/atomic"
)

// Reordering: in which order vertices stand where the borders of build_order.go leave a choice, that is the hubs among themselves
// and the vertices of a group. Any order is right. It decides which words of a bitmap and which lines of the arrays by
// vertex and by label are used together.
//
//	hub        hubs and groups by descending degree, equal ones by label
//	label      hubs as before, groups by label: neighbours in the output stand together
//	neighbour  hubs as before, groups by second neighbour: what asks for the same word of the frontier stands together
//	kolganov   hubs and groups in the order of a breadth-first search from the vertex of largest degree that visits
//	           neighbours by descending degree (Kolganov 2018, section 2.3)

// byLabel sorts the records behind the hubs by label.
func (b *builder) byLabel(records, spare []uint64) (sorted, other []uint64) {
	hubs := b.hubs
	for i, r := range records[hubs:] {
		records[hubs+i] = r<<32 | r&(1<<32-1)
	}
	tail, _ := sortRecords(b.team, records[hubs:], spare[hubs:], bits.Len(uint(b.labels-1)))
	return joined(records, spare, tail, hubs)
}

// joined returns the array of the two in which tail lies, with the hubs before it, and the other one.
func joined(records, spare, tail []uint64, hubs int) (sorted, other []uint64) {
	if &tail[0] == &records[hubs] {
		return records, spare
	}
	copy(spare, records[:hubs])
	return spare, records
}

// bySecond sorts the records behind the hubs, which are in the order of their vertices' numbers, by the second-smallest
// neighbours, and numbers the vertices and near anew. Vertices without one come last.
func (b *builder) bySecond(near []uint32, records, spare []uint64) (sorted, other []uint64, err error) {
	second, err := b.nearest(near)
	if err != nil {
		return nil, nil, err
	}
	hubs := b.hubs
	for v := hubs; v < b.vertices; v++ {
		records[v] = uint64(min(second[v], uint32(b.vertices)))<<32 | uint64(v)
	}
	tail, _ := sortRecords(b.team, records[hubs:], spare[hubs:], bits.Len(uint(b.vertices)))
	sorted, other = joined(records, spare, tail, hubs)
	again := second // its numbers are not needed any more
	for i, r := range tail {
		again[hubs+i] = near[uint32(r)]
		tail[i] = uint64(b.original[uint32(r)])
	}
	copy(near[hubs:], again[hubs:])
	release(b.memory, &second)
	b.number(sorted)
	return sorted, other, nil
}

// mostBreadths is how many levels byBreadth numbers. The vertices that are further away keep their order behind the rest: each level costs a pass over
// the tuples, and a graph with so many is none that an order by levels is made for.
const mostBreadths = 64

// byBreadth puts the hubs, and then the vertices behind them, in the order of a breadth-first search. Vertices have
// numbers by descending degree so far. What the largest vertex does not reach, or not in mostBreadths levels, keeps its order behind the rest.
//
// A search that visits neighbours by descending degree numbers the vertices of a level by the smallest number of a
// neighbour, and equal ones by descending degree. So a level is one pass over the tuples and a sort.
func (b *builder) byBreadth(records, spare []uint64) (sorted, other []uint64, err error) {
	place, err := allocate[uint32](b.memory, "place of each vertex", b.vertices)
	if err != nil {
		return nil, nil, err
	}
	best, err := allocate[uint32](b.memory, "smallest place of a neighbour", b.vertices)
	if err != nil {
		return nil, nil, err
	}
	for v := range place {
		place[v], best[v] = none, none
	}
	queue, err := allocate[uint32](b.memory, "vertices by place", b.vertices)
	if err != nil {
		return nil, nil, err
	}
	place[0] = 0 // and queue[0] is
	for n, levels := 1, 0; ; levels++ {
		if levels < mostBreadths {
			b.offerPlaces(place, best)
		}
		if err := b.ctx.Err(); err != nil {
			return nil, nil, err
		}
		level := spare[:0]
		for v := range place {
			if place[v] == none && best[v] != none {
				level = append(level, uint64(best[v])<<32|uint64(v))
			}
		}
		if len(level) == 0 {
			for v := range place {
				if place[v] == none {
					queue[n] = uint32(v)
					n++
				}
			}
			break
		}
		level, _ = sortRecords(b.team, level, records[:len(level)], bits.Len(uint(n)))
		for _, r := range level {
			queue[n], place[uint32(r)] = uint32(r), uint32(n)
			n++
		}
	}
	hub, behind := 0, b.hubs
	for _, v := range queue {
		if int(v) < b.hubs {
			spare[hub] = uint64(b.original[v])
			hub++
		} else {
			spare[behind] = uint64(b.original[v])
			behind++
		}
	}
	release(b.memory, &place)
	release(b.memory, &best)
	release(b.memory, &queue)
	return spare, records, nil
}

// offerPlaces offers every vertex that has a place to its neighbours that have none.
func (b *builder) offerPlaces(place, best []uint32) {
	b.team.run(func(worker int) {
		var pairs [batchSize]uint64
		rest := b.share(worker)
		for tuples := b.batch(&rest); len(tuples) > 0; tuples = b.batch(&rest) {
			translate(tuples, b.vertex, &pairs)
			for _, pair := range pairs[:len(tuples)] {
				u, v := uint32(pair>>32), uint32(pair)
				if u == v {
					continue
				}
				if place[u] == none {
					u, v = v, u
				}
				if place[u] != none && place[v] == none && place[u] < atomic.LoadUint32(&best[v]) {
					lower(&best[v], place[u])
				}
			}
		}
	})
}
