// SPDX-License-Identifier: Apache-2.0

package rpc

// What an engine can do wrong during a call, and what the host reports.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
	"github.com/tepsbench/teps/plugins/testdata/bycpu"
)

// call makes a call of an engine by its name.
func (s *stage) call(ctx context.Context, client *Client, which string) error {
	switch which {
	case "describe":
		return must.Err(client.Describe(ctx))
	case "construct":
		return must.Err(client.Construct(ctx, s.triangle()))
	}
	return must.Err(client.Search(ctx, 0, plugins.Output{Parent: s.parents(3)}))
}

func TestCrashIsReportedWithTheLastOutput(t *testing.T) {
	for act, words := range map[string][]string{
		"panics in describe": {"exit status 2", "panic: boom in describe"},
		"exits in construct": {"exit status 3", "these are my last words"},
		"faults in search":   {"signal: segmentation fault"},
	} {
		t.Run(act, func(t *testing.T) {
			s := newStage(t)
			client := s.open(act)
			_, which, _ := strings.Cut(act, " in ")
			must.Is(t, s.call(context.Background(), client, which), ErrCrashed, words...)
			must.Is(t, s.call(context.Background(), client, "describe"), ErrCrashed)
			must.Do(client.Close()) // its crash was reported
			must.Is(t, must.Err(client.Describe(context.Background())), plugins.ErrClosed)
			s.works(s.parents(3))
		})
	}
}

func TestDeathBetweenCallsIsReportedOnce(t *testing.T) {
	s := newStage(t)
	describe := func(c *Client) error { return s.call(t.Context(), c, "describe") }
	for _, next := range []func(*Client) error{describe, (*Client).Close} {
		client := s.open("serial")
		kill(t, client.PID())
		client.process.hasEnded(time.Minute)
		must.Is(t, next(client), ErrCrashed, "signal: killed", "out of memory?")
	}
}

func TestEngineThatClosesTheConnectionIsKilled(t *testing.T) {
	s := newStage(t)
	client := s.open("cuts the connection")
	must.Is(t, s.call(t.Context(), client, "search"), ErrCrashed, "closed the connection")
}

func TestEngineThatWritesToTheTuplesCrashes(t *testing.T) {
	s := newStage(t)
	client, g := s.open("writes to tuples"), s.triangle()
	must.Is(t, must.Err(client.Construct(context.Background(), g)), ErrCrashed)
	if g.Tuples[0] != graph.MakeEdge(0, 1) {
		t.Errorf("the first tuple has become %v", g.Tuples[0])
	}
}

// searching starts a search, waits until it has reached its engine, which writes a note, and returns the note and a
// channel for the error of the search.
func (s *stage) searching(ctx context.Context, act string) (client *Client, text string, returned chan error) {
	s.t.Helper()
	note := filepath.Join(s.t.TempDir(), "note")
	client = s.open(act, moreKey+"="+note)
	parents := s.parents(3)
	returned = make(chan error, 1)
	go func() { returned <- must.Err(client.Search(ctx, 0, plugins.Output{Parent: parents})) }()
	for {
		select {
		case err := <-returned:
			s.t.Fatalf("the call returned before its engine wrote a note: %v", err)
		case <-time.After(time.Millisecond):
			if text, err := os.ReadFile(note); err == nil && len(text) > 0 {
				return client, string(text), returned
			}
		}
	}
}

func TestHangingEngineIsKilledWithItsChildren(t *testing.T) {
	s := newStage(t)
	s.limits.grace = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, text, returned := s.searching(ctx, "hangs with a child")
	start := time.Now()
	cancel()
	err := <-returned
	must.Is(t, err, context.Canceled)
	must.Is(t, err, ErrHung, "no answer 300ms after the call was canceled", "after its start", "killed")
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("killed after %v, want 0.3 s and little more", took)
	}
	err = s.call(context.Background(), client, "describe")
	if !errors.Is(err, ErrHung) || errors.Is(err, context.Canceled) {
		t.Errorf("a later call, whose context is alive: got %v, want ErrHung alone", err)
	}
	if child, err := strconv.Atoi(text); err != nil || !must.Ends(child) {
		t.Errorf("the engine's child %s is still there", text)
	}
	s.works(s.parents(3))
}

func TestEngineHangingInCloseIsKilled(t *testing.T) {
	s := newStage(t)
	s.limits.grace, s.limits.close = 100*time.Millisecond, 200*time.Millisecond
	must.Is(t, s.open("hangs in close").Close(), ErrHung)
}

func TestEngineHangingInDescribeIsKilled(t *testing.T) {
	s := newStage(t)
	client := s.open("hangs in describe")
	s.limits.start, s.limits.grace = 200*time.Millisecond, 100*time.Millisecond
	must.Is(t, s.call(t.Context(), client, "describe"), ErrHung, "it may take at most 200ms")
	must.Is(t, must.Err(s.Open(t.Context(), Program{Path: client.file.path})), ErrHung) // at once
}

