package distributed

import "math/bits"

// The two local steps that a rank spends its time in. Both work on bitmaps and on the lists of the part; neither knows of
// messages, ranks or grids.
//
// Whether a neighbour has been seen, and which entry of a list is the first in the frontier, is as good as random, and a
// branch on it would be mispredicted all the time. So both steps write every candidate behind those that they keep, and
// go on behind it only if it is one to keep.

// pieceSize is how many entries or vertices a step works on at once; a power of two.
const pieceSize = 512

// scratch is what the steps of a rank write in between.
type scratch struct {
	vertex [pieceSize]Row    // rows that are left, or found
	at     [pieceSize]uint32 // the entry to look at next
	end    [pieceSize]uint32
	hit    [pieceSize]Row    // rows that have found a column
	column [pieceSize]Column // that one
}

// scanDown is the top-down step: every row in the list of u that has not been seen is fresh, and u, with this label, is
// the vertex above it. In one dimension rows are named by columns: the lists serve both ways, and seen has all vertices.
func scanDown[V Row | Column](x *scratch, rows []V, label uint32, seen, fresh bitmap, above []uint32) {
	for len(rows) > 0 {
		piece := rows[:min(len(rows), pieceSize)]
		rows = rows[len(piece):]
		for _, v := range x.vertex[:unseen(piece, seen, &x.vertex)] {
			bit := uint32(1) << (v & 31)
			seen[v>>5] |= bit
			fresh[v>>5] |= bit
			above[v] = label
		}
	}
}

// unseen writes those rows, at most pieceSize, that have not been seen into found, and returns their number.
func unseen[V Row | Column](rows []V, seen bitmap, found *[pieceSize]Row) int {
	n := 0
	for _, v := range rows {
		found[n&(pieceSize-1)] = Row(v)
		n += int(^seen[v>>5] >> (v & 31) & 1)
	}
	return n
}

// scanUp is the bottom-up step over the rows of the part: an unseen row that has an entry in a column of the frontier is
// fresh, and the first such column is above it. seen, fresh and above begin at the part's rows. It returns the number of
// entries that it looked at.
//
// above holds every row's first column already (template), which is where most rows end; it is written only for others.
func (p *part) scanUp(x *scratch, front, seen, fresh bitmap, above []uint32) (edges int64) {
	n := 0
	for w, filled := range p.filled {
		left := filled &^ seen[w]
		if left == 0 {
			continue
		}
		edges += int64(bits.OnesCount32(left))
		hit := among(front, p.first[w<<5:], left)
		fresh[w] = hit
		seen[w] |= hit
		for left &^= hit; left != 0; left &= left - 1 {
			x.vertex[n&(pieceSize-1)] = Row(w<<5 + bits.TrailingZeros32(left))
			n++
		}
		if n > pieceSize-32 {
			edges += p.scanLists(x, n, front, seen, fresh, above)
			n = 0
		}
	}
	return edges + p.scanLists(x, n, front, seen, fresh, above)
}

// scanLists lets the first n rows of x look through their lists, from the second entry on, all in step: everybody looks
// at one entry, those that are left look at their next one, and so on.
func (p *part) scanLists(x *scratch, n int, front, seen, fresh bitmap, above []uint32) (edges int64) {
	const mask = pieceSize - 1
	kept, at := 0, p.up.at
	for _, v := range x.vertex[:n] {
		begin, end := at[v]+1, at[v+1]
		x.vertex[kept&mask], x.at[kept&mask], x.end[kept&mask] = v, begin, end
		kept += less(begin, end)
	}
	hits := 0
	for n = kept; n > 0; n = kept {
		edges += int64(n)
		kept = 0
		for k := range n {
			v, at, end := x.vertex[k&mask], x.at[k&mask], x.end[k&mask]
			u := p.up.targets[at]
			hit := int(front[u>>5] >> (u & 31) & 1)
			x.hit[hits&mask], x.column[hits&mask] = v, u
			hits += hit
			at++
			x.vertex[kept&mask], x.at[kept&mask], x.end[kept&mask] = v, at, end
			kept += less(at, end) &^ hit
		}
	}
	for k, v := range x.hit[:hits] {
		bit := uint32(1) << (v & 31)
		seen[v>>5] |= bit
		fresh[v>>5] |= bit
		above[v] = p.label[x.column[k]]
	}
	return edges
}

// less returns 1 if a < b and 0 otherwise.
func less(a, b uint32) int { return int((uint64(a) - uint64(b)) >> 63) }

// among returns those bits k of which for which column[k] is in the frontier.
func among(front bitmap, column []Column, which uint32) (hit uint32) {
	for ; which != 0; which &= which - 1 {
		k := bits.TrailingZeros32(which) & 31
		u := column[k]
		hit |= front[u>>5] >> (u & 31) & 1 << k
	}
	return hit
}
