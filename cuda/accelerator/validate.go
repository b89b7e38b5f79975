// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"context"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
)

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
	if err = d.pin(parent); d.pinned.Device != 0 {
		err = errors.Join(err, read(d.pinned.Device, 0, int64(8*n)))
	} else if err == nil {
		err = d.stage.Upload(ctx, driver.Bytes(parent), read)
	}
	if err != nil {
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

// pin makes parents readable for the device, which spares copies, where the system allows it. They are usually the same
// memory for all searches.
func (d *device) pin(parent []graph.Vertex) error {
	if &parent[0] == d.tried {
		return nil
	}
	err := d.unpin()
	d.tried = &parent[0]
	if err == nil {
		d.pinned, _ = driver.PinBytes(driver.Bytes(parent)) // or not
	}
	return err
}

func (d *device) unpin() (err error) {
	if d.pinned.Device != 0 {
		err = d.pinned.Unpin()
	}
	d.pinned, d.tried = driver.Pinned{}, nil
	return err
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
