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

// TestSweepsWordByWord writes the files of docs/sweeps.md, does what its shell block says, and plans every file.
func TestSweepsWordByWord(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "sweeps.md"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := teps(t, "version")
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
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
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
		if file == "cuts.yaml" && !strings.Contains(out, "7 engines x scales [14 16] x 3: 30 runs, grouped") {
			t.Errorf("the plan of %s is\n%s", file, out)
		}
	}
	out := do(sections("## x\n" + string(page))[0].shell)
	for _, want := range []string{"run 16 of 16: ", "cpu:threads=2:adjacency=packed     13   2/2", `"schema": "teps-sweep/1"`, "bfs  harmonic_mean_TEPS:", "written: threads.html"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}

	// The tables name every field there is, and no other.
	for _, name := range append(sweepFields[:], "label", "checksum", "edgefactor", "roots", "validate", "warmup", "timeout", "seed1", "seed2", "energy", "meter") {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not name the field %s", name)
		}
	}
}
