package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/harness"
)

// Observer is told what a sweep is doing, between runs.
type Observer interface {
	harness.Progress
	// Begin: the n-th of total entries to do is measured next; left is an estimate for it and all after it.
	Begin(e *Entry, n, total int, left Estimate)
	// Waiting: what is left is being measured by other processes.
	Waiting(entries []*Entry)
}

// Run measures what is to do, in order, and returns when every cell of the sweep has been measured, by this process or
// by another that shares the store. A cell that fails does not end the sweep; its entry says why. The error is about the
// sweep as a whole: the store cannot be written, or ctx ended.
func (s *Schedule) Run(ctx context.Context, host harness.Host, see Observer) error {
	if err := s.Store.Make(); err != nil {
		return err
	}
	if len(s.ToDo()) > 0 {
		if err := harness.AnnounceMeters(ctx, host, s.Sweep.Plan, see); err != nil {
			return err
		}
	}
	r := runner{Schedule: s, host: host, see: see, total: len(s.ToDo())}
	told := false
	for {
		// A cell that another process measures is looked at again: it may end, or leave the cell to us.
		left := s.unfinished()
		if len(left) == 0 {
			return nil
		}
		began, err := r.pass(ctx, left)
		if err != nil {
			return err
		}
		if waiting := s.unfinished(); !began && len(waiting) > 0 {
			if !told {
				see.Waiting(waiting)
				told = true
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pollBusy):
			}
		}
	}
}

// pollBusy is the time between two looks at cells that other processes measure.
const pollBusy = 250 * time.Millisecond

// unfinished are the entries that nobody has measured yet, as far as this process knows.
func (s *Schedule) unfinished() []*Entry {
	var out []*Entry
	for _, e := range s.Entries {
		if e.State.Open() || e.State == Busy {
			out = append(out, e)
		}
	}
	return out
}

// runner is a Run.
type runner struct {
	*Schedule
	host   harness.Host
	see    Observer
	n      int // entries begun
	total  int
	warned bool           // of another process
	in     *harness.Input // of the scale that is being measured; nil before its first cell
	scale  int            // of in
}

// pass goes through entries once and measures those that it can have. began says whether there was one.
func (r *runner) pass(ctx context.Context, entries []*Entry) (began bool, err error) {
	defer func() { err = errors.Join(err, r.release()) }()
	for i, e := range entries {
		if ctx.Err() != nil {
			return began, ctx.Err()
		}
		// Only a cell that was retried can be claimed in a state that is not open.
		run, state, result, err := r.Store.Claim(e.Cell, harness.NewManifest(r.Command, e.Plan, r.Software, r.Machine), e.retry)
		if run == nil {
			if state == "" || state.Open() {
				return began, err
			}
			if state == Busy && !r.warned {
				r.warned = true
				r.see.Note("another teps measures in this store; on one machine, two at once disturb each other's times")
			}
			if e.keep(state, result, err); state == Done {
				r.Model.Learn(result)
			}
			continue
		}
		began, e.retry = true, false
		r.n++
		r.see.Begin(e, r.n, max(r.n, r.total), r.Model.Left(entries[i:]))
		if err := r.measure(ctx, e, run); err != nil {
			return began, err
		}
	}
	return began, nil
}

// measure measures a cell that was claimed.
func (r *runner) measure(ctx context.Context, e *Entry, run *harness.Store) (err error) {
	defer func() { err = errors.Join(err, run.Close()) }()
	if err := r.input(ctx, e); err != nil {
		return err
	}
	start := time.Now()
	result, err := harness.ExecuteOn(ctx, r.host, run, r.in, r.see)
	if err != nil {
		return err
	}
	wall := time.Since(start).Seconds()
	state := stateOf(result)
	if e.keep(state, result, nil); state == Done {
		r.Model.learnWall(result, wall)
	}
	return nil
}

// input makes the tuples of a cell's scale, unless the cell before had the same.
func (r *runner) input(ctx context.Context, e *Entry) error {
	if r.in != nil && r.scale == e.Scale() {
		return nil
	}
	if err := r.release(); err != nil {
		return err
	}
	in, err := harness.NewInput(ctx, r.host, e.Plan.Recipe(e.Scale()), e.Plan.Roots, r.see)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Folder, err)
	}
	r.in, r.scale = in, e.Scale()
	return nil
}

func (r *runner) release() error {
	if r.in == nil {
		return nil
	}
	in := r.in
	r.in = nil
	return in.Close()
}
