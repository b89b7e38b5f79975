package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestARefusedFlagSaysWhatItWants(t *testing.T) {
	for line, want := range map[string]string{
		"run --roots many":                        "teps: --roots many: want a whole number; see teps run --help\n",
		"run --timeout soon":                      "teps: --timeout soon: want a time such as 90s, 10m or 1h30m; see teps run --help\n",
		"run --seed1 -1":                          "teps: --seed1 -1: want a whole number from 0; see teps run --help\n",
		"run --quiet=perhaps":                     "teps: --quiet perhaps: want true or false; see teps run --help\n",
		"count-messages --latency Inf":            "teps: --latency Inf: want a time such as 90s, 10m or 1h30m; see teps count-messages --help\n",
		"report x --format badge --reference all": "teps: the format badge shows no published results: leave --reference away, or ask for html or markdown\n",
	} {
		var stdout, stderr bytes.Buffer
		if code := command(t.Context(), strings.Fields(line), &stdout, &stderr); code != exitUsage || stderr.String() != want {
			t.Errorf("teps %s: exit code %d, %q", line, code, &stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "nightly.yaml")
	if err := os.WriteFile(file, []byte("roots: many\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := command(t.Context(), []string{"run", "--config", file}, &stdout, &stderr); code != exitUsage ||
		!strings.HasSuffix(stderr.String(), "nightly.yaml, line 1: roots: many: want a whole number\n") {
		t.Errorf("teps run --config: exit code %d, %q", code, &stderr)
	}
}
