// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/internal/must"
)

var long = flag.Bool("long", false, "long tests: 20 kills of a sweep, all cases of conformance")

// recordsIn describes every run of a store, without times: every measurement of a job repeats the rest. A store holds
// only runs and its lock.
func recordsIn(store string) map[string]string {
	list := must.Get(os.ReadDir(store))
	all := map[string]string{}
	for _, f := range list {
		if f.Name() == ".lock" {
			continue
		}
		run := loaded(filepath.Join(store, f.Name())).Runs[0]
		text := fmt.Sprintf("%s, valid %v, sessions %d: ", run.State, run.Valid, run.Sessions)
		for _, root := range run.Roots {
			text += fmt.Sprintf("%d: root %d, m %d, nedge %d, reached %d, depth %d; ",
				root.Index, root.Root, *root.M, *root.NEdge, *root.Reached, *root.Depth)
		}
		files, _ := os.ReadDir(filepath.Join(store, f.Name()))
		for _, file := range files {
			text += file.Name() + " "
		}
		all[f.Name()] = text
	}
	return all
}

// entriesIn counts the entries of a directory, 0 if it does not exist.
func entriesIn(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

// A sweep that is killed several times, at random moments, makes the same records as an uninterrupted one.
func TestASweepKilledAtRandomMakesTheSameRecords(t *testing.T) {
	t.Parallel()
	kills := 1
	if *long {
		kills = 20
	}
	repeats := 2 * kills
	write := func(store string) string {
		path := filepath.Join(t.TempDir(), "sweep.yaml")
		text := fmt.Sprintf("store: %s\nengines: [{name: cpu, set: {threads: [1, 2]}}, distributed]\n"+
			"scales: 6-7\nrepeats: %d\nroots: 6\n", store, repeats)
		must.Do(os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	undisturbed := filepath.Join(t.TempDir(), "undisturbed")
	first, temp := teps(t, "sweep", "--quiet", write(undisturbed))
	began := time.Now()
	succeed(t, first)
	took := time.Since(began)
	nothingLeft(t, temp)

	store := filepath.Join(t.TempDir(), "killed")
	file := write(store)
	random := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	hit := 0
	// One temp directory: what a host leaves that is killed while it starts an engine is for the next one to remove.
	temp = shortTemp(t)
	for range kills {
		cmd, _ := teps(t, "sweep", "--quiet", file)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		cells := entriesIn(store)
		must.Do(cmd.Start())
		// There are 12 runs for each kill. It waits for up to 7, and then for the time that 4 more take, or until they are
		// there, so that the sweep is still running on a machine of any speed.
		cells = min(cells+random.IntN(8), 6*repeats)
		waitFor(t, "some cells of the sweep", func() bool { return entriesIn(store) >= cells })
		pause := time.Duration(random.Int64N(int64(took) * 4 / int64(6*repeats)))
		for end := time.Now().Add(pause); time.Now().Before(end) && entriesIn(store) < cells+4; time.Sleep(time.Millisecond) {
		}
		engines := children(cmd.Process.Pid)
		cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			hit++
		}
		waitForEnd(t, engines)
	}
	if hit < (kills+1)/2 {
		t.Errorf("only %d of %d kills hit a sweep that was still running", hit, kills)
	}
	last, _ := teps(t, "sweep", "--quiet", file)
	last.Env = append(last.Env, "TMPDIR="+temp)
	succeed(t, last)
	nothingLeft(t, temp)
	got, want := recordsIn(store), recordsIn(undisturbed)
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 6*repeats {
		t.Errorf("%d records; undisturbed (-) and killed (+): %s", len(want), diff)
	}
	for name, text := range got {
		if !strings.HasPrefix(text, "complete, valid true, sessions 1: ") ||
			!strings.HasSuffix(text, "; result.json roots.jsonl run.json ") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

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
