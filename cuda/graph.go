package cuda

// What host and device both know. The structures have the fields of their twins in kernels/graph.cuh, in the same order and
// 8 bytes each; a test compares the two files.

// deviceGraph is struct Graph: what kernel 1 made and the search's arrays, as device addresses.
type deviceGraph struct {
	Labels       uint64
	Vertices     uint64
	Searched     uint64
	Strays       uint64
	Hubs         uint64
	Words        uint64
	AlignedWords uint64
	Entries      uint64
	Average      uint64
	Offset       uint64
	Target       uint64
	AlignedAt    uint64
	AlignedRows  uint64
	Aligned      uint64
	First        uint64
	WordHub      uint64
	GroupAt      uint64
	Linked       uint64
	LeafAt       uint64
	Original     uint64
	Vertex       uint64
	Output       uint64
	Unvisited    uint64
	Frontier     [3]uint64
	Finds        uint64
	Queue        uint64
	Before       uint64
	Written      uint64
}

// recorded is LEVELS: levels that one launch of the search records.
const recorded = 256

// deviceLevel is struct Level.
type deviceLevel struct {
	BottomUp    uint64
	Frontier    uint64
	Looked      uint64
	Nanoseconds uint64
}

// deviceStatus is struct Status.
type deviceStatus struct {
	Done      uint64
	Expand    uint64
	Queued    uint64
	Levels    uint64
	Reached   uint64
	Finds     uint64
	Prepared  uint64
	Waited    uint64
	Corrected uint64
	Level     [recorded]deviceLevel
}

const (
	none       = 1<<32 - 1 // no vertex, no label, in 32 bits
	queueShift = 34        // as QUEUE_SHIFT: a top-down level has fewer links than 1<<queueShift, and so has a graph entries

	flagFresh       = 1 // as FRESH: a new search
	flagHostExpands = 2 // as HOST_EXPANDS: stop before top-down steps
)

const (
	blockThreads = 256 // as THREADS in tuning.cuh
	sortKeys     = 16  // as SORT_KEYS
)
