// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
)

// Spread is the processes of an engine on this host as one plugins.Engine, for an engine with Description.Spreads. The
// process with index k on host h of H is rank k*H + h of P, so the vertices of this host are those of its processes:
// element s of the host's parents is element s/K of process s mod K, of K.
//
// Each process has memory for its parents and distances. When all have returned from a search they are stopped. Then
// their results are copied to those of the host, outside the clock of the engine.
type Spread struct {
	plugins.Lender
	single *rpc.Client // describes the engine; it is not a part of it
	open   func(ctx context.Context, processes int) (all []*rpc.Client, stop func(), err error)
	hosts  int

	closed    bool
	built     bool // the last Construct has succeeded
	processes []*rpc.Client
	stop      func()
	parents   lent[graph.Vertex]
	distances lent[float32] // of kernel 3
	keep      bool          // results stay with the processes
}

// lent is memory for an array of each process.
type lent[E any] struct {
	own     [][]E
	release []func() error
}

// divide makes memory for the elements of each of n processes in all, if it has other numbers of them than before.
func (l *lent[E]) divide(all []E, n int64, lend func(int64) ([]E, func() error, error)) (err error) {
	if int64(len(l.own)) != n {
		l.own, l.release = make([][]E, n), make([]func() error, n)
	}
	if n == 1 {
		l.own[0] = all
		return nil
	}
	for k := range l.own {
		size := (int64(len(all)) - int64(k) + n - 1) / n
		if l.own[k] != nil && int64(len(l.own[k])) == size {
			continue
		}
		if l.release[k] != nil {
			err = l.release[k]()
		}
		if err == nil {
			l.own[k], l.release[k], err = lend(size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gather copies the arrays of several processes to all, and overwrites them.
func (l *lent[E]) gather(all []E, unwritten E) {
	const grain = 1 << 14 // elements of each process
	n := int64(len(l.own))
	if n == 1 {
		return
	}
	items := (int64(len(all)) + n - 1) / n
	_, _ = graph.Parallel(context.Background(), runtime.GOMAXPROCS(0), items, grain, func(_ int, first, last int64) bool {
		for k, own := range l.own {
			for i := first; i < min(last, int64(len(own))); i++ {
				all[i*n+int64(k)], own[i] = own[i], unwritten
			}
		}
		return true
	})
}

// free returns the memory.
func (l *lent[E]) free() (err error) {
	for _, release := range l.release {
		if release != nil {
			err = cmp.Or(err, release())
		}
	}
	*l = lent[E]{}
	return err
}

// NewSpread returns the Spread of an engine on one of several hosts. single is a process of the engine, which Spread
// closes. open starts the given number of processes of the engine on this host; stop ends what is left of them.
func NewSpread(host *rpc.Host, single *rpc.Client, hosts int,
	open func(ctx context.Context, processes int) (all []*rpc.Client, stop func(), err error)) *Spread {
	return &Spread{Lender: host, single: single, hosts: hosts, open: open}
}

// OpenPlaces opens an engine's program in places. If it returns an error, it has closed them all.
func OpenPlaces(ctx context.Context, host *rpc.Host, program rpc.Program, places []*Place) ([]*rpc.Client, error) {
	clients := make([]*rpc.Client, len(places))
	err := each(ctx, len(places), func(ctx context.Context, k int) (err error) {
		own := program
		own.Start = places[k].Start
		clients[k], err = host.Open(ctx, own)
		return err
	})
	for _, c := range clients {
		if err != nil && c != nil {
			_ = c.Close() // the error is that of another one
		}
	}
	return clients, err
}

// Describe implements plugins.Engine.
func (s *Spread) Describe(ctx context.Context) (plugins.Description, error) {
	return s.single.Describe(ctx)
}

// Checksum returns the SHA-256 of the engine's file.
func (s *Spread) Checksum() string { return s.single.Checksum() }

// Prepare starts the processes for kernel 1 with some options.
func (s *Spread) Prepare(ctx context.Context, options map[string]string) error {
	if s.closed {
		return plugins.ErrClosed
	}
	d, err := s.Describe(ctx)
	if err != nil {
		return err
	}
	n, err := harness.ProcessesOf(d, options, s.hosts)
	n = max(n, 1) // options without ranks: one process, which does not use MPI
	if err != nil || n == len(s.processes) {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	processes, stop, err := s.open(ctx, n)
	if err != nil {
		return err
	}
	s.processes, s.stop = processes, stop
	return s.each(ctx, func(ctx context.Context, k int) error {
		d, err := s.processes[k].Describe(ctx)
		if err == nil && d.Unavailable != "" {
			err = fmt.Errorf("%w: %s", plugins.ErrUnavailable, d.Unavailable)
		}
		return err
	})
}

// each calls all processes at the same time, or none if ctx has ended.
func (s *Spread) each(ctx context.Context, call func(ctx context.Context, k int) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := each(ctx, len(s.processes), call)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Construct implements plugins.Engine. in.Place is that of this host among the hosts.
func (s *Spread) Construct(ctx context.Context, in plugins.Input) (plugins.Construction, error) {
	s.built = false
	if err := s.Prepare(ctx, in.Options); err != nil {
		return plugins.Construction{}, err
	}
	if len(in.Weights) != len(in.Tuples) && in.ShortestPaths {
		return plugins.Construction{}, fmt.Errorf("%d weights of %d tuples: %w", len(in.Weights), len(in.Tuples),
			plugins.ErrTuples)
	}
	built := make([]plugins.Construction, len(s.processes))
	n, total := int64(len(s.processes)), int64(len(in.Tuples))
	err := s.each(ctx, func(ctx context.Context, k int) (err error) {
		own, i := in, int64(k)
		first := total * i / n
		if own.Tuples, own.First = in.Tuples[first:total*(i+1)/n], in.First+first; in.ShortestPaths {
			own.Weights = in.Weights[first : total*(i+1)/n]
		}
		own.Place = plugins.Place{Rank: k*s.hosts + in.Place.Rank, Size: int(n) * s.hosts}
		built[k], err = s.processes[k].Construct(ctx, own)
		return err
	})
	if err != nil {
		return plugins.Construction{}, err
	}
	s.built = true
	return plugins.CombineConstructions(built), nil
}

// ready checks a call, and makes memory for the results of each process.
func (s *Spread) ready(roots []graph.Vertex, out plugins.Output) error {
	switch {
	case s.closed:
		return plugins.ErrClosed
	case !s.built:
		return plugins.ErrNotConstructed
	case out.Distance != nil && len(out.Distance) != len(out.Parent):
		return fmt.Errorf("%d parents and %d distances; want as many: %w",
			len(out.Parent), len(out.Distance), plugins.ErrParent)
	}
	for _, root := range roots {
		if root < 0 || s.hosts == 1 && int64(root) >= int64(len(out.Parent)) {
			return fmt.Errorf("root %d of %d: %w", root, len(out.Parent), plugins.ErrRoot)
		}
	}
	n := int64(len(s.processes))
	err := s.parents.divide(out.Parent, n, s.Parents)
	if err == nil && out.Distance != nil {
		err = s.distances.divide(out.Distance, n, s.Distances)
	}
	return err
}

// of returns the arrays of a process for the results of a call.
func (s *Spread) of(k int, out plugins.Output) (own plugins.Output) {
	if own.Parent = s.parents.own[k]; out.Distance != nil {
		own.Distance = s.distances.own[k]
	}
	return own
}

// Search implements plugins.Engine.
func (s *Spread) Search(ctx context.Context, root graph.Vertex, out plugins.Output) (plugins.Traversal, error) {
	reports, err := all(ctx, s, []graph.Vertex{root}, out, func(ctx context.Context, k int) (plugins.Traversal, error) {
		return s.processes[k].Search(ctx, root, s.of(k, out))
	})
	if err != nil {
		return plugins.Traversal{}, err
	}
	return plugins.CombineTraversals(reports), nil
}

// all makes a call of every process, and gathers the results.
func all[Report any](ctx context.Context, s *Spread, roots []graph.Vertex, out plugins.Output,
	call func(ctx context.Context, k int) (Report, error)) (reports []Report, err error) {
	if err := s.ready(roots, out); err != nil {
		return nil, err
	}
	reports = make([]Report, len(s.processes))
	err = s.each(ctx, func(ctx context.Context, k int) (err error) {
		reports[k], err = call(ctx, k)
		return err
	})
	if err == nil && !s.keep {
		s.gather(out)
	}
	return reports, err
}

// Repeat implements plugins.Repeater.
func (s *Spread) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
	searches int64, err error) {
	done, err := all(ctx, s, roots, out, func(ctx context.Context, k int) (int64, error) {
		return s.processes[k].Repeat(ctx, roots, duration, s.of(k, out))
	})
	if err != nil {
		return 0, err
	}
	for k, n := range done {
		if n != done[0] {
			return 0, fmt.Errorf("process %d reports %d searches in the loop, and process 0 reports %d", k, n, done[0])
		}
	}
	return done[0], nil
}

// Keep implements harness.Spread.
func (s *Spread) Keep(keep bool) { s.keep = keep }

// gather stops the processes, copies their results to those of the host, and overwrites them.
func (s *Spread) gather(out plugins.Output) {
	s.Freeze()
	s.parents.gather(out.Parent, graph.Unwritten)
	if out.Distance != nil {
		s.distances.gather(out.Distance, graph.UnwrittenDistance())
	}
}

// PIDs returns the process IDs of the engine on this host.
func (s *Spread) PIDs() (all []int) {
	for _, p := range s.processes {
		all = append(all, p.PID())
	}
	return all
}

// Freeze stops all processes until the next call.
func (s *Spread) Freeze() {
	_ = each(context.Background(), len(s.processes), func(_ context.Context, k int) error {
		s.processes[k].Freeze()
		return nil
	})
}

// end closes the processes.
func (s *Spread) end() (err error) {
	err = each(context.Background(), len(s.processes), func(_ context.Context, k int) error {
		return s.processes[k].Close()
	})
	err = cmp.Or(err, s.parents.free(), s.distances.free())
	if s.processes, s.built = nil, false; s.stop != nil {
		s.stop()
		s.stop = nil
	}
	return err
}

// Close implements plugins.Engine.
func (s *Spread) Close() error {
	s.closed = true
	return errors.Join(s.end(), s.single.Close())
}
