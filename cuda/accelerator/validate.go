// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// findings are Findings of kernels/validate.cu.
type findings struct {
	BadRoot, Unusable                 uint64
	Far, Unspanned, NoTuple, BadTuple uint64
	GoesOn, Lost                      uint64
	Reached, Depth, Missed, Loops     uint64
	BadDistance, Farthest             uint64
}

// none is a vertex or a tuple that was not found.
const none = 1<<64 - 1

func nothingFound() findings {
	return findings{BadRoot: none, Unusable: none, Far: none, Unspanned: none, NoTuple: none, BadTuple: none,
		BadDistance: none}
}

// found reads the findings.
func (d *device) found() (findings, error) {
	var f [1]findings
	err := driver.Read(f[:], d.findings)
	return f[0], err
}

// Validate is plugins.Accelerator.Validate. Its violations are empty.
func (d *device) Validate(ctx context.Context, root graph.Vertex, out plugins.Output) (t validate.Tree, err error) {
	n, parent, distance := d.vertices, out.Parent, out.Distance
	switch {
	case n == 0 || distance != nil && !d.weighted:
		return t, plugins.ErrNotConstructed
	case int64(len(parent)) != n || distance != nil && int64(len(distance)) != n || root < 0 || int64(root) >= n:
		return t, fmt.Errorf("%d parents and %d distances from root %d of a graph of %d vertices", len(parent),
			len(distance), root, n)
	}
	check := d.checkTuples
	if distance != nil {
		check = func(ctx context.Context) error { return d.checkPaths(ctx, root, distance) }
	}
	err = d.do(func() error {
		whole, err := d.levels(ctx, root, parent)
		if err != nil {
			return err
		}
		if !whole {
			return new(validate.Violation)
		}
		if err := errors.Join(
			cu.MemsetD32(cu.DevicePtr(d.tupleOf), 0, (n+31)/32),
			d.launch(makeWordsKernel(d.parent, d.jump, uint64(n), d.words, d.findings)),
			check(ctx),
			d.launch(findMissingKernel(d.parent, d.tupleOf, uint64(n), uint64(root), d.findings)),
		); err != nil {
			return err
		}
		f, err := d.found()
		if err == nil && min(f.Far, f.Unspanned, f.NoTuple, f.BadDistance) != none {
			err = new(validate.Violation)
		}
		t = validate.Tree{
			Root: root, Reached: int64(f.Reached), Depth: int(f.Depth), Tuples: d.tuples - int64(f.Missed),
			SelfLoops: int64(f.Loops), Farthest: math.Float32frombits(uint32(f.Farthest)),
		}
		return err
	})
	if err != nil {
		t = validate.Tree{}
	}
	return t, err
}

// levels uploads the parents and derives the levels. It returns whether they are a tree from root.
func (d *device) levels(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (whole bool, err error) {
	n := uint64(d.vertices)
	if err := driver.Write(d.findings, nothingFound()); err != nil {
		return false, err
	}
	read := func(at uint64, first, bytes int64) error {
		return d.launch(readParentsKernel(at, uint64(bytes/8), uint64(first/8), n, uint64(root), d.parent, d.jump,
			d.findings))
	}
	if err := d.parents.upload(ctx, d.stage, offload.Bytes(parent), read); err != nil {
		return false, err
	}
	for bits := 0; bits < 33; bits++ { // a path of 2^31 vertices takes 31 rounds, and a cycle has no end
		if err := d.launch(jumpLevelsKernel(d.jump, n, uint64(root), d.findings)); err != nil {
			return false, err
		}
		f, err := d.found()
		if err != nil || f.BadRoot != none || f.Unusable != none || f.Lost != 0 {
			return false, err
		}
		if f.GoesOn == 0 {
			return true, nil
		}
		f.GoesOn = 0
		if err := driver.Write(d.findings, f); err != nil {
			return false, err
		}
	}
	return false, nil
}

// array is an array of results in the host, usually the same memory for all searches. The device reads it there, which
// spares copies, where the system allows it.
type array struct {
	pinned driver.Pinned
	tried  *byte // the first of those that were to be pinned
}

// upload queues use for all parts of an array.
func (a *array) upload(ctx context.Context, stage *driver.Stage, bytes []byte,
	use func(at uint64, first, n int64) error) error {
	if &bytes[0] != a.tried {
		if err := a.unpin(); err != nil {
			return err
		}
		a.tried = &bytes[0]
		a.pinned, _ = driver.PinBytes(bytes) // or not
	}
	if a.pinned.Device != 0 {
		return use(a.pinned.Device, 0, int64(len(bytes)))
	}
	return stage.Upload(ctx, bytes, use)
}

func (a *array) unpin() (err error) {
	if a.pinned.Device != 0 {
		err = a.pinned.Unpin()
	}
	*a = array{}
	return err
}

// checkPaths checks distances, and the tuples by them.
func (d *device) checkPaths(ctx context.Context, root graph.Vertex, distance []float32) error {
	read := func(at uint64, first, bytes int64) error {
		return d.launch(readDistancesKernel(at, uint64(bytes/4), uint64(first/4), uint64(root), d.parent, d.distance,
			d.findings))
	}
	return errors.Join(d.distances.upload(ctx, d.stage, offload.Bytes(distance), read),
		d.eachPart(ctx, func(pairs uint64, n, first int64) error {
			return d.launch(checkPathsKernel(pairs, d.weights, uint64(n), uint64(first), d.parent, d.distance, d.tupleOf,
				d.findings))
		}))
}

// checkTuples checks all tuples by the levels.
func (d *device) checkTuples(ctx context.Context) error {
	return d.eachPart(ctx, func(pairs uint64, n, first int64) error {
		return d.launch(checkTuplesKernel(pairs, uint64(n), uint64(first), d.parent, d.jump, d.words, d.tupleOf,
			d.findings))
	})
}

// eachPart calls check with the pairs of n tuples, from number first on, for all parts of the list.
func (d *device) eachPart(ctx context.Context, check func(pairs uint64, n, first int64) error) error {
	if !d.again {
		err := check(d.pairs, d.stored, 0)
		if d.stored < d.tuples {
			err = errors.Join(err, check(d.others, d.tuples-d.stored, d.stored))
		}
		return err
	}
	for first := int64(0); first < d.tuples; first += partTuples {
		n := min(d.tuples-first, partTuples)
		if err := errors.Join(ctx.Err(), d.generate(d.part, first, n), d.unpack(d.part, n, first, d.pairs),
			check(d.pairs, n, first)); err != nil {
			return err
		}
	}
	return nil
}
