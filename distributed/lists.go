package distributed

import "context"

// sortByColumn translates entries, pairs of a row slot and a column slot, and returns the rows of every column by list
// index. The result is incomplete if ctx has ended.
func sortByColumn(ctx context.Context, messages [][]uint32, row []Row, index []listIndex, columns int) lists[Row] {
	at := make([]uint32, columns+1)
	total := 0
	for _, entries := range messages {
		if ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			at[index[entries[k+1]]]++
		}
		total += len(entries) / 2
	}
	var end uint32
	for k, n := range at { // from lengths of lists to their ends
		end += n
		at[k] = end
	}
	targets := make([]Row, total)
	for _, entries := range messages {
		if ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			column := index[entries[k+1]]
			at[column]--
			targets[at[column]] = row[entries[k]]
		}
	}
	return lists[Row]{at, targets}
}

// sortByRow returns the columns of every row, in the order of list indexes and without duplicates. counts[v] is the
// number of entries of row v, with one more element at the end; it is overwritten. The columns have the given number of
// blocks and width. The result is incomplete if ctx has ended.
func sortByRow(ctx context.Context, byColumn lists[Row], counts []uint32, blocks, width int) lists[Column] {
	begin := make([]uint32, len(counts))
	var sum uint32
	for v, n := range counts {
		begin[v] = sum
		sum += n
	}
	targets, next := make([]Column, len(byColumn.targets)), counts
	copy(next, begin)
	k := 0
	for local := range width {
		if local&(1<<12-1) == 0 && ctx.Err() != nil {
			break
		}
		for block := range blocks {
			column := Column(block*width + local)
			for _, v := range byColumn.of(k) {
				place := next[v]
				if place > begin[v] && targets[place-1] == column {
					continue // a duplicate
				}
				targets[place] = column
				next[v] = place + 1
			}
			k++
		}
	}
	// Close the gaps left by duplicates.
	var to uint32
	rows := len(counts) - 1
	for v := range rows {
		n := copy(targets[to:], targets[begin[v]:next[v]])
		begin[v] = to
		to += uint32(n)
	}
	begin[rows] = to
	return lists[Column]{begin, append(make([]Column, 0, to), targets[:to]...)}
}
