// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

const maxNotes = 3 // about wrong searches

// searchAll searches from every root that earlier sessions have not searched from.
func (e *engineRun) searchAll(ctx context.Context) (err error) {
	roots, first := e.in.roots, len(e.done)
	if first == len(roots) {
		return nil
	}
	n, noun := len(roots)-first, "roots"
	if n == 1 {
		noun = "root"
	}
	step := e.step("search", int64(n))
	invalid := 0
	defer func() { step.End(fmt.Sprintf("%d %s, %d invalid", n, noun, invalid), err) }()
	e.prepareDevice(ctx)
	defer e.device.close()
	for range e.plan.WarmUps {
		if _, err := e.search(ctx, roots[0]); err != nil {
			return fmt.Errorf("warm-up from root %d: %w", roots[0], err)
		}
	}
	for i := first; i < len(roots); i++ {
		start := time.Now()
		found, err := e.search(ctx, roots[i])
		if err == nil {
			found.Index = i
			err = e.check(ctx, &found)
		}
		if err == nil {
			err = e.record(record.Entry{Root: &found})
		}
		if err != nil {
			return fmt.Errorf("root %d (%d of %d): %w", roots[i], i+1, len(roots), err)
		}
		e.done = append(e.done, found)
		if found.Broken() {
			if invalid++; invalid <= maxNotes { // the record has all of them
				e.note("root %d is invalid: %s", found.Root, found.Violation)
			}
		}
		e.did(e.in, "search", e.spec.Name, start)
		step.Add(1)
	}
	return nil
}

// search is kernel 2 from one root. All entries of the parent array are overwritten first, outside the clock, so that
// an entry that the engine does not write is detected.
func (e *engineRun) search(ctx context.Context, root graph.Vertex) (record.RootRecord, error) {
	var t plugins.Traversal
	outside := maxDelay + plugins.MoveTime(int64(len(e.parents))*8)
	process, _ := e.engine.(interface{ PID() int })
	now := func() *machine.Moment {
		if process == nil {
			return nil
		}
		return machine.Now(process.PID())
	}
	var before *machine.Moment
	prepare := func() {
		before = now() // first: nothing of the host should run in the call
		e.in.validator.Overwrite(e.parents)
	}
	search := func(ctx context.Context) (_ time.Duration, err error) {
		t, err = e.engine.Search(ctx, root, e.parents)
		return t.Elapsed, err
	}
	wall, repeats, err := e.timed(ctx, "search", outside, prepare, search)
	if err != nil {
		return record.RootRecord{}, err
	}
	return record.RootRecord{
		Root: root, Label: e.in.labelOf(root), Time: t.Elapsed.Seconds(), Wall: wall.Seconds(), Repeats: repeats,
		Interference: now().Since(before), Levels: t.Levels, Phases: t.Phases, Ranks: t.Ranks,
	}, nil
}

// idleSearches is the number of untimed searches from a vertex without neighbors.
const idleSearches = 5

// idle measures the cost of a call: the part outside the engine's clock, in seconds, which the searches may leave out,
// too. It is the median of untimed searches from a vertex without neighbors, or 0 if there is none.
func (e *engineRun) idle(ctx context.Context) (float64, error) {
	var rest []float64
	for int64(e.in.isolated) < e.in.graph.Vertices && len(rest) < idleSearches {
		found, err := e.search(ctx, e.in.isolated)
		if err != nil {
			return 0, fmt.Errorf("vertex %d, which has no neighbors: %w", e.in.isolated, err)
		}
		rest = append(rest, found.Wall-found.Time)
	}
	return units.Median(rest), nil
}

// check validates the parents of the last search, or only counts its tuples if the plan validates fewer roots.
func (e *engineRun) check(ctx context.Context, r *record.RootRecord) error {
	if e.plan.Validate == record.AllRoots || r.Index < e.plan.Validate {
		return e.validate(ctx, r)
	}
	tree, err := e.in.validator.Count(ctx, r.Root, e.parents)
	return keep(r, tree, err)
}

// validate checks the parents of the last search against the five rules of the specification.
func (e *engineRun) validate(ctx context.Context, r *record.RootRecord) error {
	start := time.Now()
	tree, err := e.judge(ctx, r)
	r.Validated, r.Validation = true, time.Since(start).Seconds()
	if err == nil {
		r.Depth = &tree.Depth
		if len(r.Levels) > tree.Depth+2 { // levels 0 to Depth, and one that discovers nothing
			return fmt.Errorf("the engine reports %d levels of a search of depth %d", len(r.Levels), tree.Depth)
		}
	}
	return keep(r, tree, err)
}

// keep records the validator's result: the component or a violation.
func keep(r *record.RootRecord, tree validate.Tree, err error) error {
	var violation *validate.Violation
	if errors.As(err, &violation) {
		r.Rule, r.Violation = int(violation.Rule), violation.Error()
		return nil
	}
	r.SetTree(tree)
	return err
}
