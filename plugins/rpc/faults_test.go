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
	var err error
	switch which {
	case "describe":
		_, err = client.Describe(ctx)
	case "construct":
		_, err = client.Construct(ctx, s.triangle())
	case "search":
		_, err = client.Search(ctx, 0, s.parents(3))
	}
	return err
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
			if err := client.Close(); err != nil {
				t.Errorf("closing an engine whose crash was reported: %v", err)
			}
			wantError(t, second(client.Describe(context.Background())), plugins.ErrClosed)
			s.works(s.parents(3))
		})
	}
}

func TestDeathBetweenCallsIsReportedOnce(t *testing.T) {
	describe := func(c *Client) error { return second(c.Describe(context.Background())) }
	for _, next := range []func(*Client) error{describe, (*Client).Close} {
		s := newStage(t)
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
	go func() {
		_, err := client.Search(ctx, 0, parents)
		returned <- err
	}()
	return client, noted(s.t, note, returned), returned
}

// noted waits until a call has reached its engine, which writes a note, and returns the note.
func noted(t testing.TB, note string, returned <-chan error) string {
	t.Helper()
	for {
		select {
		case err := <-returned:
			t.Fatalf("the call returned before its engine wrote a note: %v", err)
		case <-time.After(time.Millisecond):
			if text, err := os.ReadFile(note); err == nil && len(text) > 0 {
				return string(text)
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
	if !errors.Is(err, ErrHung) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want ErrHung and Canceled", err)
	}
	if took := time.Since(start); took < 300*time.Millisecond {
		t.Errorf("killed after %v, want 0.3 s and little more", took)
	}
	mention(t, err, "no answer 300ms after the call was canceled", "after its start", "killed")
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
	_, err := client.Describe(t.Context())
	if !errors.Is(err, ErrHung) || !strings.Contains(err.Error(), "it may take at most 200ms") {
		t.Errorf("got %v, want ErrHung with the limit", err)
	}
	if _, again := s.Open(t.Context(), Program{Path: client.file.path}); !errors.Is(again, ErrHung) {
		t.Errorf("opened once more: got %v, want ErrHung at once", again)
	}
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
	if err := s.call(context.Background(), client, "construct"); err != nil {
		t.Errorf("after the canceled calls: %v", err)
	}
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
	for _, want := range []string{
		`level=INFO msg="on standard output" engine=actor from=stdout`,
		`level=INFO msg="on standard error" engine=actor from=stderr`,
		`through log" engine=actor from=stderr`,
		`WARN through slog number=42" engine=actor from=stderr`,
	} {
		if !strings.Contains(s.journal.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, s.journal)
		}
	}
	kept, err := os.ReadFile(path)
	for _, want := range []string{" actor stdout: on standard output\n", " actor stderr: on standard error\n"} {
		if !strings.Contains(string(kept), want) {
			t.Errorf("got %q and %v, want %q in it", kept, err, want)
		}
	}
}

func TestOutputOfEnginesIsKept(t *testing.T) {
	var h Host
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	add := func(engine, line string) { h.output.add(slog.New(slog.DiscardHandler), engine, "stderr", line) }

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
	h.KeepOutput("")
	add("late", "after the run")

	clock := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3} `)
	for path, want := range map[string]string{
		first:  "cpu stderr: one\ncpu stderr: red ?[31m\ncpu stderr: three\n",
		second: "other stderr: two\n",
	} {
		got, err := os.ReadFile(path)
		if text := clock.ReplaceAllString(string(got), ""); err != nil || text != want {
			t.Errorf("%s: got %q and %v, want %q", filepath.Base(path), text, err, want)
		}
	}
}

func TestKeptOutputHasALimit(t *testing.T) {
	var h Host
	path := filepath.Join(t.TempDir(), "log")
	h.KeepOutput(path)
	line := strings.Repeat("x", maxText)
	for range maxOutput/maxText + 10 {
		h.output.add(slog.New(slog.DiscardHandler), "flood", "stdout", line)
	}
	h.KeepOutput("")
	got, err := os.ReadFile(path)
	const want = "\nmore than 16 MiB: the rest is not kept\n"
	if err != nil || len(got) > maxOutput+len(want) || !strings.HasSuffix(string(got), want) {
		t.Errorf("got %d bytes that end with %q and %v, want %q", len(got), got[max(0, len(got)-60):], err, want)
	}
}

func TestOutputThatCannotBeKeptIsReportedOnce(t *testing.T) {
	var h Host
	var log journal
	h.KeepOutput(filepath.Join(t.TempDir(), "missing", "log"))
	for range 2 {
		h.output.add(slog.New(slog.NewTextHandler(&log, nil)), "cpu", "stdout", "line")
	}
	if got := strings.Count(log.String(), "what engines print is not kept"); got != 1 {
		t.Errorf("got %d warnings, want 1:\n%s", got, log.String())
	}
}
