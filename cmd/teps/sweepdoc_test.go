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
	"testing"
)

// TestSweepsDocumentWorks writes the files of docs/sweeps.md, makes a dry run of each, and runs the shell block.
func TestSweepsDocumentWorks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "sweeps.md"))
	if err != nil {
		t.Fatal(err)
	}
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
	var files []string
	yaml := regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n(.*?)^```")
	for _, block := range yaml.FindAllStringSubmatch(string(page), -1) {
		files = append(files, block[1])
		if err := os.WriteFile(filepath.Join(work, block[1]), []byte(block[2]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 2 {
		t.Fatalf("the page has the files %v, want 2", files)
	}
	for _, file := range files {
		out := do("teps sweep " + file + " --dry-run")
		if file == "partitions.yaml" && !strings.Contains(out, "42 of 42 runs to do") {
			t.Errorf("the dry run of %s prints\n%s", file, out)
		}
	}
	out := do(sections("## x\n" + string(page))[0].shell)
	for _, want := range []string{
		"run 16 of 16: ", "cpu:threads=2:adjacency=packed     13   2/2",
		"bfs  harmonic_mean_TEPS:", "wrote threads.html",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}

	// Engines that are built without CUDA describe themselves, so that their options are checked.
	build := exec.Command("go", "build", "-o", work+"/", "../teps-engine-cuda", "../teps-engine-cuda-literature")
	succeed(t, build)
	literature, err := filepath.Abs("../../docs/literature.yaml")
	if err != nil {
		t.Fatal(err)
	}
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
