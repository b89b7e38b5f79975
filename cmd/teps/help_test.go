package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnUnknownCommandIsAUsageError(t *testing.T) {
	for line, want := range map[string]int{
		"help": exitValid, "--help": exitValid, "run --help": exitValid, "help run": exitValid,
		"--version": exitValid, "help completion": exitValid, "completion bash": exitValid, "nope": exitUsage,
	} {
		got := run(t, strings.Fields(line)...)
		if got.code != want {
			t.Errorf("teps %s: exit code %d, want %d", line, got.code, want)
		}
		wrong := want == exitUsage
		if n := strings.Count(got.stderr, "\n"); (n == 1) != wrong || (got.stdout == "") != wrong {
			t.Errorf("teps %s writes %d bytes, and the error %q", line, len(got.stdout), got.stderr)
		}
	}
}

func TestShellsCanCompleteCommands(t *testing.T) {
	if got := run(t, "__complete", "ru"); got.code != exitValid || !strings.Contains(got.stdout, "run\t") {
		t.Errorf("exit code %d, %q", got.code, got.stdout)
	}
}

// Help fits a terminal of 80 columns.
func TestHelpFitsATerminal(t *testing.T) {
	for _, command := range rootCommand(builtins()).Commands() {
		got := run(t, "help", command.Name())
		for line := range strings.Lines(got.stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !command.Hidden {
				t.Errorf("teps help %s has a line of %d columns: %s", command.Name(), n, line)
			}
		}
	}
}
