// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

// TestSweepsDocumentWorks writes the files of docs/sweeps.md, makes a dry run of each, and runs the shell block.
func TestSweepsDocumentWorks(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "sweeps.md")))
	cmd, _ := teps(t, "--version")
	work := t.TempDir()
	do := func(shell string) string {
		c := exec.Command("sh", "-ec", shell)
		c.Dir, c.Env = work, append(os.Environ(), "PATH="+filepath.Dir(cmd.Path)+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", shell, err, out)
		}
		return string(out)
	}
	files := 0
	yaml := regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n(.*?)^```")
	for _, block := range yaml.FindAllStringSubmatch(string(page), -1) {
		files++
		text := strings.Replace(block[2], "repeats: 2", "repeats: 1", 1) // to take half the time
		must.Do(os.WriteFile(filepath.Join(work, block[1]), []byte(text), 0o666))
		out := do("teps sweep " + block[1] + " --dry-run")
		if block[1] == "partitions.yaml" && !strings.Contains(out, "42 of 42 runs to do") {
			t.Errorf("the dry run of %s prints\n%s", block[1], out)
		}
	}
	if files != 2 {
		t.Fatalf("the page has %d files, want 2", files)
	}
	out := do(sections("## x\n" + string(page))[0].shell)
	for _, want := range []string{
		"run 8 of 8: ", "cpu:threads=2:adjacency=packed     13   1/1",
		"bfs  harmonic_mean_TEPS:", "wrote threads.html",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}

	// Engines that are built without CUDA describe themselves, so that their options are checked.
	build := exec.Command("go", "build", "-o", work+"/", "../teps-engine-cuda", "../teps-engine-cuda-literature")
	succeed(t, build)
	literature := must.Get(filepath.Abs("../../docs/literature.yaml"))
	if out := do("teps sweep " + literature + " --dry-run"); !strings.Contains(out, "19 of 77 runs to do") {
		t.Errorf("the dry run of %s prints\n%s", literature, out)
	}

	// The tables name every field there is.
	for _, of := range []reflect.Type{
		reflect.TypeFor[sweepFile](), reflect.TypeFor[planFlags](), reflect.TypeFor[engineEntry](),
	} {
		for field := range of.Fields() {
			name := field.Tag.Get("yaml")
			if name != "" && name != ",inline" && !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("the page does not name the field %s", name)
			}
		}
	}
}

// A name that is not a regular file, and a file that is large or deeply nested, gives one error.
func TestASweepFileMayBeAnything(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	must.Do(syscall.Mkfifo(pipe, 0o600))
	cases := map[string]string{pipe: "a pipe", "/dev/zero": "a device", dir: "a directory"}
	for name, text := range map[string][2]string{
		"large":    {"# " + strings.Repeat("x", maxSweepFile), "too large"},
		"brackets": {"engines: " + strings.Repeat("[", maxSweepFile/2), ":1:"},
		"mappings": {"engines: " + strings.Repeat("{a: ", maxSweepFile/8), ":1:"},
		"dashes":   {"engines:\n  " + strings.Repeat("- ", maxSweepFile/4), ":2:"},
		"tags":     {"engines: !!str !!str x", "the parser failed"},
		"binary":   {"\x00\xff\xfe", ": "},
	} {
		path := filepath.Join(dir, name)
		must.Do(os.WriteFile(path, []byte(text[0]), 0o600))
		cases[path] = text[1]
	}
	for path, want := range cases {
		got := run(t, "sweep", path)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || len(got.stderr) > 5000 {
			t.Errorf("%s: exit code %d, want %q in %.5000s", path, got.code, want, got.stderr)
		}
	}
}

// FuzzSweepFile looks for a text that is neither a sweep nor an error.
func FuzzSweepFile(f *testing.F) {
	f.Add("engines: [cpu]\nscales: 8-9\nmeter: [rapl]\n")
	f.Add("engines: [{name: cpu, set: {threads: [1, 2]}}]\ntimeout: 3s\nroots: &a 3\nrepeats: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxSweepFile || strings.ContainsAny(text, `/\.`) {
			return // a path: it would start a program
		}
		file := sweepFile{Repeats: 1}
		if parseYAML([]byte(text), &file) == nil {
			_, _ = file.sweep(t.Context(), builtins(), &processes{})
		}
	})
}
