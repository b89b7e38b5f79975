// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/record"
)

// TestExamplesInHelpWork runs the examples in the help of every command, on small graphs and for a short time.
func TestExamplesInHelpWork(t *testing.T) {
	self := must.Get(os.Executable())
	library := compileLibrary(t, `#include "../../examples/openmp/mine.c"`, "-fopenmp")
	work := t.TempDir()
	t.Chdir(work)
	writeProgram("teps-engine-mine", "exec "+self+" serve-engine cpu\n")
	writeProgram("meter.sh", steady)
	for name, text := range map[string]string{
		"mesh.txt":     "3 2\n2 3\n1\n1\n",
		"nightly.yaml": "engine: cpu\nroots: 2\n",
		"roads.mtx":    "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n",
		"roads.mtx.gz": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
		"threads.yaml": "engines: [{name: cpu, set: {threads: [1, 2]}}]\nscales: 6\nroots: 2\n",
	} {
		must.Do(os.WriteFile(name, []byte(text), 0o666))
	}
	succeed(t, exec.Command("cp", library, "."))
	if _, stderr, code := small(t, "run --engine cpu,one=cpu --roots 24 --out results/a"); code != exitValid {
		t.Fatalf("prepare a run: exit code %d:\n%s", code, stderr)
	}
	for i, dir := range strings.Fields("results/b results/c results/before results/after results/main results/change " +
		"docs/results/c before1 before2 before3 after1 after2 after3") {
		copyRun("results/a", dir, i)
	}
	for _, c := range commands(rootCommand(builtins())) {
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			command, ok := strings.CutPrefix(comment.ReplaceAllString(line, ""), "teps ")
			if !ok {
				t.Errorf("%s: the example %q does not start with teps", c.CommandPath(), line)
				continue
			}
			if c.Name() == "new-engine" {
				t.Chdir(t.TempDir())
			}
			if out := outFlag.FindStringSubmatch(command); out != nil && c.Name() != "report" {
				os.RemoveAll(out[1])
			}
			stdout, stderr, code := small(t, command)
			if code != exitValid && !(code == exitFailed && strings.Contains(command, "--fail-if")) {
				t.Errorf("%s\nexit code %d:\n%s%s", line, code, stdout, stderr)
			}
			t.Chdir(work)
		}
	}
}

// copyRun makes a record of another run out of a record; copies of one run are not compared.
func copyRun(from, to string, number int) {
	plan, err := os.ReadFile(filepath.Join(from, record.ManifestFile))
	journal, missing := os.ReadFile(filepath.Join(from, record.JournalFile))
	must.Do(err, missing, os.MkdirAll(to, 0o777))
	plan = bytes.Replace(plan, []byte(`"id": "`), fmt.Appendf(nil, `"id": "%d-`, number), 1)
	journal = digest.ReplaceAll(journal, nil)
	err = os.WriteFile(filepath.Join(to, record.ManifestFile), plan, 0o666)
	must.Do(err, os.WriteFile(filepath.Join(to, record.JournalFile), journal, 0o666))
}

var (
	comment = regexp.MustCompile(`  .*| [|>] .*`) // the shell's part of a line, too
	outFlag = regexp.MustCompile(`--out (\S+)`)
)

func commands(c *cobra.Command) (all []*cobra.Command) {
	if c.Hidden || c.Name() == "help" {
		return nil
	}
	all = append(all, c)
	for _, sub := range c.Commands() {
		all = append(all, commands(sub)...)
	}
	return all
}

// small executes a command line with flags and graphs that make it quick.
func small(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	line = regexp.MustCompile(`(grid2d|path):\d+`).ReplaceAllString(strings.ReplaceAll(line, "'", ""), "$1:9")
	line = regexp.MustCompile(`--scale \S+`).ReplaceAllString(line, "--scale 6")
	line = regexp.MustCompile(`--case \S+`).ReplaceAllString(line, "")
	line = strings.NewReplacer("--energy 60s", "--energy 50ms").Replace(line)
	args := strings.Fields(line)
	if args[0] == "run" && !strings.Contains(line, "--resume") {
		args = slices.Insert(args, 1, "--roots", "2", "--scale", "6") // the line's own come later and win
	}
	if args[0] == "conform" && !strings.Contains(line, "--graph") {
		args = append(args, "--case", "graph/path")
	}
	var out, errs bytes.Buffer
	code = execute(t.Context(), builtins(), args, &out, &errs)
	return out.String(), errs.String(), code
}

// TestStarterLibrariesConform builds the starters that no document builds, each where its compiler is installed.
func TestStarterLibrariesConform(t *testing.T) {
	for language, tool := range map[string]string{"cpp": "g++ --version", "rust": "rustc --version"} {
		t.Run(language, func(t *testing.T) {
			needs(t, "make --version && "+tool)
			t.Chdir(t.TempDir())
			for i, args := range [][]string{
				{"new-engine", "mine", "--language", language},
				{"conform", "teps-engine-mine/libmine.so", "--case", "graph/random-deep", "--case", "paths/exact"},
			} {
				var out bytes.Buffer
				if code := execute(t.Context(), builtins(), args, &out, &out); code != exitValid {
					t.Fatalf("%v: exit code %d:\n%s", args, code, &out)
				}
				if i == 0 {
					succeed(t, exec.Command("make", "-C", "teps-engine-mine"))
				}
			}
		})
	}
}
