// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// teamSearch is kernel 2 on several GPUs: each runs the kernel of a search on its own vertices, and the kernels send
// each other words of the next frontier and the counters of a level (kernels/exchange.cuh). When the clock stops, each
// GPU has the parents of its own labels, l % ranks == rank, at l / ranks.
type teamSearch struct {
	ranks    []*search
	link     *link // to other processes; nil: one has all GPUs
	number   int   // of the first rank
	grid     bool  // of several columns
	levels   []plugins.Level
	sums     []deviceLevel    // of each rank over all levels
	transfer string           // for the record
	patience time.Duration    // of a GPU that waits for another one
	parents  [][]graph.Vertex // of each rank of several, in pinned memory on their way to the host
}

const (
	gridLevels      = 4096    // levels of a launch on a grid of several columns, which has no sparse frontiers
	maxPhasedLevels = 1 << 12 // a search with more levels records no phases of them
)

// newSearch connects the GPUs: each gets the addresses of what the others write to.
func (t team) newSearch() (*teamSearch, error) {
	g := &t[0].graph
	s := &teamSearch{
		ranks: make([]*search, len(t)), parents: make([][]graph.Vertex, len(t)), sums: make([]deviceLevel, len(t)),
		grid: g.Columns > 1, transfer: "stores to the other GPUs' memory", patience: t[0].c.patience,
	}
	s.link, s.number = t[0].link, int(t[0].number)
	all, err := s.connect(t)
	if err != nil {
		return nil, err
	}
	err = t.do("exchange", func(r *rank) {
		at, err := r.device.Variable("exchange")
		if err == nil {
			err = driver.Write(at, all)
		}
		if r.Fail("exchange", err); r.Err != nil {
			return
		}
		one := r.builder.newSearch()
		one.params.MinReached = 0 // parents are always corrected
		if s.link != nil && s.link.carrier != nil {
			one.params.Messages = uint64(slices.Index(messages, "lists"))
		}
		if s.grid { // a level takes at least 30 µs, and the host should see a cancel within a second
			one.params.MaxLevels = min(one.params.MaxLevels, gridLevels)
		}
		i := slices.Index(t, r)
		if s.ranks[i] = one; len(t) > 1 {
			at := r.hostArray("parents on their way to the host", parentBytes(int64(r.graph.Labels)))
			if r.Err == nil {
				s.parents[i] = driver.HostSlice[graph.Vertex](r.Memory, at, int64(r.graph.Labels))
			}
		}
	})
	return s, err
}

// connect makes the arrays of the exchange.
func (s *teamSearch) connect(t team) (all deviceExchange, err error) {
	if s.link != nil {
		err = t.do("exchange", func(r *rank) {
			all, err = s.link.connect(r)
			r.Fail("", err)
		})
		s.transfer = s.link.transfer
		return all, err
	}
	g := &t[0].graph
	staged := t[0].c.Text("transfer") == "staged"
	if staged {
		s.transfer = "through pinned host memory, as set"
	}
	if why := t.connect(); why != nil && !staged {
		staged = true
		s.transfer = fmt.Sprintf("through pinned host memory, because %v", why)
	}
	all.Patience = uint64(s.patience)
	list := 2 * 4 * 32 * int64(g.FrontierWords)
	columns := int64(g.Columns)
	found := 4 * 32 * (columns - 1) * int64(g.Words)
	inbox := 2 * found / max(columns-1, 1) * columns
	if staged {
		all.Staged = 1
	}
	if err := t.do("exchange", func(r *rank) {
		i, array := r.number, r.Array
		if staged {
			array = r.hostArray
		}
		all.Mailbox[i] = array("messages", mailboxBytes)
		r.Fill(all.Mailbox[i], 0, mailboxBytes)
		all.Inbox[i] = array("vertices found by others", inbox)
		all.Found[i] = array("vertices found for others", found)
		if !staged {
			all.Frontier[i], all.List[i] = r.graph.Frontier[0], array("sparse frontiers", list)
		} else if i == 0 { // one for all
			all.Frontier[0], all.List[0] = array("frontiers", 2*4*int64(g.FrontierWords)), array("sparse frontiers", list)
		}
	}); err != nil {
		return all, err
	}
	for i := 1; staged && i < len(t); i++ {
		all.List[i] = all.List[0]
	}
	return all, nil
}

