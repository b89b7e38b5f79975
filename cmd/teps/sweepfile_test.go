// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A name that is not a regular file, and a file that is large or deeply nested, gives one error.
func TestASweepFileMayBeAnything(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{pipe: "a pipe", "/dev/zero": "a device", dir: "a directory"}
	for name, text := range map[string][2]string{
		"large":    {"# " + strings.Repeat("x", maxSweepFile), "too large"},
		"brackets": {"engines: " + strings.Repeat("[", maxSweepFile/2), ":1:"},
		"mappings": {"engines: " + strings.Repeat("{a: ", maxSweepFile/8), ":1:"},
		"dashes":   {"engines:\n  " + strings.Repeat("- ", maxSweepFile/4), ":2:"},
		"tags":     {"engines: !!str !!str x", "the parser failed"},
		"binary":   {"\x00\xff\xfe", ": "},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		cases[path] = text[1]
	}
	for path, want := range cases {
		got := run(t, "sweep", path)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || len(got.stderr) > 5000 {
			t.Errorf("%s: exit code %d, want %q in %.5000s", path, got.code, want, got.stderr)
		}
	}
}

// FuzzSweepFile looks for a text that is neither a sweep nor an error.
func FuzzSweepFile(f *testing.F) {
	f.Add("engines: [cpu]\nscales: 8-9\nmeter: [rapl]\n")
	f.Add("engines: [{name: cpu, set: {threads: [1, 2]}}]\ntimeout: 3s\nroots: &a 3\nrepeats: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxSweepFile || strings.ContainsAny(text, `/\.`) {
			return // a path: it would start a program
		}
		file := sweepFile{Repeats: 1}
		if parseYAML([]byte(text), &file) == nil {
			_, _ = file.sweep(t.Context(), builtins(), processes{})
		}
	})
}
