package harness

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// What surrounds one search, outside every clock: the parent array is spoilt before it, its time is held against the
// host's clock after it, and what the engine says of its levels is kept.

// handOver is how long moving so many bytes between the host and an engine's device may take, generously.
func handOver(bytes int64) time.Duration {
	const slowest = 1 << 30 // bytes a second
	return time.Duration(float64(bytes) / slowest * float64(time.Second))
}

// hiccup is a delay that a busy machine may put into any call.
const hiccup = time.Second

// honest refuses a time that cannot be true: none at all, longer than the call, or so short that the rest of the call
// can be neither a hiccup of the machine nor the moving of the call's bytes. One call cannot tell more; over all calls
// of a run, the compliance statement compares the clocks closely.
func honest(what string, elapsed, wall time.Duration, bytes int64) error {
	if elapsed > 0 && elapsed < wall/4 && wall-elapsed > hiccup+handOver(bytes) {
		return fmt.Errorf("the engine reports %v for %s, and the whole call lasted %v on the host's clock, which moving %d bytes does not explain; its clock cannot be trusted", elapsed, what, wall, bytes)
	}
	return possible(what, elapsed, wall)
}

// possible refuses no time at all, and one longer than the call. It is all that can be said where an engine works before its clock
// starts, as one does whose ranks generate the tuples from the recipe; such a run is not called compliant.
func possible(what string, elapsed, wall time.Duration) error {
	switch {
	case elapsed <= 0:
		return fmt.Errorf("the engine reports %v for %s, which is no time at all; its clock cannot be trusted", elapsed, what)
	case elapsed > wall:
		return fmt.Errorf("the engine reports %v for %s, and the whole call lasted %v on the host's clock; its clock cannot be trusted", elapsed, what, wall)
	}
	return nil
}

// spoil fills a parent array with Unwritten.
func spoil(parents []graph.Vertex) {
	var wg sync.WaitGroup
	share := len(parents)/runtime.GOMAXPROCS(0) + 1
	for part := range slices.Chunk(parents, share) {
		wg.Go(func() {
			for i := range part {
				part[i] = graph.Unwritten
			}
		})
	}
	wg.Wait()
}

// keep copies what an engine says of a search, which it may reuse.
func keep(t plugins.Traversal) (levels []plugins.Level, phases []plugins.Phase, ranks []plugins.Rank) {
	levels, phases, ranks = slices.Clone(t.Levels), slices.Clone(t.Phases), slices.Clone(t.Ranks)
	for i := range levels {
		levels[i].Phases = slices.Clone(levels[i].Phases)
	}
	for i := range ranks {
		ranks[i].Phases = slices.Clone(ranks[i].Phases)
	}
	return levels, phases, ranks
}
