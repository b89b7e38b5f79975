// SPDX-License-Identifier: Apache-2.0

// Package distributed is an engine that searches with many ranks. Each rank owns a part of the graph, and ranks share
// nothing but messages. The graph is partitioned in one dimension (every vertex with all its edges belongs to one
// rank) or in two (a grid of ranks over the adjacency matrix). Every rank counts messages and bytes and times phases.
// Ranks are goroutines of one process; package mpi runs the same ranks as processes.
//
// Start reading with partition.go, which draws the grid, and with bfs2d.go and bfs1d.go, which hold the searches.
package distributed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// New returns an engine whose ranks are goroutines.
func New() plugins.Engine {
	return plugins.New(func() (plugins.Description, error) {
		return Describe("distributed", "Direction-optimizing search with ranks that own parts of the graph, partitioned in "+
			"one or two dimensions; ranks are goroutines.", 4), nil
	}, build)
}

// Describe describes an engine of ranks.
func Describe(name, summary string, defaultRanks int) plugins.Description {
	return plugins.Description{
		Name:    name,
		Version: "2.12", // changes whenever the method or the meaning of an option changes
		Summary: summary,
		Devices: []plugins.Device{{Kind: "cpu", Name: machine.Processor(), Units: runtime.GOMAXPROCS(0)}},
		Options: options(defaultRanks),
		Memory:  memoryBound(Configuration{Grid: Grid{defaultRanks, 1}, Threads: 1}),

		ShortestPaths: true, PathMemory: pathMemory(Grid{defaultRanks, 1}, 1),
	}
}

// fits refuses numbers of ranks that this machine has no memory for, if the graph has the edge factor of Graph500, 16.
func fits(ctx context.Context, c Configuration, tuples int) error {
	available, source, err := machine.AvailableMemory(ctx)
	if err != nil {
		return nil // unknown
	}
	need := int64(memoryBound(c).Bytes(int64(tuples/16), int64(tuples)))
	if need <= available {
		return nil
	}
	return fmt.Errorf("%d ranks need %s, this machine has %s available (%s); use fewer ranks or a smaller graph: %w",
		c.Grid.Ranks(), units.Bytes(need), units.Bytes(available), source, plugins.ErrMemory)
}

// FirstError returns the error of the rank that made the others stop, or nil.
func FirstError(ranks []error) error {
	var first error
	for _, err := range ranks {
		if err != nil && (first == nil || errors.Is(first, ErrOtherRank)) {
			first = err
		}
	}
	return first
}

// process is the ranks of this process. The caller of a search is rank 0. The others are goroutines that live as long
// as the graph: to start them takes longer than a small search.
type process struct {
	worlds  []comm.Group
	ranks   []*Rank
	request request
	records []*Record
	errs    []error
	ended   sync.WaitGroup
}

type request struct {
	ctx  context.Context // nil: end
	root graph.Vertex
	out  plugins.Output
}

// build is kernel 1 on all ranks.
func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	c := Configure(options, "goroutines of one process; messages are passed without copying")
	c.Share(runtime.GOMAXPROCS(0), c.Grid.Ranks())
	if err := fits(ctx, c, len(in.Tuples)); err != nil {
		return plugins.Built{}, err
	}
	start, n := time.Now(), c.Grid.Ranks()
	p := &process{
		worlds: comm.NewLocal(n, c.Threads), ranks: make([]*Rank, n), records: make([]*Record, n), errs: make([]error, n),
	}
	teams, results := team.NewTeams(n*c.Threads), make([]plugins.Built, n)
	construct := func(k int) {
		from, to := len(in.Tuples)*k/n, len(in.Tuples)*(k+1)/n
		own := in
		own.Tuples, own.First = in.Tuples[from:to], int64(from)
		if in.ShortestPaths {
			own.Weights = in.Weights[from:to]
		}
		p.ranks[k], results[k], p.errs[k] = NewRank(ctx, p.worlds[k], c, teams, own)
	}
	var constructed sync.WaitGroup
	constructed.Add(n - 1)
	for k := 1; k < n; k++ {
		p.ended.Go(func() {
			construct(k)
			constructed.Done()
			for ok := p.errs[k] == nil; ok && p.await(k); { // all ranks or none have an error of kernel 1
				p.do(k)
			}
		})
	}
	construct(0)
	constructed.Wait()
	if err := FirstError(p.errs); err != nil {
		return plugins.Built{}, err
	}
	var phases [][]plugins.Phase
	built := results[0]
	built.Bytes, built.Entries = 0, plugins.Counted(p.ranks[0].total)
	for _, r := range results {
		built.Bytes, phases = built.Bytes+r.Bytes, append(phases, r.Phases)
	}
	built.Phases = plugins.CombinePhases(phases)
	built.Search, built.Free, built.Elapsed = p.search, p.free, time.Since(start)
	return built, nil
}

// await waits with all ranks for a request, and returns false if the rank is to end. Ranks wait asleep, so they meet
// once more when all are awake.
func (p *process) await(k int) bool {
	comm.Allreduce(p.worlds[k], nil)
	if p.request.ctx == nil {
		return false
	}
	p.ranks[k].Wake()
	comm.Allreduce(p.worlds[k], nil)
	return true
}

func (p *process) do(k int) {
	_, first, stride := p.ranks[k].Partition.Slots(k)
	p.records[k], p.errs[k] = p.ranks[k].Search(p.request.ctx, p.request.root, p.request.out, first, stride)
	comm.Allreduce(p.worlds[k], nil)
}

// search is kernel 2 or 3. Its clock starts when all ranks are awake, before any of them does anything for the root.
func (p *process) search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	p.request = request{ctx, root, out}
	p.await(0)
	start := time.Now()
	p.do(0)
	end := time.Now()
	for _, r := range p.ranks {
		if r.watch.started.Before(start) {
			start = r.watch.started
		}
	}
	if err := FirstError(p.errs); err != nil {
		return plugins.Traversal{}, err
	}
	t := Traversal(p.records)
	t.Elapsed = end.Sub(start)
	return t, nil
}

func (p *process) free() error {
	p.request = request{}
	p.await(0)
	p.ended.Wait()
	for _, r := range p.ranks {
		r.Free()
	}
	return nil
}
