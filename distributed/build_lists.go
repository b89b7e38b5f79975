package distributed

// Lists: entries come in any order, as pairs of slots. Two counting sorts make lists of them. The first is by column, in
// the order of hubs; it gives the lists of the columns. The second goes through the columns in that order and appends
// each to its rows, so the lists of rows come out sorted, hubs first, with duplicates side by side.

// lists makes the lists of the rank's rows, and, if wanted, keeps those of its columns.
func (b *builder) lists(keepDown bool) error {
	row, keys := b.translations()
	byColumn := b.sortByColumn(row, keys)
	if err := b.ctx.Err(); err != nil {
		return err // what was sorted is not whole
	}
	b.came = nil
	counts := make([]uint32, b.rows+1)
	for slot, n := range b.slots {
		if n != 0 {
			counts[row[slot]] = n
		}
	}
	b.slots = nil
	b.up = b.sortByRow(byColumn, counts)
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if keepDown {
		b.down = byColumn
	}
	b.describeRows()
	return nil
}

// translations returns the row of every row slot and the key of every column slot, which other ranks have numbered.
func (b *builder) translations() (row []Row, keys []key) {
	share := int(b.partition.Share)
	blocks := make([][]uint32, b.grid.C)
	numbers := make([]uint32, share)
	for slot, own := range b.number {
		numbers[slot] = uint32(own)
	}
	b.row.Allgatherv(numbers, blocks)
	row = make([]Row, b.grid.C*share)
	for m, numbers := range blocks {
		for slot, own := range numbers {
			row[m*share+slot] = Row(m*b.width) + Row(own) // nonsense for isolated ones, which no entry names
		}
	}
	blocks = make([][]uint32, b.grid.R)
	b.column.Allgatherv(numbers, blocks)
	keys = make([]key, b.grid.R*share)
	for block, numbers := range blocks {
		for slot, own := range numbers {
			keys[block*share+slot] = b.key(block, Own(own))
		}
	}
	return row, keys
}

// sortByColumn translates the entries and returns the rows of every column, by key.
func (b *builder) sortByColumn(row []Row, keys []key) lists[Row] {
	at := make([]uint32, b.columns+1)
	total := 0
	for _, entries := range b.came {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			at[keys[entries[k+1]]]++
		}
		total += len(entries) / 2
	}
	toEnds(at)
	targets := make([]Row, total)
	for _, entries := range b.came {
		if b.ctx.Err() != nil {
			break
		}
		for k := 0; k+1 < len(entries); k += 2 {
			column := keys[entries[k+1]]
			at[column]--
			targets[at[column]] = row[entries[k]]
		}
	}
	return lists[Row]{at, targets}
}

// toEnds makes of counts the places at which lists of these lengths end.
func toEnds(counts []uint32) {
	var end uint32
	for k, n := range counts {
		end += n
		counts[k] = end
	}
}

// sortByRow returns the columns of every row. counts says how many entries each row has, and is overwritten.
func (b *builder) sortByRow(byColumn lists[Row], counts []uint32) lists[Column] {
	begin := make([]uint32, len(counts))
	var sum uint32
	for v, n := range counts {
		begin[v] = sum
		sum += n
	}
	targets, next := make([]Column, len(byColumn.targets)), counts
	copy(next, begin)
	k := 0
	for own := range b.width {
		if own&(1<<12-1) == 0 && b.ctx.Err() != nil {
			break
		}
		for block := range b.grid.R {
			column := Column(block*b.width + own)
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
	// Close the gaps that duplicates have left.
	var to uint32
	for v := range b.rows {
		n := copy(targets[to:], targets[begin[v]:next[v]])
		begin[v] = to
		to += uint32(n)
	}
	begin[b.rows] = to
	return lists[Column]{begin, append(make([]Column, 0, to), targets[:to]...)}
}

// describeRows notes what searches ask for most.
func (b *builder) describeRows() {
	b.filled = make(bitmap, b.rows/32)
	b.part.first = make([]Column, b.rows)
	b.template = make([]uint32, b.rows)
	for v := range b.rows {
		if at := b.up.at[v]; at < b.up.at[v+1] {
			b.filled[v>>5] |= 1 << (v & 31)
			b.part.first[v] = b.up.targets[at]
			b.template[v] = b.label[b.up.targets[at]]
		}
	}
}

// bytes is what the part takes.
func (p *part) bytes() int64 {
	n := len(p.number) + len(p.degree) + len(p.label) + len(p.filled) + len(p.first) + len(p.template) +
		len(p.up.at) + len(p.up.targets) + len(p.down.at) + len(p.down.targets)
	return 4 * int64(n)
}
