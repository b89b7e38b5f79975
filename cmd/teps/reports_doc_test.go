package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reportsOf returns the commands "teps report" of a document, each with the file of its --out. Their paths are relative
// to the repository, where the test is from now on.
func reportsOf(t *testing.T, document string, minimum int) map[string]string {
	t.Helper()
	t.Chdir("../..")
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]string{}
	command := regexp.MustCompile(`(?m)^(?:\./)?teps (report .*?)(?: --out (\S+))?$`)
	for _, c := range command.FindAllStringSubmatch(string(text), -1) {
		commands[c[1]+" "+c[2]] = c[2]
	}
	if len(commands) < minimum {
		t.Fatalf("%d commands in %s, want at least %d", len(commands), document, minimum)
	}
	return commands
}

// Every command of docs/reports.md works as it stands there, but for the place of its files.
func TestExamplesOfReportsWork(t *testing.T) {
	for line, out := range reportsOf(t, "docs/reports.md", 8) {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.TrimSuffix(line, out))
			if out != "" {
				out = filepath.Join(t.TempDir(), out)
				args = append(args, "--out", out)
			}
			got := run(t, args...)
			if got.code != exitValid || out == "" && got.stdout == "" {
				t.Fatalf("exit code %d, %d bytes: %s", got.code, len(got.stdout), got.stderr)
			}
			if info, err := os.Stat(out); out != "" && (err != nil || info.Size() == 0) {
				t.Errorf("it writes nothing: %v", err)
			}
		})
	}
}
