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
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// rankSearch is kernel 2 on one of several GPUs: each runs the kernel of a search on its own vertices, and the kernels
// send each other words of the next frontier and the counters of a level (kernels/exchange.cuh). When the clock stops,
// each GPU has the parents of its own labels, l % ranks == rank, at l / ranks.
type rankSearch struct {
	*search
	link    *team.Link
	carrier *carrier   // of the messages of a search; nil if GPUs open the memory of others
	grid    bool       // of several columns
	sum     team.Spent // over all levels
}

const gridLevels = 4096 // levels of a launch on a grid of several columns, which has no sparse frontiers

var patience = 10 * time.Second // of a GPU that waits for another one; their shares of a level differ far less

// newRankSearch gives the GPU the addresses of what it writes to.
func (r *rank) newRankSearch() (s *rankSearch, err error) {
	s = &rankSearch{link: r.link, grid: r.graph.Columns > 1}
	var all deviceExchange
	if err := r.step("exchange", func() {
		all, s.carrier, err = r.connect()
		r.Fail("", err)
	}); err != nil {
		return nil, err
	}
	return s, r.step("exchange", func() {
		at, err := r.device.Variable("exchange")
		if err == nil {
			err = driver.Write(at, all)
		}
		if r.Fail("exchange", err); r.Err != nil {
			return
		}
		s.search = r.builder.newSearch()
		s.params.MinReached = 0 // parents are always corrected
		if s.carrier != nil {
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
			s.levels, s.sum = s.levels[:0], team.Spent{}
		}
		if lost := s.status.Lost; lost != 0 {
			return fmt.Errorf("the GPU of rank %d did not answer that of rank %d within %v; check both with nvidia-smi",
				lost-1, s.link.Rank(), patience)
		}
		if s.status.Done != 0 {
			return nil
		}
		s.record()
		if err := team.Agree(s.link, ctx.Err()); err != nil {
			return err
		}
	}
}

// record appends the levels of the last launch.
func (s *rankSearch) record() {
	for i := range s.status.Levels {
		l := &s.status.Level[i]
		spent := l.spent()
		s.sum.Add(spent)
		if len(s.levels) <= maxLevels {
			level := l.level()
			spent.Describe(&level, s.grid)
			if s.link.Rank() > 0 { // edges are those of all ranks, which the first one reports
				level.Edges = plugins.Count{}
			}
			s.levels = append(s.levels, level)
		}
	}
}

// spent returns what one of several GPUs has spent on a level. Times go from the last barrier to the arrival of its
// last block at the next one. Vertices sent one by one leave in "scan" or "update", and are counted in "fold" or
// "expand".
func (l *deviceLevel) spent() *team.Spent {
	return &team.Spent{Phase: l.Phase, Bytes: l.Bytes, Messages: l.Messages}
}

// Report describes the search. A search with more than maxLevels has no levels.
func (s *rankSearch) Report(graph.Vertex) (t plugins.Traversal) {
	s.record()
	t.Phases = []plugins.Phase{
		{Name: "clear", Elapsed: time.Duration(s.status.Setup)},
		{Name: "output", Elapsed: time.Duration(s.status.CopyWait + s.status.Correcting)},
	}
	t.Ranks = []plugins.Rank{{Phases: append(s.sum.Phases(s.grid), t.Phases...)}}
	if len(s.levels) <= maxLevels {
		t.Levels = s.levels
	}
	team.LimitPhases(t.Levels)
	return t
}

// wait waits until the GPU has ended its launch, and moves messages to other processes until then. It returns err if
// that is not nil. If a GPU fails, the others end when their patience does.
func (s *rankSearch) wait(err error) error {
	if s.carrier != nil && err == nil {
		err = s.carrier.serve(func() (bool, error) {
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

// facts describes the graph for the record.
func (s *rankSearch) facts(r *rank) []plugins.Fact {
	return slices.Concat(s.link.Facts(r.c.Partition()), []plugins.Fact{
		{Name: "vertices with neighbor lists", Value: fmt.Sprint(r.graph.AllSearched)},
		{Name: "before the clock", Value: "a kernel wakes every device and its links with zeros; " +
			"it knows neither root nor graph"},
		{Name: "output template", Value: template},
		{Name: fmt.Sprintf("bytes on rank %d", r.number), Value: fmt.Sprint(r.Memory.Used)},
	}, r.notes)
}

// connect makes the arrays of the exchange, and lets the kernels of this process reach them or those of the others.
func (r *rank) connect() (all deviceExchange, c *carrier, err error) {
	g, l := &r.graph, r.link
	all.Patience = uint64(patience)
	block := 32 * int64(g.Words)
	list, inbox := 2*4*32*int64(g.FrontierWords), 8*int64(g.Columns)*block
	found := 4 * max(int64(g.Columns)-1, 1) * block
	if !l.Staged {
		mailbox := r.Array("messages", team.Exported(mailboxBytes))
		r.Fill(mailbox, 0, mailboxBytes)
		for _, array := range []struct {
			all *[maxRanks]uint64
			own uint64
		}{
			{&all.Mailbox, mailbox}, {&all.Frontier, g.Frontier[0]},
			{&all.Inbox, r.Array("vertices found by others", team.Exported(inbox))},
			{&all.Found, r.Array("vertices found for others", team.Exported(found))},
			{&all.List, r.Array("sparse frontiers", team.Exported(list))},
		} {
			others, err := l.OpenAll(array.own, r.Err)
			if err != nil {
				return all, nil, err
			}
			copy(array.all[:], others)
		}
		return all, nil, nil
	}
	if r.c.Text("messages") == "bitmaps" && g.Columns > 1 {
		return all, nil, fmt.Errorf("option messages=bitmaps: %w: messages go %s", plugins.ErrUnavailable, l.Transfer)
	}
	array := func(what string, bytes int64, inHost bool) (a team.Array) {
		if !inHost {
			return team.Array{At: r.Array(what, bytes)}
		}
		if a.At = r.HostArray(what, bytes); r.Err == nil {
			a.Host = driver.HostSlice[byte](r.Memory, a.At, bytes)
			clear(a.Host)
		}
		return a
	}
	host := !l.NCCL()
	mail := array("messages", int64(l.Size())*mailboxBytes, true)
	c = &carrier{
		world: l.Group, columns: g.Columns, words: g.Words,
		frontier: array("frontiers", 2*4*int64(g.FrontierWords), host), list: array("sparse frontiers", list, true),
		inbox: array("vertices found by others", inbox, host), outbox: array("vertices found for others", inbox, host),
	}
	if r.Err != nil {
		return all, nil, r.Err
	}
	c.prepare()
	if c.move = c.throughMPI; !host {
		c.move = l.ThroughNCCL
	}
	c.mail = driver.HostSlice[mailbox](r.Memory, mail.At, int64(l.Size()))
	all.Staged, all.Frontier[0] = 1, c.frontier.At
	column := g.Rank % g.Columns
	for k := range uint64(l.Size()) {
		all.Mailbox[k], all.List[k] = mail.At+k*mailboxBytes, c.list.At
		// The kernel writes vertices of rank k at the column of this rank.
		all.Inbox[k] = c.outbox.At + 8*32*g.Words*(k%g.Columns-column)
	}
	all.Inbox[g.Rank] = c.inbox.At
	return all, c, nil
}
