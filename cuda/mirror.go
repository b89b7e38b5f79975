package cuda

import "github.com/tepsbench/teps/cuda/driver"

// Structures and constants that host and device share. The structures have the fields of their counterparts in
// kernels/graph.cuh and kernels/search.cuh, in the same order and with the same sizes; a test compares the sources,
// and openGPU compares the sizes with those of the kernels that were compiled.

// deviceGraph is struct Graph: the arrays of the graph and of the search, as device addresses.
type deviceGraph struct {
	Rank, Ranks, Columns, Column                     uint64
	Labels, Vertices, Searched, Ungrouped            uint64
	OwnHubs, Hubs                                    uint64
	Words, FrontierWords, AlignedWords               uint64
	AllLabels, AllSearched, Entries, AverageDegree   uint64
	QueueShift                                       uint64
	Offset, Target, SourceOffset, SourceTarget       uint64
	AlignedBegin, AlignedRows, Aligned               uint64
	FirstNeighbor, WordHub                           uint64
	GroupBegin, HubEdges, HubDegree, LeafBegin       uint64
	Label, Place, Vertex, OutputTemplate, HubReached uint64
	Unvisited                                        uint64
	Frontier                                         [3]uint64
	Corrections, Queue, EdgesBefore, Written         uint64
}

// deviceLevel is struct LevelRecord.
type deviceLevel struct {
	BottomUp, Frontier, Examined, Nanoseconds uint64
	Phase                                     [numPhases]uint64
	Bytes, Messages                           [2]uint64
}

// deviceStatus is struct Status.
type deviceStatus struct {
	Done, Lost, HostStep, Queued uint64
	Levels, Reached, Corrections uint64
	Setup, CopyWait, Correcting  uint64
	Level                        [launchLevels]deviceLevel
}

// searchParams is struct SearchParams.
type searchParams struct {
	Root                   uint64
	NewSearch, HostTopDown uint32
	MaxLevels              uint64
	Steps, Messages        uint64
	Alpha, Beta            float32
	Status, Parent, Length uint64
	MinReached             uint64
	Copies, Launch         uint64
	CachedVertices         uint64
}

// deviceExchange is struct Exchange.
type deviceExchange struct {
	Staged, Patience   uint64
	Frontier, Mailbox  [maxRanks]uint64
	Inbox, Found, List [maxRanks]uint64
}

const (
	maxRanks     = 16                    // MAX_RANKS: GPUs that search a graph together
	chunkWords   = 8                     // CHUNK_WORDS: words of consecutive vertices that have the same owner
	mailboxBytes = maxRanks * 2 * 10 * 8 // struct Mailbox

	maxRanges    = 4096           // MAX_RANGES: ranges of vertices that are counted separately before lists are sorted
	none         = 1<<32 - 1      // NONE: not a vertex, not a label
	launchLevels = 65536          // LEVELS: levels that one launch of the search runs
	blockThreads = driver.Threads // of a block of every kernel but search and prefix_sums
)
