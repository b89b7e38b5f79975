package main

import (
	"bytes"
	"strings"
	"testing"
)

// Asking for help with what there is not is wrong usage, as it is to call it.
func TestHelpWithWhatThereIsNotIsWrongUsage(t *testing.T) {
	for line, want := range map[string]int{
		"help": exitValid, "--help": exitValid, "run --help": exitValid, "help run": exitValid, "help completion bash": exitValid, "completion": exitValid, "completion zsh": exitValid,
		"nope": exitUsage, "nope --help": exitUsage, "nope run --help": exitUsage, "help nope": exitUsage, "help run nope": exitUsage, "completion nope": exitUsage, "completion zsh nope": exitUsage,
	} {
		var stdout, stderr bytes.Buffer
		if code := command(t.Context(), strings.Fields(line), &stdout, &stderr); code != want {
			t.Errorf("teps %s: exit code %d, want %d", line, code, want)
		}
		if n := strings.Count(stderr.String(), "\n"); (n == 1) != (want == exitUsage) || (stdout.Len() == 0) != (want == exitUsage) {
			t.Errorf("teps %s writes %d bytes, and the error %q", line, stdout.Len(), &stderr)
		}
	}
}

func TestShellsCanAskHowAWordGoesOn(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := command(t.Context(), []string{"__complete", "ru"}, &stdout, &stderr); code != exitValid || !strings.Contains(stdout.String(), "run\t") {
		t.Errorf("exit code %d, %q", code, &stdout)
	}
}
