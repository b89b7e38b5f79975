package distributed

import "math/bits"

// The two local steps that a rank spends its time in. Both work on bitmaps and on the lists of the part; neither knows of
// messages, ranks or grids.

// scanDown is the top-down step: every row in the lists of u that has not been seen is fresh, and u, with this label, is
// the vertex above it. Rows stand in rows as numbers of seen.
func scanDown(rows []uint32, label uint32, seen, fresh bitmap, above []uint32) {
	for _, v := range rows {
		bit := uint32(1) << (v & 31)
		if seen[v>>5]&bit == 0 {
			seen[v>>5] |= bit
			fresh[v>>5] |= bit
			above[v] = label
		}
	}
}

// scanUp is the bottom-up step over the rows of the part: an unseen row that has an entry in a column of the frontier is
// fresh, and the first such column is above it. seen, fresh and above begin at the part's rows. It returns the number of
// entries that it looked at.
//
// above holds every row's first column already (template), which is where most rows end; it is written only for others.
func (p *part) scanUp(front, seen, fresh bitmap, above []uint32) (edges int64) {
	for w, filled := range p.filled {
		left := filled &^ seen[w]
		if left == 0 {
			continue
		}
		edges += int64(bits.OnesCount32(left))
		hit := among(front, p.first[w<<5:], left)
		fresh[w] = hit
		for left &^= hit; left != 0; left &= left - 1 {
			v := w<<5 + bits.TrailingZeros32(left)
			begin, end := p.up.at[v]+1, p.up.at[v+1]
			for k, u := range p.up.targets[begin:end] {
				if front[u>>5]>>(u&31)&1 != 0 {
					fresh[w] |= left & -left
					above[v] = p.label[u]
					end = begin + uint32(k) + 1
					break
				}
			}
			edges += int64(end - begin)
		}
		seen[w] |= fresh[w]
	}
	return edges
}

// among returns those bits k of which for which column[k] is in the frontier.
func among(front bitmap, column []uint32, which uint32) (hit uint32) {
	for ; which != 0; which &= which - 1 {
		k := bits.TrailingZeros32(which) & 31
		u := column[k]
		hit |= front[u>>5] >> (u & 31) & 1 << k
	}
	return hit
}
