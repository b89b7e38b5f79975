// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// image is kernels/*.cu, compiled by cuda/build.sh.
//
//go:embed kernels/accelerator.fatbin
var image string

// device is a GPU with the arrays of one graph.
type device struct {
	gpu    *driver.GPU
	memory *driver.Allocator
	stage  *driver.Stage
	err    error // of a failed call: the state of the device is not known

	recipe    graph.Kronecker // whose constants are on the device
	constants uint64
	lent      uint64 // tuples for an engine

	tupleList
	labels, vertices   int64 // of Load; no vertices: not loaded
	parents, distances array // results
	resultArrays
}

// tupleList is the list of Load.
type tupleList struct {
	again         bool   // Validate makes the tuples of the recipe again, part by part
	part          uint64 // of them
	tuples        int64
	stored        int64  // the first tuples, whose pairs are on the device
	pairs, others uint64 // and pairs of the others, in pinned memory of the host
	weighted      bool   // for kernel 3, too
	weights       uint64
}

// resultArrays are what the device derives from a result.
type resultArrays struct{ parent, jump, words, tupleOf, distance, findings uint64 }

// do calls f with the device, which it opens first. It makes no call after the device has failed.
func (d *device) do(f func() error) error {
	if d.err != nil {
		return d.err
	}
	if d.gpu == nil {
		if d.err = d.start(); d.err != nil {
			return d.err
		}
	}
	return d.gpu.Do(f)
}

