// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

// image is kernels/*.cu, compiled by cuda/build.sh.
//
//go:embed kernels/accelerator.fatbin
var image string

// device is a GPU with what it needs for one graph.
type device struct {
	gpu    *driver.GPU
	memory *driver.Allocator
	stage  *driver.Stage
	err    error // a call has failed, and what is on the device is not known

	recipe    graph.Kronecker // whose constants are on the device
	constants uint64

	again                               bool // Validate makes the tuples of the recipe again, part by part
	part                                uint64
	tuples, labels, vertices            int64 // of Load; no vertices: not loaded
	pairs, parent, jump, words, tupleOf uint64
	findings                            uint64
	lent                                uint64 // tuples for an engine

	pinned driver.Pinned // parents that the device can read
	tried  *graph.Vertex // the first of the parents that it was to read
}

// findings are Findings of kernels/validate.cu.
type findings struct {
	BadRoot, Unusable, InCycle, Orphan uint64
	Far, Unspanned, NoTuple, BadTuple  uint64
	GoesOn, Lost                       uint64
	Reached, Depth, Missed, Loops      uint64
}

// none is a vertex or a tuple that was not found.
const none = 1<<64 - 1

func nothingFound() findings {
	return findings{BadRoot: none, Unusable: none, InCycle: none, Orphan: none, Far: none, Unspanned: none, NoTuple: none,
		BadTuple: none}
}

// do calls f with the device, which it opens first. After an error of the device there is no other call.
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

// maxVertices is how many vertices kernels/validate.cu takes.
const maxVertices = 1 << 31

// Load is plugins.Accelerator.Load. The device needs 8 bytes for a tuple and 14 and an eighth for a vertex.
func (d *device) Load(ctx context.Context, tuples []graph.Edge, vertices int64) error {
	return d.load(int64(len(tuples)), int64(len(tuples)), vertices, func() error {
		return d.stage.Upload(ctx, driver.Bytes(tuples), func(at uint64, first, n int64) error {
			return d.unpack(at, n/graph.EdgeBytes, first/graph.EdgeBytes)
		})
	})
}

// partTuples is how many tuples of a recipe are made at a time.
const partTuples = 1 << 25

// LoadRecipe is plugins.Accelerator.LoadRecipe.
func (d *device) LoadRecipe(_ context.Context, recipe graph.Kronecker) error {
	if err := recipe.Check(); err != nil {
		return err
	}
	part := min(partTuples, recipe.Tuples())
	return d.load(recipe.Tuples(), part, recipe.Vertices(), func() (err error) {
		if d.part, err = d.memory.OnDevice("part of the tuples", graph.EdgeBytes*part); err == nil {
			err = d.use(recipe)
		}
		d.again = true
		return err
	})
}

// load prepares for validating searches of a number of tuples, which bring puts into an array of pairs of the given
// length.
func (d *device) load(tuples, pairs, vertices int64, bring func() error) error {
	if vertices < 1 || vertices > maxVertices {
		return fmt.Errorf("%d vertices; this device validates graphs of 1 to %d: %w", vertices, int64(maxVertices),
			plugins.ErrTuples)
	}
	return d.do(func() error {
		d.vertices, d.again = 0, false
		if err := errors.Join(d.unpin(), d.takeBack()); err != nil {
			return err
		}
		for _, array := range []*uint64{&d.part, &d.pairs, &d.parent, &d.jump, &d.words, &d.tupleOf} {
			if err := d.memory.Free(*array); err != nil {
				return err
			}
			*array = 0
		}
		d.tuples = tuples
		for _, a := range []struct {
			name  string
			at    *uint64
			bytes int64
		}{
			{"tuples", &d.pairs, 8 * pairs},
			{"parents", &d.parent, 4 * vertices},
			{"levels", &d.jump, 8 * vertices},
			{"words", &d.words, 2 * vertices},
			{"tree edges", &d.tupleOf, (vertices + 31) / 32 * 4},
		} {
			var err error
			if *a.at, err = d.memory.OnDevice(a.name, a.bytes); err != nil {
				return err
			}
		}
		if err := driver.Write(d.findings, nothingFound()); err != nil {
			return err
		}
		d.labels = vertices
		if err := bring(); err != nil {
			return err
		}
		f, err := d.found()
		if err == nil && f.BadTuple != none {
			err = fmt.Errorf("tuple %d has a label that is not one of %d vertices: %w", f.BadTuple, vertices, plugins.ErrTuples)
		}
		if err == nil {
			d.vertices = vertices
		}
		return err
	})
}

// unpack turns n tuples on the device into pairs, from number first on.
func (d *device) unpack(at uint64, n, first int64) error {
	return d.launch(unpackKernel(at, uint64(n), uint64(first), d.pairs, uint64(d.labels), d.findings))
}

// checkTuples checks all tuples.
func (d *device) checkTuples(ctx context.Context) error {
	check := func(n, first int64) error {
		return d.launch(checkTuplesKernel(d.pairs, uint64(n), uint64(first), d.parent, d.jump, d.words, d.tupleOf,
			d.findings))
	}
	if !d.again {
		return check(d.tuples, 0)
	}
	for first := int64(0); first < d.tuples; first += partTuples {
		n := min(d.tuples-first, partTuples)
		if err := errors.Join(ctx.Err(), d.generate(d.part, first, n), d.unpack(d.part, n, 0), check(n, first)); err != nil {
			return err
		}
	}
	return nil
}

// found reads the findings.
func (d *device) found() (findings, error) {
	var f [1]findings
	err := driver.Read(f[:], d.findings)
	return f[0], err
}

