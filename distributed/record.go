package distributed

import "time"

// What a rank measures of a search: the time, bytes and messages of every phase of every level. Only what leaves the rank
// counts; every message counts, an empty one with its header as well. Reductions are timed, and not counted as messages,
// because each is a handful of numbers that the communication layer passes on as it likes.

// Phase is a part of a level, or of a search outside its levels.
type Phase int

const (
	Expand       Phase = iota // the frontier goes to those who have its columns
	Scan                      // local edges are looked at
	Fold                      // what was found goes to its owners
	Update                    // owners take what is new to them
	Reduce                    // all ranks add up what they found
	levelPhases               // number of phases of a level
	Clear        = levelPhases
	Predecessors = levelPhases + 1 // late predecessors are fetched
	Output       = levelPhases + 2 // parents are written in original labels
	phases       = levelPhases + 3
)

var phaseNames = [phases]string{"expand", "scan", "fold", "update", "reduce", "clear", "predecessors", "output"}

func (p Phase) String() string { return phaseNames[p] }

// Measure is what a phase took on one rank.
type Measure struct {
	Elapsed  time.Duration
	Bytes    int64 // sent to other ranks
	Messages int64 // sent to other ranks
}

func (m *Measure) add(other Measure) {
	m.Elapsed += other.Elapsed
	m.Bytes += other.Bytes
	m.Messages += other.Messages
}

// LevelRecord is one level on one rank.
type LevelRecord struct {
	BottomUp bool
	Frontier int64 // vertices expanded, over all ranks
	Edges    int64 // entries looked at by this rank
	Phases   [levelPhases]Measure
}

// SearchRecord is one search on one rank.
type SearchRecord struct {
	Elapsed time.Duration
	Levels  []LevelRecord                 // the first mostLevels
	Deeper  LevelRecord                   // all further ones together
	Beside  [phases - levelPhases]Measure // Clear, Predecessors, Output
}

// mostLevels is how many levels are recorded one by one. A path has as many levels as vertices, and records of all would take more memory
// than its graph.
const mostLevels = 1 << 12

// next returns the record of the level that begins.
func (s *SearchRecord) next() *LevelRecord {
	if len(s.Levels) == mostLevels {
		return &s.Deeper
	}
	s.Levels = append(s.Levels, LevelRecord{})
	return &s.Levels[len(s.Levels)-1]
}

// stopwatch gives the time between its calls to one phase after the other.
type stopwatch struct{ last time.Time }

func (s *stopwatch) lap(m *Measure) {
	now := time.Now()
	m.Elapsed += now.Sub(s.last)
	s.last = now
}

// sent notes messages that go to every member of a group but the caller.
func (m *Measure) sent(messages [][]uint32, self int) {
	for k, message := range messages {
		if k != self {
			m.Messages++
			m.Bytes += 4 * int64(len(message))
		}
	}
}

// sentToAll notes one message that goes to every member of a group but the caller.
func (m *Measure) sentToAll(message []uint32, members int) {
	m.Messages += int64(members - 1)
	m.Bytes += 4 * int64(len(message)) * int64(members-1)
}
