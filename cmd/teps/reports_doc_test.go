// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// reportsOf returns the commands "teps report" of a document, each with the file of its --out. Their paths are relative
// to the repository, where the test is from now on.
func reportsOf(t *testing.T, document string, minimum int) map[string]string {
	t.Helper()
	t.Chdir("../..")
	text := must.Get(os.ReadFile(document))
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

// The commands of docs/images/README.md, with another place for their files, must draw the pictures that are committed.
// To draw these again, run the commands.
func TestPicturesAreWhatTheirCommandsDraw(t *testing.T) {
	made := map[string]bool{}
	for line, want := range reportsOf(t, "docs/images/README.md", 4) {
		made[want] = true
		t.Run(filepath.Base(want), func(t *testing.T) {
			got := filepath.Join(t.TempDir(), filepath.Base(want))
			args := append(strings.Fields(strings.TrimSuffix(line, want)), "--out", got)
			if e := run(t, args...); e.code != exitValid {
				t.Fatalf("exit code %d: %s", e.code, e.stderr)
			}
			samples.Drawing(t, want, must.Get(os.ReadFile(got)))
		})
	}
	files := must.Get(filepath.Glob("docs/images/*.svg"))
	for _, file := range files {
		if !made[file] {
			t.Errorf("no command of docs/images/README.md makes %s", file)
		}
	}
}
