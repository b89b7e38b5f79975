package distributed

import "math/bits"

// The local parts of both steps, where a rank spends its time computing. They work on bitmaps and on the lists of the
// part, and know nothing about messages, ranks or grids.
//
// Whether a neighbour is visited, and which entry of a list is the first one in the frontier, is almost random, so a
// branch on it would be mispredicted all the time. Instead, every candidate is written behind those that are kept, and
// the number of those kept grows only if it is to be kept.

// batch is how many entries or rows are processed at a time; a power of two.
const batch = 512

// scratch holds the intermediate results of a rank's scans.
type scratch struct {
	row    [batch]Row    // rows to process, or unvisited ones
	at     [batch]uint32 // next entry to read
	end    [batch]uint32
	found  [batch]Row    // rows with a column in the frontier
	column [batch]Column // that column
}

// scanTopDown discovers every unvisited row in the list of a frontier vertex and makes that vertex, with the given
// label, its parent. In one dimension rows have the numbers of columns, because the same lists serve both directions.
func scanTopDown[V Row | Column](x *scratch, list []V, label uint32, visited, discovered bitmap, parent []uint32) {
	for len(list) > 0 {
		part := list[:min(len(list), batch)]
		list = list[len(part):]
		for _, v := range x.row[:keepUnvisited(part, visited, &x.row)] {
			bit := uint32(1) << (v & 31)
			visited[v>>5] |= bit
			discovered[v>>5] |= bit
			parent[v] = label
		}
	}
}

// keepUnvisited writes the unvisited ones of at most batch rows to unvisited and returns their number.
func keepUnvisited[V Row | Column](rows []V, visited bitmap, unvisited *[batch]Row) int {
	n := 0
	for _, v := range rows {
		unvisited[n&(batch-1)] = Row(v)
		n += int(^visited[v>>5] >> (v & 31) & 1)
	}
	return n
}

// scanBottomUp discovers every unvisited row with an entry in a column of the frontier and makes the first such column
// its parent. visited, discovered and parent begin at the part's first row. It returns the number of entries read.
//
// parent already holds the label of every row's first column (the template), which is where most rows find theirs; it
// is written only for other columns.
func (p *Part) scanBottomUp(x *scratch, frontier, visited, discovered bitmap, parent []uint32) (edges int64) {
	n := 0
	for w, nonEmpty := range p.nonEmpty {
		left := nonEmpty &^ visited[w]
		if left == 0 {
			continue
		}
		edges += int64(bits.OnesCount32(left))
		found := firstInFrontier(frontier, p.first[w<<5:], left)
		discovered[w] = found
		visited[w] |= found
		for left &^= found; left != 0; left &= left - 1 {
			x.row[n&(batch-1)] = Row(w<<5 + bits.TrailingZeros32(left))
			n++
		}
		if n > batch-32 {
			edges += p.scanLists(x, n, frontier, visited, discovered, parent)
			n = 0
		}
	}
	return edges + p.scanLists(x, n, frontier, visited, discovered, parent)
}

// scanLists searches the lists of the first n rows of x, from their second entries on. All rows advance together: each
// reads one entry, then those left read their next one, and so on.
func (p *Part) scanLists(x *scratch, n int, frontier, visited, discovered bitmap, parent []uint32) (edges int64) {
	const mask = batch - 1
	kept, at := 0, p.up.at
	for _, v := range x.row[:n] {
		begin, end := at[v]+1, at[v+1]
		x.row[kept&mask], x.at[kept&mask], x.end[kept&mask] = v, begin, end
		kept += less(begin, end)
	}
	found := 0
	for n = kept; n > 0; n = kept {
		edges += int64(n)
		kept = 0
		for k := range n {
			v, at, end := x.row[k&mask], x.at[k&mask], x.end[k&mask]
			u := p.up.targets[at]
			hit := int(frontier[u>>5] >> (u & 31) & 1)
			x.found[found&mask], x.column[found&mask] = v, u
			found += hit
			at++
			x.row[kept&mask], x.at[kept&mask], x.end[kept&mask] = v, at, end
			kept += less(at, end) &^ hit
		}
	}
	for k, v := range x.found[:found] {
		bit := uint32(1) << (v & 31)
		visited[v>>5] |= bit
		discovered[v>>5] |= bit
		parent[v] = p.label[x.column[k]]
	}
	return edges
}

// less returns 1 if a < b and 0 otherwise.
func less(a, b uint32) int { return int((uint64(a) - uint64(b)) >> 63) }

// firstInFrontier returns those bits k of rows whose column[k] is in the frontier.
func firstInFrontier(frontier bitmap, column []Column, rows uint32) (found uint32) {
	for ; rows != 0; rows &= rows - 1 {
		k := bits.TrailingZeros32(rows) & 31
		u := column[k]
		found |= frontier[u>>5] >> (u & 31) & 1 << k
	}
	return found
}