// connect lets the kernels of every GPU write to the memory of all others. It returns why a pair of GPUs cannot.
func (t team) connect() error {
	for _, r := range t {
		for _, other := range t {
			a, b := r.device, other.device
			if a.Number == b.Number {
				continue
			}
			can, err := cu.Device(a.Number).CanAccessPeer(cu.Device(b.Number))
			if err == nil && can != 0 {
				err = a.Do(func() error { return b.Context.EnablePeerAccess(0) })
				if errors.Is(err, cu.PeerAccessAlreadyEnabled) {
					err = nil
				}
			} else if err == nil {
				err = errors.New("CUDA offers no peer access between them")
			}
			if err != nil {
				return fmt.Errorf("GPU %d cannot write to the memory of GPU %d: %w", a.Number, b.Number, err)
			}
		}
	}
	return nil
}

// each calls f for every rank, with its GPU's context. It returns the first error.
func (s *teamSearch) each(f func(r *search) error) (err error) {
	for _, r := range s.ranks {
		e := cu.SetCurrentContext(r.device.Context)
		if e == nil {
			e = f(r)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("GPU %d: %w", r.device.Number, e)
		}
	}
	return err
}

// Wake lets the GPUs write to the memory of all others and meet, as their search will: links that sleep take 0.1 ms to
// wake up.
func (s *teamSearch) Wake() error {
	if err := s.each(func(r *search) error {
		r.params.Launch++ // the number that the messages carry
		return r.device.Launch(r.device.Stream, 1, blockThreads, wakeAllKernel(r.params.Launch))
	}); err != nil {
		return err
	}
	return s.wait(nil)
}

// Traverse launches the levels of all GPUs until the search is over.
func (s *teamSearch) Traverse(ctx context.Context, root graph.Vertex) error {
	for newSearch := true; ; newSearch = false {
		err := s.each(func(r *search) error {
			r.params.Root = uint64(root)
			return r.launchLevels(newSearch)
		})
		if err = s.wait(err); err != nil {
			return err
		}
		first := s.ranks[0]
		if newSearch {
			s.levels = s.levels[:0]
			clear(s.sums)
		}
		for _, r := range s.ranks {
			if lost := r.status.Lost; lost != 0 {
				return s.unanswered(lost-1, r)
			}
		}
		if first.status.Done != 0 {
			return nil
		}
		s.record()
		err = ctx.Err()
		if s.link != nil {
			err = agree(s.link, err)
		}
		if err != nil {
			return err
		}
	}
}

// unanswered is the error of a GPU that waited in vain for that of another rank.
func (s *teamSearch) unanswered(lost uint64, by *search) error {
	if s.link != nil {
		return fmt.Errorf("the GPU of rank %d did not answer that of rank %d within %v; check both with nvidia-smi", lost,
			s.number, s.patience)
	}
	return fmt.Errorf("GPU %d did not answer GPU %d within %v; check both with nvidia-smi",
		s.ranks[lost].device.Number, by.device.Number, s.patience)
}

// record appends the levels of the last launch.
func (s *teamSearch) record() {
	each := make([]*deviceLevel, len(s.ranks))
	for i := range s.ranks[0].status.Levels {
		for r, rank := range s.ranks {
			each[r] = &rank.status.Level[i]
			s.sums[r].add(each[r])
		}
		if len(s.levels) <= maxLevels {
			level := combined(each, s.grid)
			if s.number > 0 { // edges are those of all ranks, which the first process reports
				level.Edges = plugins.Count{}
			}
			s.levels = append(s.levels, level)
		}
	}
}

