// SPDX-License-Identifier: Apache-2.0

package rpc

// What an engine can do wrong during a call, and what the host reports.

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// call makes a call of an engine by its name.
func (s *stage) call(ctx context.Context, client *Client, which string) error {
	switch which {
	case "describe":
		return second(client.Describe(ctx))
	case "construct":
		return second(client.Construct(ctx, s.triangle()))
	}
	return second(client.Search(ctx, 0, s.parents(3)))
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
			wantError(t, s.call(context.Background(), client, which), ErrCrashed, words...)
			wantError(t, s.call(context.Background(), client, "describe"), ErrCrashed)
			check(t, client.Close()) // its crash was reported
			wantError(t, second(client.Describe(context.Background())), plugins.ErrClosed)
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
		wantError(t, next(client), ErrCrashed, "signal: killed", "out of memory?")
	}
}

func TestEngineThatClosesTheConnectionIsKilled(t *testing.T) {
	s := newStage(t)
	client := s.open("cuts the connection")
	wantError(t, s.call(t.Context(), client, "search"), ErrCrashed, "closed the connection")
}

func TestEngineThatWritesToTheTuplesCrashes(t *testing.T) {
	s := newStage(t)
	client, g := s.open("writes to tuples"), s.triangle()
	wantError(t, second(client.Construct(context.Background(), g)), ErrCrashed)
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
	go func() { returned <- second(client.Search(ctx, 0, parents)) }()
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
	wantError(t, err, context.Canceled)
	wantError(t, err, ErrHung, "no answer 300ms after the call was canceled", "after its start", "killed")
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("killed after %v, want 0.3 s and little more", took)
	}
	err = s.call(context.Background(), client, "describe")
	if !errors.Is(err, ErrHung) || errors.Is(err, context.Canceled) {
		t.Errorf("a later call, whose context is alive: got %v, want ErrHung alone", err)
	}
	if child, err := strconv.Atoi(text); err != nil || !dies(child) {
		t.Errorf("the engine's child %s is still there", text)
	}
	s.works(s.parents(3))
}

func TestEngineHangingInCloseIsKilled(t *testing.T) {
	s := newStage(t)
	s.limits.grace, s.limits.close = 100*time.Millisecond, 200*time.Millisecond
	wantError(t, s.open("hangs in close").Close(), ErrHung)
}

func TestEngineHangingInDescribeIsKilled(t *testing.T) {
	s := newStage(t)
	client := s.open("hangs in describe")
	s.limits.start, s.limits.grace = 200*time.Millisecond, 100*time.Millisecond
	wantError(t, s.call(t.Context(), client, "describe"), ErrHung, "it may take at most 200ms")
	wantError(t, second(s.Open(t.Context(), Program{Path: client.file.path})), ErrHung) // at once
}

func TestCancelReachesTheEngineAndItStaysUsable(t *testing.T) {
	s := newStage(t)
	client := s.open("waits")
	for _, after := range []time.Duration{
		0, time.Microsecond, 100 * time.Microsecond, time.Millisecond, 50 * time.Millisecond,
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(after, cancel)
		_, err := client.Search(ctx, 0, s.parents(3))
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
		_, err := client.Search(ctx, 0, parents)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want DeadlineExceeded alone", err)
		}
		words = err.Error()
	}
	check(t, s.call(context.Background(), client, "construct"))
}

func TestConcurrentCallIsRefusedAndCloseEndsTheRunningOne(t *testing.T) {
	s := newStage(t)
	client, _, returned := s.searching(context.Background(), "waits")
	wantError(t, second(client.Describe(context.Background())), ErrBusy)
	check(t, s.Close())
	wantError(t, <-returned, plugins.ErrClosed)
}

func TestOutputOfAnEngineIsLoggedAndKept(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(t.TempDir(), "log")
	s.KeepOutput(path)
	client := s.open("chatters")
	check(t, s.call(context.Background(), client, "search"))
	check(t, client.Close())
	logged := errors.New(s.journal.String())
	wantError(t, logged, logged, `level=INFO msg="on standard output" engine=actor from=stdout`,
		`level=INFO msg="on standard error" engine=actor from=stderr`, `through log" engine=actor from=stderr`,
		`WARN through slog number=42" engine=actor from=stderr`)
	kept := errors.New(string(must(os.ReadFile(path))))
	wantError(t, kept, kept, " actor stdout: on standard output\n", " actor stderr: on standard error\n")
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
	for range maxOutput/maxText + 10 {
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
		text := clock.ReplaceAllString(string(must(os.ReadFile(path))), "")
		if path == full && len(text) < maxOutput {
			text = text[max(0, len(text)-len(want)):]
		}
		if text != want {
			t.Errorf("%s: got %.200q, want %q", filepath.Base(path), text, want)
		}
	}
	if got := strings.Count(log.String(), "what engines print is not kept"); got != 1 {
		t.Errorf("got %d warnings, want 1:\n%s", got, log.String())
	}
}