// Validate is plugins.Accelerator.Validate.
func (d *device) Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (t validate.Tree, err error) {
	n := d.vertices
	switch {
	case n == 0:
		return t, plugins.ErrNotConstructed
	case int64(len(parent)) != n || root < 0 || int64(root) >= n:
		return t, fmt.Errorf("%d parents from root %d of a graph of %d vertices", len(parent), root, n)
	}
	err = d.do(func() error {
		whole, err := d.levels(ctx, root, parent)
		if err != nil {
			return err
		}
		if !whole {
			return d.explainTree(root)
		}
		if err := errors.Join(
			cu.MemsetD32(cu.DevicePtr(d.tupleOf), 0, (n+31)/32),
			d.launch(makeWordsKernel(d.parent, d.jump, uint64(n), d.words, d.findings)),
			d.checkTuples(ctx),
			d.launch(findMissingKernel(d.parent, d.tupleOf, uint64(n), uint64(root), d.findings)),
		); err != nil {
			return err
		}
		f, err := d.found()
		if err == nil {
			err = d.explainTuples(root, f)
		}
		t = validate.Tree{
			Root: root, Reached: int64(f.Reached), Depth: int(f.Depth), Tuples: d.tuples - int64(f.Missed),
			SelfLoops: int64(f.Loops),
		}
		return err
	})
	if err != nil {
		t = validate.Tree{}
	}
	return t, err
}

// explainTree returns the violation of rule 1 or 2 that validate.Validator names.
func (d *device) explainTree(root graph.Vertex) error {
	n := uint64(d.vertices)
	up, twice := d.jump, d.jump+4*n
	err := d.launch(cycleStartKernel(d.parent, n, uint64(root), up))
	for range 32 {
		err = errors.Join(err, d.launch(cycleDoubleKernel(up, n, twice)))
		up, twice = twice, up
	}
	if err := errors.Join(err,
		d.launch(cycleLowestKernel(up, n, d.findings)),
		d.launch(findOrphanKernel(d.parent, n, d.findings))); err != nil {
		return err
	}
	f, err := d.found()
	switch {
	case err != nil:
		return err
	case f.BadRoot != none:
		return broken(validate.RuleTree, root, root)
	case f.InCycle != none && f.InCycle <= f.Unusable:
		p, err := d.parentOf(graph.Vertex(f.InCycle))
		switch {
		case err != nil:
			return err
		case p == graph.Vertex(f.InCycle):
			return broken(validate.RuleTree, root, p)
		}
		return broken(validate.RuleTree, root, graph.Vertex(f.InCycle), p)
	case f.Unusable != none:
		return broken(validate.RuleTree, root, graph.Vertex(f.Unusable))
	case f.Orphan != none:
		return d.brokenEdge(validate.RuleTreeLevel, root, graph.Vertex(f.Orphan))
	}
	return errors.New("the parents are not a tree, but none of them is wrong")
}

// explainTuples returns the violation of rule 3, 4 or 5 that validate.Validator names, or nil.
func (d *device) explainTuples(root graph.Vertex, f findings) error {
	rule, tuple := validate.RuleLevel, f.Far
	if tuple == none {
		rule, tuple = validate.RuleSpan, f.Unspanned
	}
	if tuple == none {
		if f.NoTuple == none {
			return nil
		}
		return d.brokenEdge(validate.RuleTuple, root, graph.Vertex(f.NoTuple))
	}
	a, b, err := d.ends(tuple)
	if err != nil {
		return err
	}
	if rule == validate.RuleSpan { // the end that is reached comes first
		p, err := d.parentOf(a)
		if err != nil {
			return err
		}
		if p == graph.Vertex(unreached) {
			a, b = b, a
		}
	}
	return broken(rule, root, a, b)
}

// ends returns the ends of a tuple.
func (d *device) ends(tuple uint64) (a, b graph.Vertex, err error) {
	if d.again {
		var one [1]graph.Edge
		err = d.recipe.Generate(context.Background(), one[:], int64(tuple), 1)
		a, b = one[0].Ends()
		return a, b, err
	}
	var pair [2]uint32
	err = driver.Read(pair[:], d.pairs+8*tuple)
	return graph.Vertex(pair[0]), graph.Vertex(pair[1]), err
}

// unreached is UNREACHED of kernels/validate.cu.
const unreached = 1<<32 - 1

// parentOf reads a parent from the device.
func (d *device) parentOf(v graph.Vertex) (graph.Vertex, error) {
	var p [1]uint32
	err := driver.Read(p[:], d.parent+4*uint64(v))
	return graph.Vertex(p[0]), err
}

// brokenEdge is a violation by a vertex and its parent.
func (d *device) brokenEdge(rule validate.Rule, root, v graph.Vertex) error {
	p, err := d.parentOf(v)
	if err != nil {
		return err
	}
	return broken(rule, root, v, p)
}

func broken(rule validate.Rule, root graph.Vertex, vertices ...graph.Vertex) error {
	return &validate.Violation{Rule: rule, Root: root, Vertices: vertices, Text: fmt.Sprintf("found at %v", vertices)}
}

// Close is plugins.Accelerator.Close.
func (d *device) Close() error {
	if d.gpu == nil || d.stage == nil || d.memory == nil {
		return nil
	}
	err := d.gpu.Do(func() error { return errors.Join(d.unpin(), d.stage.Close(), d.memory.FreeAll(), d.gpu.Close()) })
	d.gpu, d.err = nil, plugins.ErrClosed
	return err
}
