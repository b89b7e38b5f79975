// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// section is a part of a page under one heading, with its shell blocks.
type section struct {
	heading string
	shell   string
}

func sections(page string) []section {
	var all []section
	for _, part := range regexp.MustCompile(`(?m)^## `).Split(page, -1) {
		heading, rest, _ := strings.Cut(part, "\n")
		var shell strings.Builder
		for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(rest, -1) {
			shell.WriteString(block[1])
		}
		if shell.Len() > 0 {
			all = append(all, section{heading, shell.String()})
		}
	}
	return all
}

// TestWritingAnEngineWordByWord runs the shell blocks of docs/writing-an-engine.md in a directory that contains teps. A
// section whose tools are missing here is left out.
func TestWritingAnEngineWordByWord(t *testing.T) {
	if testing.Short() {
		t.Skip("builds teps and engines")
	}
	t.Parallel()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs", "writing-an-engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := sections(string(page))
	if len(parts) != 4 {
		t.Fatalf("want shell blocks for installing and three languages, found %d sections", len(parts))
	}
	work := t.TempDir()
	if err := os.Symlink(repository, filepath.Join(work, "teps")); err != nil {
		t.Fatal(err)
	}
	install := parts[0]
	for i, part := range parts[1:] {
		language := []string{"go", "c", "python"}[i]
		if out, err := exec.Command("sh", "-c", needs()[language]).CombinedOutput(); err != nil {
			t.Logf("%s: left out, needs more than there is here: %v\n%s", part.heading, err, out)
			continue
		}
		script := "set -eu\n" + part.shell
		if i == 0 {
			script = "set -eu\n" + install.shell + part.shell
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = work
		// Programs are installed into a folder of the test; modules come from the user's cache.
		bin := filepath.Join(work, "gopath", "bin")
		cmd.Env = append(os.Environ(), "PWD="+work, "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"),
			"GOPROXY=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", part.heading, err, out)
		}
		// The engines of these pages take only tuples, so the case of recipes is skipped.
		if !strings.Contains(string(out), " 0 failed, 1 skipped") || !regexp.MustCompile(` 16 +64/64 .* VALID`).Match(out) {
			t.Errorf("%s: no engine that conforms and no valid result of scale 16:\n%s", part.heading, out)
		}
		engine := map[string]string{"go": "mine", "c": "minec", "python": "minepy"}[language]
		if _, err := os.Stat(filepath.Join(work, "teps-engine-"+engine, "results", "report.html")); err != nil {
			t.Error(err)
		}
	}
}

// TestMinimalEnginesAreShort holds the examples to what a newcomer must write or understand.
func TestMinimalEnginesAreShort(t *testing.T) {
	for file, most := range map[string]int{"go/main.go": 60, "c/mine.c": 80} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n > most {
			t.Errorf("%s has %d lines, want at most %d", file, n, most)
		}
	}
}

// needs are what it takes to build and run a new engine of each language, as shell commands that succeed.
func needs() map[string]string {
	return map[string]string{
		"go":     "go version",
		"c":      "make --version && cc --version",
		"openmp": "make --version && echo '#include <omp.h>' | cc -fopenmp -E -",
		"python": "make --version && protoc --version && openssl version && " +
			"/usr/bin/python3 -c 'import numpy, grpc, google.protobuf'",
	}
}
