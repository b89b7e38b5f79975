package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWritingAnEngineWordByWord does what docs/writing-an-engine.md says: it makes the folder, runs the shell blocks
// in order, and writes the Go block into main.go. Only the clone's place and the build of teps differ.
func TestWritingAnEngineWordByWord(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs", "writing-an-engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.Symlink(repository, filepath.Join(work, "teps")); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(t.TempDir(), "results")
	here := work
	blocks := regexp.MustCompile("(?s)```(sh|go)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d blocks in the page", len(blocks))
	}
	for _, block := range blocks {
		if block[1] == "go" {
			if err := os.WriteFile(filepath.Join(here, "main.go"), []byte(block[2]), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for line := range strings.Lines(block[2]) {
			line = strings.TrimSpace(line)
			if dir, ok := strings.CutPrefix(line, "cd "); ok {
				here = filepath.Join(here, dir)
				continue
			}
			// The results go where the test can throw them away.
			line = strings.ReplaceAll(line, "--out results", "--out "+results)
			// Without the network: the modules that teps needs are in the cache of whoever runs its tests, those that
			// only tidying needs may not be.
			switch line {
			case "go mod tidy":
				line = "cp ../teps/go.sum ."
			case "go build":
				line = "GOFLAGS=-mod=mod GOPROXY=off go build"
			}
			cmd := exec.Command("sh", "-c", line)
			// A shell's view of the folder: the clone is a symbolic link beside the engine's.
			cmd.Dir = here
			cmd.Env = append(os.Environ(), "PWD="+here)
			if strings.HasPrefix(line, "go run ./cmd/teps") {
				cmd.Dir = repository
				cmd.Args[2] = strings.ReplaceAll(line, "../teps-engine-mine", filepath.Join(work, "teps-engine-mine"))
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
			if strings.Contains(line, "conform") && !strings.Contains(string(out), " 0 failed") {
				t.Errorf("conform:\n%s", out)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(results, "report.html")); err != nil {
		t.Error(err)
	}
}
