package main

import (
	"bytes"
	"strings"
	"testing"
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
	for line, want := range map[string]string{
		"run --roots many": `invalid argument "many" for "--roots" flag: ` +
			`strconv.ParseInt: parsing "many": invalid syntax; see teps run --help`,
		"run --energy Inf": `invalid argument "Inf" for "--energy" flag: ` +
			`time: invalid duration "Inf" (want a number and a unit, such as 60s); see teps run --help`,
		"run --meter auto":      "--meter requires --energy, such as --energy 60s",
		"run --out a --store b": "--out is the directory of the run, --store the one around it; give one of them",
		"report x --format csv --reference all": "the format csv shows no published results; " +
			"leave out --reference, or use html or markdown",
	} {
		want = "teps: " + want + "\n"
		if got := run(t, strings.Fields(line)...); got.code != exitUsage || got.stderr != want {
			t.Errorf("teps %s: exit code %d, %q, want %q", line, got.code, got.stderr, want)
		}
	}
}
