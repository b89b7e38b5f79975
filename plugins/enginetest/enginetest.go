// Package enginetest is the conformance suite that every engine passes: what the contract in package plugins says,
// as cases that can be run.
//
// A Case is a value and knows nothing of package testing, so the same list runs under go test (Test) and from a
// command (Run). Each case opens an engine of its own, so one case cannot disturb another, and it runs under a time
// limit, so an engine that hangs costs a failure and not the run. A failure says what was searched, what was wanted
// and what came.
//
// Results are held to the oracle of package graph: the engine's parents must be a tree with exactly the oracle's
// levels in which every parent is a neighbour, whichever neighbour that is, and the host's own validator must accept
// them too. No two parent arrays are ever compared.
//
// The suite is itself tested with engines that are wrong in one way each (see mutants_test.go) and with Serial, a
// small engine that is right.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// Limit is how long one case may take before it fails. The slowest case is two searches of some 70,000 levels, which
// takes seconds on an engine with launches or messages between its levels.
const Limit = 2 * time.Minute

// patience is how long an engine may go on after its context has ended; the contract says "within a second or two".
const patience = 2 * time.Second

// Opener opens a fresh engine; the suite closes it. It is called at least once for every case.
//
// When the value also has the methods of Allocator, the suite takes tuples and parents from it.
type Opener func(ctx context.Context) (plugins.Engine, error)

// Case is one thing that every engine must do.
type Case struct {
	Name  string // group/what, unique
	About string // one sentence that says what must hold

	anywhere bool // can run on an engine that says it is unavailable
	long     bool // takes long on an engine with launches or messages between its levels
	check    func(ctx context.Context, s *subject) error
}

// Cases returns all cases in the order in which they are run: what a person would look at first comes first.
func Cases() []Case {
	var all []Case
	for _, group := range [][]Case{
		describing(), graphs(), searching(), repeating(), constructing(), choosing(), cancelling(), timing(), honesty(), closing(), stressing(),
	} {
		all = append(all, group...)
	}
	return all
}

// Outcome is what came of one case.
type Outcome struct {
	Case    Case
	Options map[string]string // that the engine was given
	Elapsed time.Duration
	Skipped string // why the case was not run ("unavailable: no GPU"); empty: it was
	Err     error  // nil: passed or skipped
}

// Summary counts outcomes.
type Summary struct{ Passed, Failed, Skipped int }

// Run runs every case once for each set of options (once without any when there is none) and reports each outcome as
// it comes. The error is ctx's, when ctx ended before the last case; failed cases are in the Summary alone.
func Run(ctx context.Context, open Opener, report func(Outcome), options ...map[string]string) (Summary, error) {
	if len(options) == 0 {
		options = []map[string]string{nil}
	}
	var sum Summary
	for _, set := range options {
		for _, c := range Cases() {
			if err := ctx.Err(); err != nil {
				return sum, err
			}
			o := c.Run(ctx, open, set)
			switch {
			case o.Skipped != "":
				sum.Skipped++
			case o.Err != nil:
				sum.Failed++
			default:
				sum.Passed++
			}
			report(o)
		}
	}
	return sum, nil
}

// Run opens an engine, runs the case on it with the given options and closes it. It returns at the latest shortly
// after Limit; a call that an engine never returns from is abandoned then, with its goroutine.
func (c Case) Run(ctx context.Context, open Opener, options map[string]string) Outcome {
	return c.runWithin(ctx, open, options, Limit)
}

func (c Case) runWithin(ctx context.Context, open Opener, options map[string]string, limit time.Duration) Outcome {
	start := time.Now()
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()

	done := make(chan error, 1)
	go func() { done <- c.run(limited, open, options) }()
	var err error
	select {
	case err = <-done:
	case <-limited.Done():
		select {
		case err = <-done: // stopped as it should
		case <-time.After(2 * patience):
			err = fmt.Errorf("want an end within %v and soon after a cancel; the call is still running and was abandoned", limit)
		}
	}

	o := Outcome{Case: c, Options: options, Elapsed: time.Since(start)}
	var skipped skip
	switch {
	case errors.As(err, &skipped):
		o.Skipped = string(skipped)
	case err != nil && ctx.Err() != nil:
		o.Skipped = "stopped: " + ctx.Err().Error() // by the caller, which says nothing of the engine
	case err != nil && limited.Err() != nil:
		o.Err = fmt.Errorf("enginetest %s: time limit of %v: %w", c.Name, limit, err)
	case err != nil:
		o.Err = fmt.Errorf("enginetest %s: %w", c.Name, err)
	}
	return o
}

// skip is the reason for which a case was not run.
type skip string

func (s skip) Error() string { return string(s) }

// run is the case itself, without a limit: open, describe, check, close. A panic becomes an error.
func (c Case) run(ctx context.Context, open Opener, options map[string]string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("want no panic, got %v at %s", r, panicSite(debug.Stack()))
		}
	}()
	e, err := open(ctx)
	if err != nil {
		return fmt.Errorf("opening the engine: %w", err)
	}
	s := &subject{engine: e, open: open, options: options}
	defer func() {
		err = errors.Join(err, s.release())
	}()
	if s.description, err = e.Describe(ctx); err != nil {
		return fmt.Errorf("Describe: want a description, got the error: %w", err)
	}
	if missing := s.description.Unavailable; missing != "" && !c.anywhere {
		return skip("unavailable: " + missing)
	}
	return c.check(ctx, s)
}

// panicSite names the place of a panic: the first frame below the panic itself.
func panicSite(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") && i+3 < len(lines) {
			frame := i + 2
			for frame+1 < len(lines) && strings.HasPrefix(lines[frame], "runtime.") {
				frame += 2
			}
			return strings.TrimSpace(lines[frame+1])
		}
	}
	return "an unknown place"
}
