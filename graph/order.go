package graph

// QueueOrder returns new numbers of the vertices of rows, where the neighbours of v are
// targets[offsets[v]:offsets[v+1]]: those of a queue that begins with the first vertex and takes the neighbours of
// each, in the order of its list. The first vertex of each other component follows (Kolganov, "The Fastest and
// Energy-Efficient Breadth-First Search Algorithm on a Single Node", 2018, section 2.3).
func QueueOrder(offsets []int64, targets []uint32) []uint32 {
	number, queue := make([]uint32, len(offsets)-1), make([]uint32, 0, len(offsets)-1)
	add := func(v uint32) {
		if number[v] == 0 {
			queue = append(queue, v)
			number[v] = uint32(len(queue)) // plus 1
		}
	}
	for first := range number {
		head := len(queue)
		for add(uint32(first)); head < len(queue); head++ {
			for _, u := range targets[offsets[queue[head]]:offsets[queue[head]+1]] {
				add(u)
			}
		}
	}
	for v := range number {
		number[v]--
	}
	return number
}
