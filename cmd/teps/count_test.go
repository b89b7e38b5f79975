package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be counted is refused before anything is generated, in one line, and leaves no folder behind.
func TestCountsThatCannotBeAreRefusedBeforeAnythingRuns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "cm")
	for _, c := range []struct {
		flags string
		code  int
		says  string
	}{
		{"--scale 34", exitFailed, "; the largest scale that fits is "},
		{"--scale 34 --ranks 1", exitFailed, "engine distributed:ranks=1 "},
		{"--scale 1 --bandwidth Inf", exitUsage, "--bandwidth +Inf: want bytes a second, 1000 to 1e+18"},
		{"--scale 1 --bandwidth -Inf", exitUsage, "--bandwidth -Inf: want bytes"},
		{"--scale 1 --bandwidth NaN", exitUsage, "--bandwidth NaN: want bytes"},
		{"--scale 1 --bandwidth 1e-300", exitUsage, "--bandwidth 1e-300: want bytes"},
		{"--scale 1 --bandwidth 0", exitUsage, "--bandwidth 0: want bytes"},
		{"--scale 1 --latency -1us", exitUsage, "--latency -1µs: want 0 to 1m0s"},
		{"--scale 1 --latency 2000000h", exitUsage, "want 0 to 1m0s"},
		{"--scale 1 --latency Inf", exitUsage, "--latency Inf: want a time such as"},
		{"--scale 1 --set alpha=Inf", exitUsage, `option alpha="Inf": want a number from 0 to 1000000000`},
		{"--scale 1 --set beta=NaN", exitUsage, `option beta="NaN": want a number from 0 to 1000000000`},
		// Scale 34 does not fit: an option that is refused nevertheless is refused before memory is looked at.
		{"--scale 34 --set colour=red", exitUsage, "unknown option colour"},
	} {
		var stdout, stderr bytes.Buffer
		code := command(t.Context(), append([]string{"count-messages", "--out", out}, strings.Fields(c.flags)...), &stdout, &stderr)
		said := stderr.String()
		if code != c.code || !strings.Contains(said, c.says) || strings.Count(said, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d and %q, got:\n%s%s", c.flags, code, c.code, c.says, &stdout, said)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s left a folder", c.flags)
		}
	}
}