func (d *device) start() (err error) {
	if why := driver.Missing(); why != "" {
		return fmt.Errorf("%w: %s", plugins.ErrUnavailable, why)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	count, err := cu.NumDevices()
	if err != nil {
		return fmt.Errorf("count GPUs: %w", err)
	}
	if d.gpu, err = driver.Open(count-1, "last", image); err != nil {
		return err
	}
	if d.memory, err = driver.NewAllocator(0, "it is in use by an engine or by another process"); err != nil {
		return err
	}
	if d.findings, err = d.memory.OnDevice("findings", 256); err != nil {
		return err
	}
	d.stage, err = driver.NewStage(d.memory)
	return err
}

func (d *device) launch(kernel driver.Call) error {
	return d.gpu.Launch(cu.NoStream, d.gpu.LoopBlocks(), driver.Threads, kernel)
}

const (
	maxVertices = 1 << 31 // that kernels/validate.cu takes
	partTuples  = 1 << 25 // tuples of a recipe that are made at a time
	strideBits  = 17      // log2 of the threads that generate
	weightBytes = 4
	pairBytes   = 8
)

// Load is plugins.Accelerator.Load. The device needs 14 and an eighth bytes for a vertex, and for kernel 3 another 4
// for each vertex and tuple. The pairs of the tuples take 8 bytes each, in the host when the device is full.
func (d *device) Load(ctx context.Context, in plugins.Input, vertices int64) error {
	if in.Recipe != nil {
		return d.loadRecipe(ctx, *in.Recipe)
	}
	tuples, weights := in.Tuples, in.Weights
	if weights != nil && len(weights) != len(tuples) {
		return fmt.Errorf("%d weights of %d tuples: %w", len(weights), len(tuples), plugins.ErrTuples)
	}
	s := sizes{tuples: int64(len(tuples)), pairs: int64(len(tuples)), vertices: vertices}
	if weights != nil {
		s.weights, s.distances = s.tuples, vertices
	}
	return d.load(ctx, s, func() error {
		d.weighted = weights != nil
		return errors.Join(
			d.stage.Upload(ctx, offload.Bytes(tuples), func(at uint64, first, n int64) error {
				first, n = first/graph.EdgeBytes, n/graph.EdgeBytes
				here := min(n, max(d.stored-first, 0))
				return errors.Join(
					d.unpack(at, here, first, d.pairs+pairBytes*uint64(first)),
					d.unpack(at+uint64(graph.EdgeBytes*here), n-here, first+here,
						d.others+pairBytes*uint64(max(first-d.stored, 0))))
			}),
			d.stage.Upload(ctx, offload.Bytes(weights), func(at uint64, first, n int64) error {
				return copyOnDevice(d.weights+uint64(first), at, n)
			}))
	})
}

func copyOnDevice(into, from uint64, bytes int64) error {
	return cu.MemcpyDtoDAsync(cu.DevicePtr(into), cu.DevicePtr(from), bytes, cu.NoStream)
}

func (d *device) loadRecipe(ctx context.Context, recipe graph.Kronecker) error {
	if err := recipe.Check(); err != nil {
		return err
	}
	part := min(partTuples, recipe.Tuples())
	s := sizes{tuples: recipe.Tuples(), pairs: part, part: part, vertices: recipe.Vertices()}
	return d.load(ctx, s, func() error {
		d.again = true
		return d.use(recipe)
	})
}

// sizes are numbers of elements: pairs of the tuples that are unpacked at a time, part of those made at a time.
type sizes struct{ tuples, pairs, part, weights, vertices, distances int64 }

// load prepares for validating searches. bring fills the arrays of tuples and weights.
func (d *device) load(ctx context.Context, s sizes, bring func() error) error {
	if s.vertices < 1 || s.vertices > maxVertices {
		return fmt.Errorf("%d vertices; this device validates graphs of 1 to %d: %w", s.vertices, int64(maxVertices),
			plugins.ErrTuples)
	}
	return d.do(func() error {
		d.vertices, d.again, d.weighted = 0, false, false
		if err := errors.Join(d.parents.unpin(), d.distances.unpin(), d.takeBack()); err != nil {
			return err
		}
		arrays := []struct {
			name  string
			at    *uint64
			bytes int64
		}{
			{"weights", &d.weights, weightBytes * s.weights},
			{"parents", &d.parent, 4 * s.vertices},
			{"levels", &d.jump, 8 * s.vertices},
			{"words", &d.words, 2 * s.vertices},
			{"distances", &d.distance, 4 * s.distances},
			{"tree edges", &d.tupleOf, (s.vertices + 31) / 32 * 4},
			{"part of the tuples", &d.part, graph.EdgeBytes * s.part},
			{"tuples", &d.pairs, 0},
		}
		err := d.memory.Free(d.others)
		d.others = 0
		for _, a := range arrays {
			err = errors.Join(err, d.memory.Free(*a.at))
			*a.at = 0
		}
		if err := errors.Join(err, d.memory.LeaveToOthers()); err != nil {
			return err
		}
		for _, a := range arrays {
			if a.at == &d.pairs { // they get what is left
				d.stored = min(s.pairs, d.memory.Room()/pairBytes)
				a.bytes = pairBytes * d.stored
			}
			if *a.at, err = d.memory.OnDevice(a.name, a.bytes); err != nil {
				return err
			}
		}
		if d.others, err = d.inHost(ctx, pairBytes*(s.pairs-d.stored)); err != nil {
			return err
		}
		d.tuples, d.labels = s.tuples, s.vertices
		if err := driver.Write(d.findings, nothingFound()); err != nil {
			return err
		}
		if err := bring(); err != nil {
			return err
		}
		f, err := d.found()
		if err == nil && f.BadTuple != none {
			err = fmt.Errorf("tuple %d has a label that is not one of %d vertices: %w", f.BadTuple, s.vertices,
				plugins.ErrTuples)
		}
		if err == nil {
			d.vertices = s.vertices
		}
		return err
	})
}

// inHost allocates an array of tuples in pinned memory of the host, at most half of what is available there.
func (d *device) inHost(ctx context.Context, bytes int64) (at uint64, err error) {
	if bytes == 0 {
		return 0, nil
	}
	if free, _, err := machine.AvailableMemory(ctx); err != nil || bytes > free/2 {
		return 0, fmt.Errorf("%d bytes of tuples do not fit on the device, and %d are free in the host: %w", bytes, free,
			cmp.Or(err, plugins.ErrMemory))
	}
	return d.memory.OnHost("tuples", bytes)
}

// unpack turns n tuples on the device, from number first on, into pairs.
func (d *device) unpack(at uint64, n, first int64, pairs uint64) error {
	if n == 0 {
		return nil
	}
	return d.launch(unpackKernel(at, uint64(n), uint64(first), pairs, uint64(d.labels), d.findings))
}

// Generate is plugins.Accelerator.Generate.
func (d *device) Generate(ctx context.Context, in plugins.Input) error {
	if in.Weights == nil {
		return d.fill(ctx, *in.Recipe, offload.Bytes(in.Tuples), graph.EdgeBytes, in.First, d.generate)
	}
	generate := func(at uint64, first, n int64) error {
		return d.gpu.Launch(cu.NoStream, 1<<strideBits/driver.Threads, driver.Threads, generateWeightsKernel(d.constants,
			uint64(d.recipe.Scale), uint64(first), uint64(n), strideBits, at))
	}
	return d.fill(ctx, *in.Recipe, offload.Bytes(in.Weights), weightBytes, in.First, generate)
}

// fill fills dst with values of the tuples first, first+1, ... of a recipe, of size bytes each. generate makes n of
// them on the device.
func (d *device) fill(ctx context.Context, recipe graph.Kronecker, dst []byte, size, first int64,
	generate func(at uint64, first, n int64) error) error {
	if err := recipe.Check(); err != nil {
		return err
	}
	if n := int64(len(dst)) / size; first < 0 || first > recipe.Tuples()-n {
		return fmt.Errorf("%d tuples from number %d: the list has %d", n, first, recipe.Tuples())
	}
	return d.do(func() error {
		if err := d.use(recipe); err != nil {
			return err
		}
		return d.stage.Download(ctx, dst, func(at uint64, from, n int64) (uint64, error) {
			return at, generate(at, first+from/size, n/size)
		})
	})
}

// use brings the constants of a recipe to the device.
func (d *device) use(recipe graph.Kronecker) (err error) {
	c := recipe.Constants()
	if d.constants == 0 {
		d.constants, err = d.memory.OnDevice("constants", int64(binary.Size(c)))
	}
	if err == nil && d.recipe != recipe {
		err = driver.Write(d.constants, c)
	}
	if err == nil {
		d.recipe = recipe
	}
	return err
}

// generate makes n tuples of the recipe in use on the device, from number first on.
func (d *device) generate(at uint64, first, n int64) error {
	return d.gpu.Launch(cu.NoStream, 1<<strideBits/driver.Threads, driver.Threads, generateKernel(d.constants,
		uint64(d.recipe.Scale), uint64(first), uint64(n), strideBits, at))
}

// Lend is plugins.Accelerator.Lend. It leaves five eighths of the device to the engine, which needs at least 20 bytes
// for each tuple of 12.
func (d *device) Lend(ctx context.Context, tuples []graph.Edge) (t *plugins.DeviceTuples, err error) {
	err = d.do(func() error {
		if err := d.takeBack(); err != nil || len(tuples) == 0 {
			return err
		}
		bytes := offload.Bytes(tuples)
		if _, total, err := cu.MemInfo(); err != nil || int64(len(bytes)) > total/8*3 {
			return cmp.Or(err, fmt.Errorf("%d bytes of tuples on a device of %d: %w", len(bytes), total, plugins.ErrMemory))
		}
		if d.lent, err = d.memory.OnDevice("tuples for an engine", int64(len(bytes))); err != nil {
			return err
		}
		handle, err := driver.ExportMemory(d.lent)
		if err != nil {
			return errors.Join(fmt.Errorf("%w: share device memory: %w", plugins.ErrUnavailable, err), d.takeBack())
		}
		t = &plugins.DeviceTuples{Handle: handle, Count: int64(len(tuples))}
		return d.stage.Upload(ctx, bytes, func(at uint64, first, n int64) error {
			return copyOnDevice(d.lent+uint64(first), at, n)
		})
	})
	if err != nil {
		t = nil
	}
	return t, err
}

// takeBack frees the tuples that an engine had.
func (d *device) takeBack() error {
	err := d.memory.Free(d.lent)
	d.lent = 0
	return err
}

// Close is plugins.Accelerator.Close.
func (d *device) Close() error {
	if d.gpu == nil || d.stage == nil || d.memory == nil {
		return nil
	}
	err := d.gpu.Do(func() error {
		return errors.Join(d.parents.unpin(), d.distances.unpin(), d.stage.Close(), d.memory.FreeAll(), d.gpu.Close())
	})
	d.gpu, d.err = nil, plugins.ErrClosed
	return err
}
