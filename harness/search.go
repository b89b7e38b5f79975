// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
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
	e.session.StartValidating(ctx)
	e.confirm = map[int]bool{first: true}                // the first and another one
	if first+1 < len(roots) && !e.in.graph.Regenerated { // the CPU takes minutes to make all tuples again
		e.confirm[first+1+rand.IntN(n-1)] = true
	}
	for range e.plan.WarmUps {
		if _, err := e.search(ctx, roots[0]); err != nil {
			return fmt.Errorf("warm-up from root %d: %w", roots[0], err)
		}
	}
	for i := first; i < len(roots); i++ {
		found, err := e.searchAndCheck(ctx, i)
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
		step.Add(1)
	}
	return nil
}

// searchAndCheck searches from root i of the run, timed, and validates.
func (e *engineRun) searchAndCheck(ctx context.Context, i int) (record.RootRecord, error) {
	found, err := e.search(ctx, e.in.roots[i])
	if err != nil {
		return found, err
	}
	found.Index = i
	how := Validated
	switch {
	case e.plan.Validate != record.AllRoots && i >= e.plan.Validate:
		how = CountOnly
	case e.confirm[i]:
		how = Confirmed
	}
	return found, e.validate(ctx, &found, how)
}

// search is kernel 2 or 3 from one root, timed.
func (e *engineRun) search(ctx context.Context, root graph.Vertex) (_ record.RootRecord, err error) {
	r := record.RootRecord{Root: root}
	if e.in.made.Label != nil {
		r.Label = new(e.in.label(root))
	}
	search := func(ctx context.Context) (_, _ time.Duration, err error) {
		var found Searched
		if err = cmp.Or(e.session.Ready(ctx), e.wake(ctx)); err == nil { // outside the clocks
			found, err = e.session.Search(ctx, root, false)
		}
		r.Time, r.Wall, r.Interference = found.Elapsed.Seconds(), found.Wall.Seconds(), found.Interference
		r.Levels, r.Phases, r.Ranks = found.Levels, found.Phases, found.Ranks
		return found.Elapsed, found.Wall, err
	}
	return r, e.timed(ctx, "search", e.plan.Timeout, maxRepeats, search)
}

// maxWake is the time after which no further call wakes an engine.
const maxWake = 100 * time.Millisecond

// wake makes untimed calls right before a timed one, until one takes at least 0.9 times as long as the one before it.
// The plan limits their number. Threads that slept while the host validated need some calls until they run where they
// ran before. These calls search from a vertex without neighbors, or once from another root if there is none.
func (e *engineRun) wake(ctx context.Context) error {
	root, limit := e.in.made.Isolated, e.plan.Wake
	if int64(root) >= e.in.graph.Vertices {
		root, limit = e.in.roots[0], min(limit, 1)
	}
	before := time.Duration(math.MaxInt64)
	for begin := time.Now(); limit > 0 && time.Since(begin) < maxWake; limit-- {
		found, err := e.session.Search(ctx, root, true)
		if err != nil {
			return fmt.Errorf("from vertex %d, untimed: %w", root, err)
		}
		if found.Wall >= before-before/10 {
			break
		}
		before = found.Wall
	}
	return nil
}

// validate checks the result of the last search against the five rules of its kernel, or only counts its
// tuples, and records the component or a violation.
func (e *engineRun) validate(ctx context.Context, r *record.RootRecord, how Validation) error {
	start := time.Now()
	v, err := e.session.Validate(ctx, r.Root, how)
	r.ValidatedBy, r.Confirmed, r.After = v.By, v.Confirmed, v.After
	if r.Validated = how != CountOnly; r.Validated {
		r.Validation = time.Since(start).Seconds()
	}
	if err == nil && r.Validated {
		r.Depth = &v.Tree.Depth
		if e.in.id.Kernel == record.SSSP {
			r.Farthest = new(float64(v.Tree.Farthest))
		}
	}
	var violation *validate.Violation
	if errors.As(err, &violation) {
		r.Rule, r.Violation = int(violation.Rule), violation.Error()
		return nil
	}
	r.SetTree(v.Tree)
	return err
}
