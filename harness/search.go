// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

const maxNotes = 3 // about wrong searches

// searchAll searches from every root that earlier sessions have not searched from, and, between these searches, from
// some roots drawn at random that nobody can know before: their times must be like those of the others.
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
	draw := map[int]int{}                   // before which search how many
	if len(roots) >= record.OfficialRoots { // fewer tell nothing
		for range drawnSearches - len(e.drawn) {
			draw[first+rand.IntN(n)]++
		}
	}
	for i := first; i < len(roots); i++ {
		for range draw[i] {
			if root, ok := e.in.other(); ok {
				found, err := e.searchAndCheck(ctx, record.RootRecord{Index: -1, Root: root})
				if err == nil {
					err = e.record(record.Entry{Drawn: &found})
				}
				if err != nil {
					return fmt.Errorf("root %d, drawn at random: %w", root, err)
				}
				e.drawn = append(e.drawn, found)
			}
		}
		start := time.Now()
		found, err := e.searchAndCheck(ctx, record.RootRecord{Index: i, Root: roots[i]})
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

// drawnSearches is the number of searches from roots that nobody can know.
const drawnSearches = 4

// other draws a vertex with a neighbor that is not a root of the run, or reports that there is none.
func (in *Input) other() (graph.Vertex, bool) {
	for try := range in.graph.Vertices {
		v := graph.Vertex(rand.Int64N(in.graph.Vertices))
		if try > maxDraws {
			v = graph.Vertex(try)
		}
		if in.others[v/64]>>(v%64)&1 != 0 {
			return v, true
		}
	}
	return 0, false
}

// maxDraws is how many vertices are drawn before the first suitable one is taken.
const maxDraws = 1000

// searchAndCheck searches from a root, timed, and validates.
func (e *engineRun) searchAndCheck(ctx context.Context, r record.RootRecord) (record.RootRecord, error) {
	found, err := e.search(ctx, r.Root)
	if err != nil {
		return found, err
	}
	found.Index = r.Index
	returned := e.moment()
	if err := e.check(ctx, &found); err != nil {
		return found, err
	}
	found.After = e.moment().Ran(returned)
	return found, nil
}

// moment returns a snapshot of the engine's process, or nil for an engine in this process.
func (e *engineRun) moment() *machine.Moment {
	if process, ok := e.engine.(interface{ PID() int }); ok {
		return machine.Now(process.PID())
	}
	return nil
}

// freezer is an engine whose process the host can stop between two calls.
type freezer interface {
	Freeze()
	Thaw()
}

func (e *engineRun) freeze() {
	if process, ok := e.engine.(freezer); ok {
		process.Freeze()
	}
}

func (e *engineRun) thaw() {
	if process, ok := e.engine.(freezer); ok {
		process.Thaw()
	}
}

// search is kernel 2 from one root, timed. All entries of the parent array are overwritten first, so that an entry that
// the engine does not write is detected. The engine is stopped as soon as the call has returned.
func (e *engineRun) search(ctx context.Context, root graph.Vertex) (record.RootRecord, error) {
	var t plugins.Traversal
	var before *machine.Moment
	prepare := func(ctx context.Context) error {
		e.thaw()
		e.in.validator.Overwrite(e.parents)
		before = e.moment()
		return e.wake(ctx)
	}
	search := func(ctx context.Context) (_ time.Duration, err error) {
		t, err = e.engine.Search(ctx, root, e.parents)
		return t.Elapsed, err
	}
	apart := func(elapsed, wall time.Duration) bool {
		return e.spec.Apart(e.in.cost, elapsed.Seconds(), wall.Seconds())
	}
	wall, repeats, err := e.timed(ctx, "search", apart, prepare, e.freeze, search)
	if err != nil {
		return record.RootRecord{}, err
	}
	return record.RootRecord{
		Root: root, Label: e.in.labelOf(root), Time: t.Elapsed.Seconds(), Wall: wall.Seconds(), Repeats: repeats,
		Interference: e.moment().Since(before), Levels: t.Levels, Phases: t.Phases, Ranks: t.Ranks,
	}, nil
}

// maxWake is how long an engine is woken, but for the last call.
const maxWake = 100 * time.Millisecond

// markStride is the distance of the parents that are overwritten after the engine was woken.
const markStride = 509

// wake makes untimed calls right before a timed one, until one takes no longer than the fastest before it and a tenth,
// at most as many as the plan says: threads that have slept while the host validated need some calls until they run
// where they ran before. They search from a vertex without neighbors, or once from another root if there is none.
func (e *engineRun) wake(ctx context.Context) error {
	root, limit := e.in.isolated, e.plan.Wake
	if int64(root) >= e.in.graph.Vertices {
		root, limit = e.in.roots[0], min(limit, 1)
	}
	begin := time.Now()
	for i := 0; i < limit && time.Since(begin) < maxWake; i++ {
		start := time.Now()
		if _, err := e.engine.Search(ctx, root, e.parents); err != nil {
			return fmt.Errorf("from vertex %d, untimed: %w", root, err)
		}
		took := time.Since(start)
		if e.awake != 0 && took <= e.awake+e.awake/10 {
			break
		}
		e.awake = cmp.Or(min(e.awake, took), took)
	}
	for i := rand.IntN(markStride); i < len(e.parents); i += markStride {
		e.parents[i] = graph.Unwritten
	}
	return nil
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
