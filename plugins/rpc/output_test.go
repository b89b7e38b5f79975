package rpc

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
