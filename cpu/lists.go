package cpu

// lists are the neighbour lists of the searched vertices, each in ascending order, so hubs first. They come in two
// layouts with the same order of entries:
//
//	csr     every neighbour in 32 bits
//	packed  neighbours below 2^16 in 16 bits (near), the others in as many bits as the graph needs (far; packed.go)
//
// The second to fourth neighbour of every vertex stand in columns of their own as well, because a bottom-up level asks
// for them most. Entry i of a list is its i-th smallest neighbour in both. Nothing calls through an interface for an
// entry: the innermost loops exist for 16 bits, 32 bits and fields (topdown.go, candidates.go).
type lists struct {
	packed  bool
	targets []uint32 // csr
	at      offsets  // of targets

	near   []uint16 // packed: the first entries of every list
	nearAt offsets
	far    fields // packed: the last entries
	farAt  offsets

	columns [columns]column
}

// columns is how many entries of every list, from the second on, stand in columns.
const columns = 3

// column k holds entry k+1 of every list.
type column struct {
	entry []uint32 // the vertex itself where the list is shorter
	more  bitmap   // vertices whose lists go on behind this entry
}

// pieceSize is the largest piece of a list that a top-down step works on at a time.
const pieceSize = 512

// degree returns the length of the list of v.
func (l *lists) degree(v uint32) int {
	if !l.packed {
		return int(l.at.get(v+1) - l.at.get(v))
	}
	return int(l.nearAt.get(v+1) - l.nearAt.get(v) + l.farAt.get(v+1) - l.farAt.get(v))
}

// entry returns entry i of the list of v.
func (l *lists) entry(v uint32, i int) uint32 {
	if !l.packed {
		return l.targets[l.at.get(v)+uint64(i)]
	}
	begin, end := l.nearAt.get(v), l.nearAt.get(v+1)
	if near := int(end - begin); i >= near {
		return l.far.get(l.farAt.get(v) + uint64(i-near))
	}
	return uint32(l.near[begin+uint64(i)])
}

// plain returns entries [from, to) of the list of u in the plain layout.
func (l *lists) plain(u uint32, from, to int) []uint32 {
	at := l.at.get(u)
	return l.targets[at+uint64(from) : at+uint64(to)]
}

// split returns the near ones among entries [from, to) of the list of u in the packed layout, and where in far the others begin.
func (l *lists) split(u uint32, from, to int) (near []uint16, far uint64) {
	begin, end := l.nearAt.get(u), l.nearAt.get(u+1)
	length := int(end - begin)
	low, high := min(from, length), min(to, length)
	return l.near[begin+uint64(low) : begin+uint64(high)], l.farAt.get(u) + uint64(max(from-length, 0))
}

// touch reads a word of each cache line of entries [from, to) of the list of u, and returns something made of them.
func (l *lists) touch(u uint32, from, to int) (sum uint32) {
	const line = 64
	if from >= to {
		return 0
	}
	if !l.packed {
		list := l.plain(u, from, to)
		for i := 0; i < len(list); i += line / 4 {
			sum += list[i]
		}
		return sum
	}
	near, far := l.split(u, from, to)
	for i := 0; i < len(near); i += line / 2 {
		sum += uint32(near[i])
	}
	first := far * l.far.width >> 6
	last := (far + uint64(to-from-len(near))) * l.far.width >> 6
	for ; first < last; first += line / 8 {
		sum += uint32(l.far.words[first])
	}
	return sum
}

// entries returns the length of all lists together.
func (l *lists) entries() int { return len(l.targets) + len(l.near) + l.far.length }

// bytes returns the size of all lists with their offsets, and of the columns beside them.
func (l *lists) bytes() (inLists, inColumns int64) {
	at := func(o *offsets) int { return 4*len(o.low) + 8*len(o.base) }
	inLists = int64(4*len(l.targets) + 2*len(l.near) + 8*len(l.far.words) + at(&l.at) + at(&l.nearAt) + at(&l.farAt))
	for _, c := range l.columns {
		inColumns += int64(4*len(c.entry) + 8*len(c.more))
	}
	return inLists, inColumns
}

// offsets are where lists begin: list v is at get(v) ... get(v+1)-1. They take 32 bits each and 64 more for every
// offsetBlock of them, so that there may be more than 2^32 entries.
type offsets struct {
	low  []uint32
	base []uint64
}

const (
	offsetBits  = 12
	offsetBlock = 1 << offsetBits
)

func (o *offsets) allocate(m *memory, what string, lists int) (err error) {
	if o.low, err = allocate[uint32](m, what, lists+1); err != nil {
		return err
	}
	o.base, err = allocate[uint64](m, what, (lists+1+offsetBlock-1)>>offsetBits)
	return err
}

func (o *offsets) get(v uint32) uint64 { return o.base[v>>offsetBits] + uint64(o.low[v]) }

// set says where list v begins. The base of its block must have been set.
func (o *offsets) set(v uint32, at uint64) { o.low[v] = uint32(at - o.base[v>>offsetBits]) }