// Report describes the search. A search with more than maxLevels has no levels.
func (s *teamSearch) Report(graph.Vertex) (t plugins.Traversal) {
	s.record()
	outside := make([][]plugins.Phase, len(s.ranks))
	for r, rank := range s.ranks {
		outside[r] = []plugins.Phase{
			{Name: "clear", Elapsed: time.Duration(rank.status.Setup)},
			{Name: "output", Elapsed: time.Duration(rank.status.CopyWait + rank.status.Correcting)},
		}
		t.Ranks = append(t.Ranks, plugins.Rank{Phases: append(s.sums[r].phases(s.grid), outside[r]...)})
	}
	t.Phases = plugins.CombinePhases(outside)
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

// wait waits until all GPUs have ended their launch, and moves messages to other processes until then. It returns err
// if that is not nil. If a GPU fails, the others end when their patience does.
func (s *teamSearch) wait(err error) error {
	if s.link != nil && s.link.carrier != nil && err == nil {
		err = s.link.carrier.serve(func() (bool, error) {
			switch err := s.ranks[0].device.Stream.Query(); {
			case errors.Is(err, cu.NotReady):
				return false, nil
			default:
				return true, err
			}
		})
	}
	for _, r := range s.ranks {
		if e := r.device.Stream.Synchronize(); e != nil && err == nil {
			err = fmt.Errorf("GPU %d: %w", r.device.Number, e)
		}
	}
	return err
}

// Parents copies the parents of all GPUs to the host.
func (s *teamSearch) Parents(ctx context.Context, parent []graph.Vertex) error {
	if len(s.ranks) == 1 {
		return s.ranks[0].Parents(ctx, parent)
	}
	var wg sync.WaitGroup
	errs := make([]error, len(s.ranks))
	for i, r := range s.ranks {
		wg.Go(func() {
			errs[i] = r.device.Do(func() error { return driver.Read(s.parents[i], r.parents) })
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	share := len(parent)/runtime.GOMAXPROCS(0) + 1
	for from := 0; from < len(parent); from += share {
		wg.Go(func() {
			for l := from; l < min(from+share, len(parent)); l++ {
				parent[l] = s.parents[l%len(s.ranks)][l/len(s.ranks)]
			}
		})
	}
	wg.Wait()
	return nil
}

// Close frees the graph of all GPUs.
func (s *teamSearch) Close() (err error) {
	if s.link != nil {
		err = s.ranks[0].device.Do(s.link.close)
	}
	for _, r := range s.ranks {
		err = errors.Join(err, r.Close())
	}
	return err
}

// facts describes the graph for the record.
func (s *teamSearch) facts(t team) (all []plugins.Fact) {
	listed := map[string]bool{}
	for _, r := range t {
		if !listed[r.device.UUID] {
			listed[r.device.UUID] = true
			all = append(all, plugins.Fact{Name: plugins.DeviceUUID, Value: r.device.UUID})
		}
	}
	all = append(all,
		plugins.Fact{Name: "GPUs", Value: t[0].c.describe()},
		plugins.Fact{Name: "partition", Value: t[0].c.partition()},
		plugins.Fact{Name: "transfer", Value: s.transfer},
		plugins.Fact{Name: "vertices with neighbor lists", Value: fmt.Sprint(t[0].graph.AllSearched)},
		plugins.Fact{Name: "parents", Value: "in the memory of their owner, label modulo ranks, 64 bits each in original " +
			"labels, when the clock stops; copied to the host afterwards"},
		plugins.Fact{Name: "before the clock", Value: "a kernel wakes every device and its links with zeros; " +
			"it knows neither root nor graph"},
		plugins.Fact{Name: "output template", Value: template})
	for _, r := range t {
		name := fmt.Sprintf("bytes on rank %d", r.number)
		all = append(all, plugins.Fact{Name: name, Value: fmt.Sprint(r.Memory.Used)})
		all = append(all, r.notes...)
	}
	return all
}

// describe names the GPUs for the record.
func (c configuration) describe() string {
	if n := c.Int("ranks"); n > 0 {
		return fmt.Sprintf("%d processes under MPI, a GPU each", n)
	}
	return fmt.Sprint(c.devices)
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
