// SPDX-License-Identifier: Apache-2.0

// Package mpi is the engine of package distributed with ranks that are MPI processes, on one host or several. Each is
// an engine in the sense of plugins.Place: a launcher of the cluster starts it, and its host calls it like any other.
//
// Ranks exchange messages through MPI (group.go), and through memory that the ranks of a host share (share.go).
package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/internal/team"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine. A process that a launcher has started begins MPI when it is first described.
func New() plugins.Engine {
	p := &process{processors: runtime.GOMAXPROCS(0)}
	return plugins.New(p.describe, p.build, p.end)
}

// process is this process of the engine.
type process struct {
	begin sync.Once
	err   error // of begin
	mpi   *mpi.Thread
	world *group
	// processors is the number that this process may use, before it is bound to some of them.
	processors int
}

func (p *process) describe() (plugins.Description, error) {
	d := distributed.Describe("mpi",
		"The distributed search with ranks that are MPI processes, on one host or several.", 2)
	d.Options = slices.DeleteFunc(d.Options, func(o plugins.Option) bool { return o.Name == "owner" }) // Place has it
	d.Spreads = true
	var err error
	if os.Getenv(plugins.PlaceVariable) != "" {
		err = p.start()
	} else {
		_, err = mpi.Open()
	}
	if err != nil {
		d.Unavailable = err.Error()
	}
	return d, nil
}

// start begins MPI, which waits for the other processes.
func (p *process) start() error {
	p.begin.Do(func() {
		if p.mpi, p.err = mpi.Begin(mpi.Launched()); p.err == nil {
			p.mpi.Do(func() { p.world = newGroup(p.mpi.World, system(), &time.Time{}) })
		}
	})
	return p.err
}

// end waits for the other processes. A launcher kills those of a job in which one does not end MPI.
func (p *process) end() error {
	if p.world == nil {
		return nil
	}
	p.world = nil
	return p.mpi.End()
}

// build is kernel 1 on this rank, whose number in MPI may be another one than that of its place.
func (p *process) build(ctx context.Context, in plugins.Input, options plugins.Settings) (
	built plugins.Built, err error) {
	c := distributed.Configure(options, "processes under MPI")
	c.Modulo = true
	if in.Place.Size != c.Grid.Ranks() {
		return built, fmt.Errorf("%w: it is one of the processes that teps run starts with mpirun, hydra or srun",
			plugins.ErrUnavailable)
	}
	if err := p.start(); err != nil {
		return built, fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	if p.world.Size() != in.Place.Size {
		return built, fmt.Errorf("%w: %d processes were started, but MPI counts %d: the launcher does not belong to the "+
			"library; choose the launcher of the library, or name its library in TEPS_MPI", plugins.ErrUnavailable,
			in.Place.Size, p.world.Size())
	}
	c.Share(p.processors, p.mpi.Here)
	p.mpi.Do(func() { built, err = p.construct(ctx, in, c) })
	return built, canceled(err)
}

// canceled marks the error of a rank that stops because of another one, which has the reason.
func canceled(err error) error {
	if errors.Is(err, distributed.ErrOtherRank) && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: %w", err, context.Canceled)
	}
	return err
}

func (p *process) construct(ctx context.Context, in plugins.Input, c distributed.Configuration) (
	built plugins.Built, err error) {
	if team.Bind(p.mpi.Place, p.mpi.Here, c.Threads) {
		runtime.GOMAXPROCS(c.Threads)
	}
	ranks := p.world.Split(0, in.Place.Rank)
	comm.Allreduce(ranks, nil) // wait for all
	rank, built, err := distributed.NewRank(ctx, ranks, c, team.NewTeams(c.Threads), in)
	if err != nil {
		return built, err
	}
	host, _ := os.Hostname()
	built.Details = append(built.Details, plugins.Fact{Name: "host of rank 0", Value: host})
	built.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
		p.mpi.Do(func() {
			var r *distributed.Record
			rank.Wake()
			comm.Allreduce(ranks, nil) // the clocks start when all are awake
			if r, err = rank.Search(ctx, root, out, 0, 1); err == nil {
				t = distributed.Traversal([]*distributed.Record{r})
			}
		})
		return t, canceled(err)
	}
	built.Agree = func(err error) error {
		failed := false
		if p.mpi.Do(func() { failed = comm.Any(ranks, err != nil) }); err == nil && failed {
			err = canceled(distributed.ErrOtherRank)
		}
		return err
	}
	built.Free = func() error { p.mpi.Do(rank.Free); return nil }
	built.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		p.mpi.Do(func() {
			rank.Wake()
			start, clock := time.Now(), ranks.Rank() == 0
			for err == nil && !comm.Any(ranks, clock && time.Since(start) >= duration) {
				if _, err = rank.Search(ctx, roots[searches%int64(len(roots))], out, 0, 1); err == nil {
					searches++
				}
			}
		})
		return searches, canceled(err)
	}
	return built, nil
}
