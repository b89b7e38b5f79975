// SPDX-License-Identifier: Apache-2.0

package distributed

import (
	"context"
	"sync"
	"time"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

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
	ctx    context.Context // nil: end
	root   graph.Vertex
	parent []graph.Vertex
}

// build is kernel 1 on all ranks.
func build(ctx context.Context, in plugins.Input, options plugins.Settings) (plugins.Built, error) {
	c := Configure(options)
	if err := fits(ctx, c.Grid, c.Threads, len(in.Tuples)); err != nil {
		return plugins.Built{}, err
	}
	start, n := time.Now(), c.Grid.Ranks()
	p := &process{
		worlds: comm.NewLocal(n, c.Threads), ranks: make([]*Rank, n), records: make([]*Record, n), errs: make([]error, n),
	}
	teams, results := team.NewTeams(n*c.Threads), make([]Construction, n)
	construct := func(k int) {
		from, to := len(in.Tuples)*k/n, len(in.Tuples)*(k+1)/n
		p.ranks[k], results[k], p.errs[k] = NewRank(ctx, p.worlds[k], c, teams, in.Tuples[from:to], int64(from))
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
	built := Combine(c, results, "goroutines of one process; messages are passed without copying")
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
	p.records[k], p.errs[k] = p.ranks[k].Search(p.request.ctx, p.request.root, p.request.parent, first, stride)
	comm.Allreduce(p.worlds[k], nil)
}

// search is kernel 2. Its clock starts when all ranks are awake, and before any of them does anything for the root.
func (p *process) search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	p.request = request{ctx, root, parent}
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
	return Traversal(end.Sub(start), p.records), nil
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
