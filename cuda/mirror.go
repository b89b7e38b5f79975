package cuda

// Structures and constants that host and device share. The structures have the fields of their counterparts in
// kernels/graph.cuh and kernels/search.cuh, in the same order and with the same sizes; a test compares the sources,
// and openGPU compares the sizes with those of the kernels that were compiled.

// deviceGraph is struct Graph: the arrays of the graph and of the search, as device addresses.
type deviceGraph struct {
	Labels, Vertices, Searched, Ungrouped, Hubs        uint64
	Words, AlignedWords, Entries, AverageDegree        uint64
	Offset, Target, AlignedBegin, AlignedRows, Aligned uint64
	FirstNeighbour, WordHub                            uint64
	GroupBegin, HubEdges, LeafBegin                    uint64
	Label, Vertex, OutputTemplate                      uint64
	Unvisited                                          uint64
	Frontier                                           [3]uint64
	Corrections, Queue, EdgesBefore, Written           uint64
}

// deviceLevel is struct LevelRecord.
type deviceLevel struct{ BottomUp, Frontier, Examined, Nanoseconds uint64 }

// deviceStatus is struct Status.
type deviceStatus struct {
	Done, HostStep, Queued, Levels uint64
	Reached, Corrections           uint64
	Setup, CopyWait, Correcting    uint64
	Level                          [launchLevels]deviceLevel
}

// searchParams is struct SearchParams.
type searchParams struct {
	Root                   uint64
	NewSearch, HostTopDown uint32
	MaxLevels, Steps       uint64
	Alpha, Beta            float32
	Status, Parent, Length uint64
	MinReached             uint64
	Copies, Launch         uint64
	CachedVertices         uint64
}

const (
	none         = 1<<32 - 1 // NONE: not a vertex, not a label
	launchLevels = 65536     // LEVELS: levels that one launch of the search runs
	queueShift   = 34        // QUEUE_SHIFT: the queue of a level has fewer than 1<<queueShift edges
	blockThreads = 256       // THREADS: threads of a block of every kernel but search and prefix_sums
	sumThreads   = 1024      // SUM_THREADS: threads of the block of prefix_sums
	sortKeys     = 16        // SORT_KEYS: keys that a thread sorts at a time
)