func TestCancelReachesTheEngineAndItStaysUsable(t *testing.T) {
	s := newStage(t)
	client := s.open("waits")
	for _, after := range []time.Duration{
		0, time.Microsecond, 100 * time.Microsecond, time.Millisecond, 50 * time.Millisecond,
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(after, cancel)
		_, err := client.Search(ctx, 0, plugins.Output{Parent: s.parents(3)})
		if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("canceled after %v: got %v, want Canceled alone", after, err)
		}
	}
	parents, words := s.parents(3), "" // of the engine, which a call may not reach in time on a busy machine
	for timeout := 300 * time.Millisecond; !strings.Contains(words, "waiter: canceled"); timeout *= 2 {
		if timeout > time.Minute {
			t.Fatalf("the engine does not end calls after their deadlines: %s", words)
		}
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		_, err := client.Search(ctx, 0, plugins.Output{Parent: parents})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want DeadlineExceeded alone", err)
		}
		words = err.Error()
	}
	must.Do(s.call(context.Background(), client, "construct"))
}

func TestConcurrentCallIsRefusedAndCloseEndsTheRunningOne(t *testing.T) {
	s := newStage(t)
	client, _, returned := s.searching(context.Background(), "waits")
	must.Is(t, must.Err(client.Describe(context.Background())), ErrBusy)
	must.Do(s.Close())
	must.Is(t, <-returned, plugins.ErrClosed)
}

func TestOutputOfAnEngineIsLoggedAndKept(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(t.TempDir(), "log")
	s.KeepOutput(path)
	client := s.open("chatters")
	must.Do(s.call(context.Background(), client, "search"))
	must.Do(client.Close())
	logged := errors.New(s.journal.String())
	must.Is(t, logged, logged, `level=INFO msg="on standard output" engine=actor from=stdout`,
		`level=INFO msg="on standard error" engine=actor from=stderr`, `through log" engine=actor from=stderr`,
		`WARN through slog number=42" engine=actor from=stderr`)
	kept := errors.New(string(must.Get(os.ReadFile(path))))
	must.Is(t, kept, kept, " actor stdout: on standard output\n", " actor stderr: on standard error\n")
}

