// SPDX-License-Identifier: Apache-2.0

package team

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/plugins"
)

// Build is kernel 1, and makes the kernel 2 of its graph. world is nil in an engine of one process.
type Build func(ctx context.Context, in plugins.Input, set plugins.Settings, world *World) (plugins.Built, error)

// BuildWithoutCUDA is kernel 1 of every engine in a program without CUDA: an error.
func BuildWithoutCUDA(context.Context, plugins.Input, plugins.Settings, *World) (plugins.Built, error) {
	return plugins.Built{}, fmt.Errorf("%w: %s", plugins.ErrUnavailable, driver.Missing())
}

// World is all processes, the place of this one among those of its host, and how many these are.
type World struct {
	Group
	Place, Here int
}

// process is this process of an engine, perhaps one of several under MPI.
type process struct {
	once  sync.Once
	mpi   *mpi.Thread
	err   error // of MPI
	build Build
}

// NewEngine returns an engine with the option ranks. d says all about it but its devices. It holds no resources before
// Construct, unless a launcher has started it as one of several processes: then it begins MPI when it is first
// described.
func NewEngine(d plugins.Description, build Build) plugins.Engine {
	p := &process{build: build}
	return plugins.New(func() (_ plugins.Description, err error) {
		d.Spreads = true
		d.Devices, err = driver.Devices()
		if d.Unavailable = driver.Missing(); d.Unavailable == "" && os.Getenv(plugins.PlaceVariable) != "" {
			if missing := p.begin(); missing != nil {
				d.Unavailable = missing.Error()
			}
		}
		return d, err
	}, p.construct, p.end)
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

// construct is kernel 1 in this process. The number of a process in MPI may be another one than that of its place.
func (p *process) construct(ctx context.Context, in plugins.Input, set plugins.Settings) (
	built plugins.Built, err error) {
	ranks := set.Int("ranks")
	switch {
	case ranks == 0:
		return p.build(ctx, in, set, nil)
	case in.Place.Size != ranks:
		return built, fmt.Errorf("%w: option ranks needs processes that teps run starts with mpirun, hydra or srun",
			plugins.ErrUnavailable)
	}
	if err := p.begin(); err != nil {
		return built, fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	var world *mpi.Comm
	p.mpi.Do(func() { world, err = p.mpi.World.Split(0, in.Place.Rank) })
	if err != nil {
		return built, err
	}
	return Joined(world, func() (plugins.Built, error) {
		return p.build(ctx, in, set, &World{world, p.mpi.Place, p.mpi.Here})
	}, p.mpi.Do)
}

// Joined builds a graph and lets its kernels run on the thread of MPI, by on. All processes end with the same result.
func Joined(world Group, build func() (plugins.Built, error), on func(call func())) (b plugins.Built, err error) {
	if on(func() {
		b, err = build()
		err = Agree(world, err)
	}); err != nil {
		return b, err
	}
	search, repeat, free := b.Search, b.Repeat, b.Free
	b.Search = func(ctx context.Context, root graph.Vertex, out plugins.Output) (t plugins.Traversal, err error) {
		on(func() {
			t, err = search(ctx, root, out)
			err = Agree(world, err)
		})
		return t, err
	}
	b.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		on(func() {
			searches, err = repeat(ctx, roots, duration, out)
			err = Agree(world, err)
		})
		return searches, err
	}
	b.Agree = func(err error) error {
		on(func() { err = Agree(world, err) })
		return err
	}
	b.Free = func() (err error) {
		on(func() { err = free() })
		return err
	}
	return b, nil
}
