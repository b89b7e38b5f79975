// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// rankSearch is kernel 2 on one of several GPUs: each runs the kernel of a search on its own vertices, and the kernels
// send each other words of the next frontier and the counters of a level (kernels/exchange.cuh). When the clock stops,
// each GPU has the parents of its own labels, l % ranks == rank, at l / ranks.
type rankSearch struct {
	*search
	link *link
	grid bool        // of several columns
	sum  deviceLevel // over all levels
}

const (
	gridLevels      = 4096    // levels of a launch on a grid of several columns, which has no sparse frontiers
	maxPhasedLevels = 1 << 12 // a search with more levels records no phases of them
)

var patience = 10 * time.Second // of a GPU that waits for another one; their shares of a level differ far less

// newRankSearch gives the GPU the addresses of what it writes to.
func (r *rank) newRankSearch() (s *rankSearch, err error) {
	s = &rankSearch{link: r.link, grid: r.graph.Columns > 1}
	var all deviceExchange
	if err := r.do("exchange", func() {
		all, err = r.link.connect(r)
		r.Fail("", err)
	}); err != nil {
		return nil, err
	}
	return s, r.do("exchange", func() {
		at, err := r.device.Variable("exchange")
		if err == nil {
			err = driver.Write(at, all)
		}
		if r.Fail("exchange", err); r.Err != nil {
			return
		}
		s.search = r.builder.newSearch()
		s.params.MinReached = 0 // parents are always corrected
		if r.link.carrier != nil {
			s.params.Messages = uint64(slices.Index(messages, "lists"))
		}
		if s.grid { // a level takes at least 30 µs, and the host should see a cancel within a second
			s.params.MaxLevels = min(s.params.MaxLevels, gridLevels)
		}
	})
}

// Wake lets the GPU write to the memory of all others and meet them, as its search will: links that sleep take 0.1 ms
// to wake up.
func (s *rankSearch) Wake() error {
	s.params.Launch++ // the number that the messages carry
	return s.wait(s.device.Launch(s.device.Stream, 1, blockThreads, wakeAllKernel(s.params.Launch)))
}

// Traverse launches the levels of this GPU until the search is over.
func (s *rankSearch) Traverse(ctx context.Context, root graph.Vertex) error {
	s.params.Root = uint64(root)
	for newSearch := true; ; newSearch = false {
		if err := s.wait(s.launchLevels(newSearch)); err != nil {
			return err
		}
		if newSearch {
			s.levels, s.sum = s.levels[:0], deviceLevel{}
		}
		if lost := s.status.Lost; lost != 0 {
			return fmt.Errorf("the GPU of rank %d did not answer that of rank %d within %v; check both with nvidia-smi",
				lost-1, s.link.Rank(), patience)
		}
		if s.status.Done != 0 {
			return nil
		}
		s.record()
		if err := agree(s.link, ctx.Err()); err != nil {
			return err
		}
	}
}

// record appends the levels of the last launch.
func (s *rankSearch) record() {
	for i := range s.status.Levels {
		l := &s.status.Level[i]
		s.sum.add(l)
		if len(s.levels) <= maxLevels {
			level := l.ofRank(s.grid)
			if s.link.Rank() > 0 { // edges are those of all ranks, which the first one reports
				level.Edges = plugins.Count{}
			}
			s.levels = append(s.levels, level)
		}
	}
}

// Report describes the search. A search with more than maxLevels has no levels.
func (s *rankSearch) Report(graph.Vertex) (t plugins.Traversal) {
	s.record()
	t.Phases = []plugins.Phase{
		{Name: "clear", Elapsed: time.Duration(s.status.Setup)},
		{Name: "output", Elapsed: time.Duration(s.status.CopyWait + s.status.Correcting)},
	}
	t.Ranks = []plugins.Rank{{Phases: append(s.sum.phases(s.grid), t.Phases...)}}
	if len(s.levels) <= maxLevels {
		t.Levels = s.levels
	}
	for i := range t.Levels {
		if len(t.Levels) > maxPhasedLevels {
			t.Levels[i].Phases = nil
		}
	}
	return t
}

// wait waits until the GPU has ended its launch, and moves messages to other processes until then. It returns err if
// that is not nil. If a GPU fails, the others end when their patience does.
func (s *rankSearch) wait(err error) error {
	if s.link.carrier != nil && err == nil {
		err = s.link.carrier.serve(func() (bool, error) {
			err := s.device.Stream.Query()
			if errors.Is(err, cu.NotReady) {
				return false, nil
			}
			return true, err
		})
	}
	if e := s.device.Stream.Synchronize(); err == nil {
		err = e
	}
	return err
}

// repeat is Built.Repeat; the clock of rank 0 ends it.
func (s *rankSearch) repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	searches int64, err error) {
	err = s.device.Do(func() error {
		if err := s.Wake(); err != nil {
			return err
		}
		for start := time.Now(); ; searches++ {
			if over, err := s.link.over(ctx, start, duration); err != nil {
				return err
			} else if over {
				return s.CopyTo(ctx, out)
			}
			if err := s.Traverse(ctx, roots[searches%int64(len(roots))]); err != nil {
				return err
			}
		}
	})
	return searches, err
}

// Close frees the graph of this GPU when no other one can reach it any longer.
func (s *rankSearch) Close() error {
	return errors.Join(s.device.Do(s.link.close), s.search.Close())
}

// facts describes the graph for the record.
func (s *rankSearch) facts(r *rank) []plugins.Fact {
	return append([]plugins.Fact{
		{Name: plugins.DeviceUUID, Value: r.device.UUID},
		{Name: "GPUs", Value: fmt.Sprintf("%d processes under MPI, a GPU each", r.c.ranks)},
		{Name: "partition", Value: r.c.partition()},
		{Name: "transfer", Value: s.link.transfer},
		{Name: "vertices with neighbor lists", Value: fmt.Sprint(r.graph.AllSearched)},
		{Name: "parents", Value: "in the memory of their owner, label modulo ranks, 64 bits each in original labels, when " +
			"the clock stops; copied to the host afterwards"},
		{Name: "before the clock", Value: "a kernel wakes every device and its links with zeros; " +
			"it knows neither root nor graph"},
		{Name: "output template", Value: template},
		{Name: fmt.Sprintf("bytes on rank %d", r.number), Value: fmt.Sprint(r.Memory.Used)},
	}, r.notes...)
}

// partition describes the grid of several GPUs for the record.
func (c configuration) partition() string {
	ranks := c.ranks
	switch c.rows {
	case ranks:
		return "1D, edges by destination; every GPU gets every frontier"
	case 1:
		return "1D, edges by source; top-down steps send discovered vertices to their owners"
	}
	return fmt.Sprintf("2D, grid of %dx%d; bottom-up steps as in 1D", c.rows, ranks/c.rows)
}