func TestOutputOfEnginesIsKept(t *testing.T) {
	var h Host
	var log journal
	dir := t.TempDir()
	first, second, full := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "full")
	add := func(engine, line string) {
		h.output.add(slog.New(slog.NewTextHandler(&log, nil)), engine, "stderr", line)
	}
	add("early", "before there is a file")
	h.KeepOutput(first)
	if got := entries(dir); got != "" {
		t.Errorf("got %s, want no file before the first line", got)
	}
	add("cpu", "one")
	add("cpu", "red \x1b[31m")
	h.KeepOutput(second)
	add("other", "two")
	h.KeepOutput(first) // as by a resume
	add("cpu", "three")
	h.KeepOutput(full)
	h.output.left = 3 * maxText // as after the rest of 16 MiB
	for range 5 {
		add("flood", strings.Repeat("x", maxText))
	}
	h.KeepOutput(filepath.Join(dir, "missing", "log"))
	add("cpu", "four")
	add("cpu", "five")
	h.KeepOutput("")
	add("late", "after the run")

	clock := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3} `)
	for path, want := range map[string]string{
		first:  "cpu stderr: one\ncpu stderr: red ?[31m\ncpu stderr: three\n",
		second: "other stderr: two\n",
		full:   "\nmore than 16 MiB: the rest is not kept\n",
	} {
		text := clock.ReplaceAllString(string(must.Get(os.ReadFile(path))), "")
		if path == full && len(text) > 2*maxText && len(text) < 3*maxText {
			text = text[len(text)-len(want):]
		}
		if text != want {
			t.Errorf("%s: got %.200q, want %q", filepath.Base(path), text, want)
		}
	}
	if got := strings.Count(log.String(), "what engines print is not kept"); got != 1 {
		t.Errorf("got %d warnings, want 1:\n%s", got, log.String())
	}
}

// Package cuda/accelerator compares the verdicts of a device with those of package validate; here they only travel.
func TestAcceleratorBehindAProcess(t *testing.T) {
	s := newStage(t)
	a := s.open("accelerates")
	must.Is(t, must.Err(a.Validate(t.Context(), 0, plugins.Output{Parent: s.parents(4)})), plugins.ErrNotConstructed)
	must.Is(t, must.Err(a.Search(t.Context(), 0, plugins.Output{Parent: s.parents(4)})), plugins.ErrUnavailable)
	must.Is(t, must.Err(a.Construct(t.Context(), plugins.Input{})), plugins.ErrUnavailable)
	recipe := graph.Kronecker{Scale: 10, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	tuples, weights := first(s.Reserve(recipe.Tuples())), first(s.Weights(recipe.Tuples()))
	want, wantWeights := make([]graph.Edge, len(tuples)), make([]float32, len(tuples))
	must.Do(a.Generate(t.Context(), plugins.Input{Recipe: &recipe, Tuples: tuples}),
		recipe.Generate(t.Context(), want, 0, 0),
		s.Trim(tuples), a.Generate(t.Context(), plugins.Input{Recipe: &recipe, Weights: weights}),
		graph.Weights(t.Context(), recipe, 0, 0, wantWeights, 0, 0))
	if !slices.Equal(tuples, want) || !slices.Equal(weights, wantWeights) {
		t.Fatal("other tuples or weights than those of package graph")
	}
	parents, distances := s.parents(recipe.Vertices()), first(s.Distances(recipe.Vertices()))
	validator := must.Get(validate.New(tuples, recipe.Vertices(), 0))
	must.Do(validator.SetWeights(weights))
	weighted := must.Get(graph.NewWeightedCSR(tuples, weights, recipe.Vertices()))
	root, other := tuples[0].Ends()
	search := first(weighted.Search(root))
	paths, lengths := must.Get2(weighted.ShortestPaths(root))
	for _, c := range []struct {
		load     func() error
		parent   []graph.Vertex
		distance []float32
	}{
		{func() error {
			return a.Load(t.Context(), plugins.Input{Tuples: tuples, Weights: weights}, recipe.Vertices())
		}, paths, distances},
		{func() error { return a.Load(t.Context(), plugins.Input{Tuples: tuples}, recipe.Vertices()) }, search, nil},
		{func() error { return a.Load(t.Context(), plugins.Input{Recipe: &recipe}, recipe.Vertices()) }, search, nil},
	} {
		must.Do(c.load())
		for _, parent := range []graph.Vertex{c.parent[other], other} { // right and wrong
			copy(parents, c.parent)
			copy(distances, lengths)
			parents[other] = parent
			got, gotErr := a.Validate(t.Context(), root, plugins.Output{Parent: parents, Distance: c.distance})
			want, wantErr := validator.Validate(t.Context(), root, parents, c.distance)
			var violation *validate.Violation
			if errors.As(gotErr, &violation) != errors.As(wantErr, &violation) || got != want {
				t.Errorf("got %+v, %v, want %+v, %v", got, gotErr, want, wantErr)
			}
		}
	}
	sealed := a.Generate(t.Context(), plugins.Input{Recipe: &recipe, Weights: weights})
	must.Is(t, sealed, ErrSegment)
}

// The name of a list in device memory travels from an accelerator to an engine. One that cannot be a name is refused.
func TestDeviceTuples(t *testing.T) {
	s := newStage(t)
	a := s.open("accelerates")
	tuples := first(s.Tuples(3))
	tuples[0] = graph.MakeEdge(7, 9)
	recipe := graph.Kronecker{Scale: 4, EdgeFactor: 1}
	notReserved := a.Generate(t.Context(), plugins.Input{Recipe: &recipe, Tuples: tuples})
	must.Is(t, notReserved, ErrSegment)
	lent := must.Get(a.Lend(t.Context(), tuples))
	if none, err := a.Lend(t.Context(), nil); none != nil || err != nil {
		t.Errorf("a list of no tuples: %+v, %v", none, err)
	}
	_, err := s.open("shows its input").Construct(t.Context(), plugins.Input{DeviceTuples: lent})
	must.Is(t, err, err, fmt.Sprintf("[] %q 3", tuples[0].String()))
}

func TestAnEngineIsNoAccelerator(t *testing.T) {
	s := newStage(t)
	e := s.open("serial")
	must.Is(t, must.Err(e.Validate(t.Context(), 0, plugins.Output{Parent: s.parents(4)})), errors.ErrUnsupported)
	must.Is(t, must.Err(e.Lend(t.Context(), nil)), errors.ErrUnsupported)
	must.Is(t, e.Load(t.Context(), plugins.Input{}, 4), errors.ErrUnsupported)
	must.Is(t, e.Generate(t.Context(), plugins.Input{}), errors.ErrUnsupported)
}

// An accelerator that stays open cannot write to tuples that engines read, whether it has made all or has stopped.
func TestNoTuplesStayWritable(t *testing.T) {
	stage := newStage(t)
	recipe := graph.Kronecker{Scale: 4, EdgeFactor: 1, Seed1: 2, Seed2: 3}
	tuples := first(stage.Reserve(recipe.Tuples()))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx         context.Context
		first, last int64
		kept        bool
	}{
		"more to come":   {t.Context(), 0, 8, true},
		"the last piece": {t.Context(), 8, 16, false},
		"canceled":       {canceled, 0, 8, false},
	} {
		s := acceleratorServer{&server{}, &bycpu.Accelerator{}}
		segment := must.Get(segmentOf(stage.Host, tupleSegment, tuples[c.first:c.last], reserved))
		_, err := s.Generate(c.ctx, &enginepb.GenerateRequest{
			CallId: 1, Recipe: recipes.message(&recipe), Tuples: segment, First: c.first,
		})
		if failed := c.ctx.Err() != nil; (err != nil) != failed || (len(s.kept) != 0) != c.kept {
			t.Errorf("%s: error %v, mapped for writing: %v", name, err, len(s.kept) != 0)
		}
		must.Do(s.dropOthers())
	}
}
