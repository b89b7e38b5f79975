// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// execution is what a command line prints and returns in this process.
type execution struct {
	stdout, stderr string
	code           int
}

func run(t *testing.T, args ...string) execution {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), builtins(), args, &stdout, &stderr)
	return execution{stdout.String(), stderr.String(), code}
}

func TestWrongFlagValuesAreExplained(t *testing.T) {
	long := strings.Repeat("a", 5000)
	for line, want := range map[string]string{
		"run --roots many":              `--roots "many": want a whole number; see teps run --help`,
		"run --seed1 -1":                `--seed1 "-1": want a whole number from 0 to 2^64-1; see teps run --help`,
		"run --energy Inf":              `--energy "Inf": want a number and a unit, such as 60s; see teps run --help`,
		"run --quiet=maybe":             `--quiet "maybe": want true or false; see teps run --help`,
		"run -scale 16":                 `unknown shorthand flag: 's' in -scale (did you mean --scale?); see teps run --help`,
		"run --engine v1.2=cpu":         "--engine v1.2=cpu: want a label of 1 to 64 letters, digits, - and _",
		"run --engine " + long + "=cpu": "--engine " + long[:80] + ": want a label of 1 to 64 letters, digits, - and _",
		"help rnu":                      `unknown command "rnu" (did you mean run?); see teps --help`,
		"conform cpu --timeout 0":       "the timeout must be a positive duration such as 2m, not 0s",
		"report x --out x/run.json":     "--out x/run.json would replace part of a record; choose another name",
		"run --out -":                   "--out -: want a directory; the official text is always printed",
		"report x --out rates.pdf":      "--out rates.pdf: only a figure goes into such a file; name it with --picture",
		"run --meter auto":              "--meter requires --energy, such as --energy 60s",
		"run --out a --store b":         "--out is the directory of the run, --store the one around it; give one of them",
		"report x --format csv --reference all": "the format csv shows no published results; " +
			"leave out --reference, or use html or markdown",
	} {
		want = "teps: " + want + "\n"
		if got := run(t, strings.Fields(line)...); got.code != exitUsage || got.stderr != want {
			t.Errorf("teps %s: exit code %d, %q, want %q", line, got.code, got.stderr, want)
		}
	}
}

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
