// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/plugins"
)

// process is this process of the engine, perhaps one of several under MPI.
type process struct {
	once sync.Once
	mpi  *mpi.Thread
	err  error // of MPI
}

// begin begins MPI, which waits for the other processes.
func (p *process) begin() error {
	p.once.Do(func() { p.mpi, p.err = mpi.Begin(mpi.Launched()) })
	return p.err
}

func (p *process) end() error {
	ended := p.mpi
	if p.mpi = nil; ended == nil || p.err != nil {
		return nil
	}
	return ended.End()
}

// build is kernel 1 in this process. The number of a process in MPI may be another one than that of its place.
func (p *process) build(ctx context.Context, in plugins.Input, set plugins.Settings) (built plugins.Built, err error) {
	ranks := set.Int("ranks")
	switch {
	case ranks == 0:
		return build(ctx, in, set, nil)
	case in.Place.Size != ranks:
		return built, fmt.Errorf("%w: option ranks needs processes that teps run starts with mpirun, hydra or srun",
			plugins.ErrUnavailable)
	}
	if err := p.begin(); err != nil {
		return built, fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	p.mpi.Do(func() {
		var world *mpi.Comm
		if world, err = p.mpi.World.Split(0, in.Place.Rank); err != nil {
			return
		}
		built, err = build(ctx, in, set, &worldGroup{world, p.mpi.Place, p.mpi.Here})
		if err = agree(world, err); err == nil {
			built = p.onThread(built, world)
		}
	})
	return built, err
}

// worldGroup is all processes, the place of this one among those of its host, and how many these are.
type worldGroup struct {
	group
	place, here int
}

// onThread lets the kernels of a graph run on the thread of MPI, and all processes end with the same result.
func (p *process) onThread(b plugins.Built, world group) plugins.Built {
	search, repeat, free := b.Search, b.Repeat, b.Free
	b.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
		p.mpi.Do(func() {
			t, err = search(ctx, root, out)
			err = agree(world, err)
		})
		return t, err
	}
	b.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		p.mpi.Do(func() {
			searches, err = repeat(ctx, roots, duration, out)
			err = agree(world, err)
		})
		return searches, err
	}
	b.Agree = func(err error) error {
		p.mpi.Do(func() { err = agree(world, err) })
		return err
	}
	b.Free = func() (err error) {
		p.mpi.Do(func() { err = free() })
		return err
	}
	return b
}
