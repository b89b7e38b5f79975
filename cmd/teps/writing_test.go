// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

var long = flag.Bool("long", false, "long tests: all cases of conformance")

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
// section is skipped if its tools are missing.
func TestWritingAnEngineWordByWord(t *testing.T) {
	if testing.Short() {
		t.Skip("builds teps and engines")
	}
	t.Parallel()
	page := must.Get(os.ReadFile("../../docs/writing-an-engine.md"))
	parts := sections(string(page))
	if len(parts) != 4 {
		t.Fatalf("want shell blocks for installing and three languages, found %d sections", len(parts))
	}
	repository := must.Get(filepath.Abs("../.."))
	work := t.TempDir()
	must.Do(os.Symlink(repository, filepath.Join(work, "teps")))
	for i, needed := range []string{
		"go version", "make --version && cc --version", "make --version && protoc --version && openssl version && " +
			"/usr/bin/python3 -c 'import numpy, grpc, google.protobuf'",
	} {
		engine, part := []string{"mine", "minec", "minepy"}[i], parts[i+1]
		if out, err := exec.Command("sh", "-c", needed).CombinedOutput(); err != nil {
			t.Logf("%s: skipped, its tools are missing: %v\n%s", part.heading, err, out)
			continue
		}
		script := part.shell
		if i == 0 {
			script = parts[0].shell + script
		}
		script = regexp.MustCompile(`(?m)^teps conform .*`).ReplaceAllString(script, "$0 "+strings.Join(someCases(), " "))
		script = strings.ReplaceAll(script, "go install", `PWD="$(pwd -P)" go install`) // compiled already by this path
		script = regexp.MustCompile(`(?m)^teps run .*`).ReplaceAllString(script, "$0 --roots 8")
		cmd := exec.Command("sh", "-euc", script)
		cmd.Dir = work
		// Programs are installed into a directory of the test; modules come from the user's cache.
		bin := filepath.Join(work, "gopath", "bin")
		cmd.Env = append(os.Environ(), "PWD="+work, "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"),
			"GOPROXY=off", "GOFLAGS=")
		out := string(succeed(t, cmd))
		if !strings.Contains(out, " 0 failed, ") || !regexp.MustCompile(` 16 +8/8 .* VALID`).MatchString(out) {
			t.Errorf("%s: no engine that conforms and no valid result of scale 16:\n%s", part.heading, out)
		}
		if _, err := os.Stat(filepath.Join(work, "teps-engine-"+engine, "results", "report.html")); err != nil {
			t.Error(err)
		}
	}
}

// someCases are arguments of teps conform: not most graphs, because a process for each case takes long, nor the cases
// with limits of time, which an engine may exceed that other tests delay. With -long they are all cases.
func someCases() []string {
	if *long {
		return nil
	}
	return strings.Fields("--case graph/kronecker-10 --case search/refused --case construct/again --case report/search " +
		"--case close/ends")
}

// TestMinimalEnginesAreShort holds the examples to what a newcomer must write or understand.
func TestMinimalEnginesAreShort(t *testing.T) {
	for file, limit := range map[string]int{"go/main.go": 75, "c/mine.c": 120} {
		data := must.Get(os.ReadFile(filepath.Join("../../examples", file)))
		if n := strings.Count(string(data), "\n"); n > limit {
			t.Errorf("%s has %d lines, want at most %d", file, n, limit)
		}
	}
}
