package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every command of docs/reports.md works as it stands there, but for the place of its files.
func TestExamplesOfReportsWork(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^\./teps (report .*)$`).FindAllSubmatch(text, -1)
	if len(commands) < 8 {
		t.Fatalf("%d commands in docs/reports.md, want at least 8", len(commands))
	}
	for _, c := range commands {
		line := string(c[1])
		t.Run(line, func(t *testing.T) {
			args, out := strings.Fields(line), ""
			for i, arg := range args {
				if arg == "--out" {
					out = filepath.Join(t.TempDir(), args[i+1])
					args[i+1] = out
				}
			}
			var stdout, stderr bytes.Buffer
			if code := execute(context.Background(), builtins(), args, &stdout, &stderr); code != exitValid {
				t.Fatalf("exit code %d: %s", code, stderr.String())
			}
			if out == "" {
				if stdout.Len() == 0 {
					t.Error("it prints nothing")
				}
				return
			}
			if info, err := os.Stat(out); err != nil || info.Size() == 0 {
				t.Errorf("it writes nothing: %v", err)
			}
		})
	}
}
