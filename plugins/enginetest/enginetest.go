// Package enginetest is the conformance suite for engines: the contract of package plugins as a list of cases.
//
// A Case does not depend on package testing, so the same list runs under go test (Test) and from a command (Run). Each
// case opens an engine of its own, so that it cannot disturb another one, and has a time limit, so that an engine that
// hangs is a failure. A failure says what was searched, what was wanted and what came.
//
// Results are compared with the oracle of package graph: the parents must form a tree with exactly the oracle's levels
// in which every parent is a neighbour, no matter which one, and the host's validator must accept them as well. Two
// parent arrays are never compared with each other.
//
// The suite is tested with package serial, a correct engine, and with engines that are wrong in one way each
// (mutants_test.go).
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// Limit is how long one case may take. The slowest case makes two searches of some 70,000 levels, which takes seconds
// on an engine that launches kernels or sends messages between levels.
const Limit = 2 * time.Minute

// Cases returns all cases in the order in which they run: those that a reader looks at first come first.
func Cases() []Case {
	return slices.Concat(describeCases(), graphCases(), searchCases(), repeatCases(), constructCases(), optionCases(),
		cancelCases(), reportCases(), honestCases(), closeCases(), stressCases())
}

// Select returns the cases whose names match one of the patterns of filepath.Match, such as search/*, or all cases if
// there is no pattern. A pattern that matches no case is an error.
func Select(patterns ...string) ([]Case, error) {
	if len(patterns) == 0 {
		return Cases(), nil
	}
	matches := func(c Case, pattern string) bool {
		match, err := filepath.Match(pattern, c.Name)
		return match && err == nil
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(Cases(), func(c Case) bool { return matches(c, pattern) }) {
			return nil, fmt.Errorf("no case matches %q: give a name such as graph/path or a group such as search/*", pattern)
		}
	}
	return slices.DeleteFunc(Cases(), func(c Case) bool {
		return !slices.ContainsFunc(patterns, func(pattern string) bool { return matches(c, pattern) })
	}), nil
}

// Outcome is the result of one case.
type Outcome struct {
	Elapsed time.Duration
	Skipped string // why the case was not run, such as "unavailable: no GPU"; empty: it was run
	Err     error  // nil: passed or skipped
}

// Test runs every case as a subtest, once for each set of options (or once without options if there is no set):
//
//	func TestConformance(t *testing.T) {
//		open := func(context.Context) (plugins.Engine, error) { return cpu.New(), nil }
//		enginetest.Test(t, open, nil, map[string]string{"threads": "3"})
//	}
//
// Cases that need a missing device are skipped, and with -short also the cases that take longest.
func Test(t *testing.T, open Opener, options ...map[string]string) {
	t.Helper()
	if len(options) == 0 {
		testCases(t, open, nil)
	}
	for _, set := range options {
		t.Run(label(set), func(t *testing.T) { testCases(t, open, set) })
	}
}

func testCases(t *testing.T, open Opener, options map[string]string) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && c.long {
				t.Skip("takes long; left out with -short")
			}
			switch o := c.Run(t.Context(), open, options, Limit); {
			case o.Skipped != "":
				t.Skip(o.Skipped)
			case o.Err != nil:
				t.Errorf("%v\nThe case: %s", o.Err, c.About)
			}
		})
	}
}

// Run opens an engine, runs the case on it with the given options and closes it. It returns soon after the limit at the
// latest; a call that does not return is abandoned then, with its goroutine.
func (c Case) Run(ctx context.Context, open Opener, options map[string]string, limit time.Duration) Outcome {
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
		case err = <-done: // it has noticed the end of its context
		case <-time.After(2 * patience):
			err = errors.New("want an end soon after a cancel; the call is still running and was abandoned")
		}
	}

	o := Outcome{Elapsed: time.Since(start)}
	var skipped skip
	switch {
	case errors.As(err, &skipped):
		o.Skipped = string(skipped)
	case err != nil && ctx.Err() != nil:
		o.Skipped = "stopped: " + ctx.Err().Error() // by the caller, not by the engine
	case err != nil && limited.Err() != nil:
		o.Err = fmt.Errorf("enginetest %s: time limit of %v: %w", c.Name, limit, err)
	case err != nil:
		o.Err = fmt.Errorf("enginetest %s: %w", c.Name, err)
	}
	return o
}

// run opens an engine, describes it, checks it and closes it. A panic of the engine becomes an error.
func (c Case) run(ctx context.Context, open Opener, options map[string]string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("want no panic, got %v\n%s", r, debug.Stack())
		}
	}()
	e, err := open(ctx)
	if err != nil {
		return fmt.Errorf("opening the engine: %w", err)
	}
	s := &subject{ctx: ctx, engine: e, open: open, options: options}
	defer func() { err = errors.Join(err, s.release()) }()
	if s.description, err = e.Describe(ctx); err != nil {
		return fmt.Errorf("want a description from Describe, got the error: %w", err)
	}
	if missing := s.description.Unavailable; missing != "" && !c.anywhere {
		return skip("unavailable: " + missing)
	}
	return attempt(func() { c.check(s) })
}
