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

// process is the ranks of this process, which search a graph together. The caller of a search is rank 0. The others
// are goroutines that live as long as the graph: starting them for each search would take longer than many a search.
type process struct {
	worlds  []comm.Group
	ranks   []*Rank
	request request
	records []*Record
	errs    []error
	ended   sync.WaitGroup
}

// request is a search that all ranks are to do.
type request struct {
	ctx    context.Context // nil: end
	root   graph.Vertex
	parent []graph.Vertex
}

// startProcess runs kernel 1 on all ranks.
func startProcess(ctx context.Context, c Configuration, tuples []graph.Edge) (*process, []Construction, error) {
	n := c.Grid.Ranks()
	p := &process{
		worlds: comm.NewLocal(n, c.Threads), ranks: make([]*Rank, n), records: make([]*Record, n), errs: make([]error, n),
	}
	teams := team.NewTeams(n * c.Threads)
	results := make([]Construction, n)
	construct := func(k int) {
		from, to := len(tuples)*k/n, len(tuples)*(k+1)/n
		p.ranks[k], results[k], p.errs[k] = NewRank(ctx, p.worlds[k], c, teams, tuples[from:to], int64(from))
	}
	var constructed sync.WaitGroup
	for k := 1; k < n; k++ {
		constructed.Add(1)
		p.ended.Go(func() {
			construct(k)
			constructed.Done()
			if p.errs[k] == nil { // on all ranks or on none
				p.serve(k)
			}
		})
	}
	construct(0)
	constructed.Wait()
	return p, results, FirstError(p.errs)
}

// serve is the life of a rank other than 0 after kernel 1.
func (p *process) serve(k int) {
	for p.await(k) {
		p.do(k)
		p.synchronize(k)
	}
}

// await waits with all ranks for a request, and returns false if the rank is to end. Ranks wait asleep, so
// they meet once more: then all are awake.
func (p *process) await(k int) bool {
	p.synchronize(k)
	if p.request.ctx == nil {
		return false
	}
	p.ranks[k].Wake()
	p.synchronize(k)
	return true
}

// synchronize waits for all ranks.
func (p *process) synchronize(k int) { comm.Allreduce(p.worlds[k], nil) }

func (p *process) do(k int) {
	_, first, stride := p.ranks[k].Partition.Slots(k)
	p.records[k], p.errs[k] = p.ranks[k].Search(p.request.ctx, p.request.root, p.request.parent, first, stride)
}

// search is kernel 2. Its clock starts when all ranks are awake, and before any of them does anything for the root: the
// system may run this rank later than others.
func (p *process) search(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (plugins.Traversal, error) {
	p.request = request{ctx, root, parent}
	p.await(0)
	start := time.Now()
	p.do(0)
	p.synchronize(0)
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
