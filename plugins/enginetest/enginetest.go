// SPDX-License-Identifier: Apache-2.0

// Package enginetest is the conformance suite for engines: the contract of package plugins as a list of cases, which
// run under go test (Test) and from a command (Run).
//
// Each case opens a new engine and has a time limit. A failure has the graph and the root, the expected answer and the
// actual one. Parents and distances are judged by the host's validator (package validate), and levels compared with
// those of graph.CSR.
//
// An engine of several processes (plugins.Description.Spreads) is tested by teps conform, which starts its processes.
// Under go test it is one process with the zero plugins.Place.
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

// Limit is the maximum time of one case. The slowest one makes two searches of some 70,000 levels.
const Limit = 2 * time.Minute

// Cases returns all cases in the order in which they run.
func Cases() []Case {
	return slices.Concat([]Case{
		{"describe/words", wellDescribed, anywhere, "Texts, devices and memory are well formed."},
		{"describe/options", wellFormedOptions, anywhere, "Options are well formed, and defaults pass their own checks."},
		{"describe/stable", sameDescription, anywhere, "Describe returns the same before and after Construct."},
	}, graphCases(), pathCases(), []Case{
		{"search/any-order", anyOrder, always, "Searches are correct in any order of roots, also of the same root again."},
		{"search/other-component", otherComponent, always, "No parents of a search of another component are left."},
		{"search/parent-length", parentLength, always, "The parent array may have another length in each search."},
		{"search/refused", searchRefused, always, "ErrRoot for a root outside of parent, ErrParent for a short array."},
		{"search/before-construct", beforeConstruct, always, "ErrNotConstructed for a search without a graph."},
		// Skipped for an engine without plugins.Repeater.
		{"repeat/duration", repeatDuration, always, "Repeat searches from the roots in turn, and leaves the last parents."},
		{"repeat/count", repeatCount, always, "Repeat is not much faster than Search: it searches a root again."},
		{"repeat/cancel", repeatCancel, always, "A canceled Repeat returns within two seconds, and the engine is usable."},
		{"repeat/refuses", repeatRefuses, always, "Repeat refuses Search's bad roots, no roots, and a duration of 0."},
		{"construct/again", constructAgain, always, "Each Construct replaces the graph: a smaller, a larger, an empty one."},
		{"construct/tuples-kept", tuplesKept, always, "The engine does not change the tuples."},
		{"construct/tuples-let-go", tuplesLetGo, always, "The host may overwrite the tuples after Construct."},
		{"construct/huge-label", hugeLabel, always, "ErrTuples or ErrMemory for a label beyond the engine's limits."},
		{"construct/recipe", fromRecipe, always, "An engine that makes tuples builds the same graph from a recipe."},
		{"options/values", values, always, "Defaults, choices, true, false and small bounds give correct results."},
		{"options/refused", refusedOptions, always, "ErrOption for unknown options and bad values, and no graph is left."},
		// A call may finish before it notices the end of its context, unless that came before the call.
		{"cancel/before", cancelBefore, always, "A context that has ended gives its error."},
		{"cancel/during-search", cancelDuringSearch, long, "A canceled Search returns in two seconds; the next is correct."},
		{"cancel/during-construct", cancelDuringConstruct, long, "The same for Construct."},
		{"report/search", searchReport, always, "A search's time is within the call; its levels are the right ones."},
		{"report/construct", constructReport, always, "Kernel 1's time, phases, bytes, entries and claims make sense."},
		// Clocks that leave out work. Bounds are wide and must be broken several times, because the machine may be busy.
		{"honest/clock", clockCoversCall, always, "A search's time covers most of its call."},
		{"honest/done", nothingAfterReturn, always, "After Search has returned, nothing writes to parent."},
		{"honest/nothing-learned", nothingLearned, long, "A second search of a root is not much faster."},
		{"close/ends", closeEnds, always, "After Close, calls return ErrClosed; a second Close is not an error."},
		{"close/others", closeOthers, long, "Engines can be opened and closed many times; others stay usable."},
		{"stress/many-roots", manyRoots, long, "A thousand searches of one graph are correct."},
		{"stress/cancel-at-random", cancelAtRandom, long, "Searches canceled at random moments leave nothing behind."},
		{"stress/memory", memoryKept, long, "A process does not grow with the number of searches."},
	})
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
	testSets(t, open, Cases(), options)
}

// TestQuick is Test with the cases that match one of the patterns (see Select) and do not take long, for options that
// change a part of an engine.
func TestQuick(t *testing.T, open Opener, patterns []string, options ...map[string]string) {
	t.Helper()
	cases, err := Select(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	testSets(t, open, slices.DeleteFunc(cases, func(c Case) bool { return c.runs == long }), options)
}

func testSets(t *testing.T, open Opener, cases []Case, options []map[string]string) {
	if len(options) == 0 {
		testCases(t, open, cases, nil)
	}
	for _, set := range options {
		t.Run(label(set), func(t *testing.T) { testCases(t, open, cases, set) })
	}
}

func testCases(t *testing.T, open Opener, cases []Case, options map[string]string) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if testing.Short() && c.runs == long {
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

// Run opens an engine, runs the case on it with the given options and closes it. It returns at the latest soon after
// the limit. A call that does not return is abandoned then, with its goroutine.
func (c Case) Run(ctx context.Context, open Opener, options map[string]string, limit time.Duration) Outcome {
	start := time.Now()
	limited, stop := context.WithTimeout(ctx, limit)
	defer stop()

	done := make(chan error, 2)
	go func() { done <- c.run(limited, open, options) }()
	defer context.AfterFunc(limited, func() {
		time.Sleep(2 * patience) // for a call that notices the end of its context
		done <- errors.New("want an end soon after a cancel; the call has not returned and was abandoned")
	})()
	err := <-done

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
	if missing := s.description.Unavailable; missing != "" && c.runs != anywhere {
		return skip("unavailable: " + missing)
	}
	return attempt(func() { c.check(s) })
}
