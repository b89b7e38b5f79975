//go:build linux && cgo

package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/record"
)

var hostileProduct = flag.Bool("hostile.product", false, "every fault in every language: some minutes")

// A fault is one thing that an engine does wrong. Its name is CALL-MODE, the same in all languages.
type fault struct {
	name      string
	want      string // a regular expression of the line that reports it; "": it does no harm
	languages string // that can do it; "": all
}

var faults = []fault{
	{name: "describe-crash", want: `failed: describe: .*engine has crashed: `},
	{name: "describe-hang", want: `failed: .*describe: engine does not return: .*at most 15s`},
	{name: "describe-lie", want: `failed: describe: .*engine gave an impossible answer: memory.per_vertex is -1`},
	{name: "describe-name", want: `failed: describe: .*summary is .* want at most 1024 bytes`, languages: "Go Python"},
	{name: "describe-flood"},
	{name: "describe-fork"},

	{name: "construct-crash", want: `failed: kernel 1: .*engine has crashed: `},
	{name: "construct-hang", want: `failed: kernel 1.*engine does not return: .*killed`},
	{name: "construct-write", want: `failed: kernel 1: .*it wrote to tuple 3, and tuples can`, languages: "C"},
	{name: "construct-write", want: `failed: kernel 1: .*`, languages: "Go Python"},
	{name: "construct-replace"}, // the kernel refuses it
	{name: "construct-read", want: `failed: kernel 1: .*it used memory behind the end of the 16384`, languages: "C"},
	{name: "construct-refuse", want: `failed: kernel 1: .*no such device: engine is not available`, languages: "C"},
	{name: "construct-lie", want: `failed: kernel 1: .*(-1 bytes|reported time 1h0m0s exceeds)`},
	{name: "construct-flood"},
	{name: "construct-fork"},

	{name: "search-crash", want: `failed: .*search: .*engine has crashed: `},
	{name: "search-exit", want: `failed: .*search: .*engine has crashed: `},
	{name: "search-panic", want: `failed: .*search: .*boom`, languages: "Go Python"},
	{name: "search-abort", want: `failed: .*crashed in teps_search: aborted`, languages: "C"},
	{name: "search-divide", want: `failed: .*arithmetic error`, languages: "C"},
	{name: "search-stack", want: `failed: .*the stack is full`, languages: "C"},
	{name: "search-hang", want: `failed: .*search.*engine does not return: .*killed`},
	{name: "search-loop", want: `failed: .*search.*engine does not return: .*killed`, languages: "C"},
	{name: "search-write", want: `failed: .*it used parent\[1024\], behind the end of the 1024 parents`, languages: "C"},
	{name: "search-write", want: `failed: .*search: .*`, languages: "Go Python"},
	{name: "search-before", want: `failed: .*it used memory before parent\[0\]`, languages: "C"},
	{name: "search-far", want: `failed: .*it used memory before parent\[0\]`, languages: "C"},
	{name: "search-late", want: `root \d+ is invalid: .*its parent is -77`},
	{name: "search-tree", want: `root \d+ is invalid: .*the parents form a cycle of 2 vertices`},
	{name: "search-lie", want: `failed: .*reported time 1h0m0s exceeds`},
	{name: "search-fast", languages: "C"}, // the time of the call counts
	{name: "search-fast", want: `failed: .*reported time 1µs is less than half`, languages: "Go Python"},
	{name: "search-levels", want: `failed: .*300000 levels`, languages: "C"},
	{name: "search-levels", want: `failed: .*impossible answer: .*(levels|frontiers)`, languages: "Go Python"},
	{name: "search-flood"},
	{name: "search-fork"},

	{name: "repeat-crash", want: `engine has crashed: `},
	{name: "repeat-hang", want: `engine does not return: .*killed`},
	{name: "repeat-lie", want: `-5`},
	{name: "repeat-flood"},
	{name: "repeat-fork"},

	{name: "close-crash", want: `failed: .*close: engine has crashed: `},
	{name: "close-hang", want: `failed: .*close: engine does not return: .*killed`},
	{name: "close-flood"},
	{name: "close-fork"},
}

func (f fault) call() string {
	call, _, _ := strings.Cut(f.name, "-")
	return call
}

// group returns the name of the run that f is part of: Describe has no options, and a hang has a short limit of time.
func (f fault) group() string {
	switch {
	case f.call() == "describe", f.hangs():
		return f.name
	case f.call() == "repeat":
		return "energy"
	}
	return "run"
}

// usual reports whether f is part of every test, and not of -hostile.product alone: a hang takes as long in any
// language, and engines in Python take long to start.
func (f fault) usual(language string) bool {
	switch language {
	case "C":
		return !f.hangs() || !testing.Short()
	case "Go":
		return !f.hangs()
	}
	return f.call() != "repeat" && regexp.MustCompile(`-(crash|write|replace|late|lie|flood|fork)$`).MatchString(f.name)
}

func (f fault) hangs() bool {
	return strings.HasSuffix(f.name, "-hang") || strings.HasSuffix(f.name, "-loop")
}

// hostileEngines returns the hostile engine in each language, or why it cannot be made here.
func hostileEngines(t *testing.T) (paths, missing map[string]string) {
	t.Helper()
	paths, missing = map[string]string{}, map[string]string{}
	path, err := exec.LookPath("teps-engine-hostile") // this test binary
	if err != nil {
		t.Fatal(err)
	}
	paths["Go"] = path
	source, err := filepath.Abs(filepath.Join("testdata", "hostile"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for language, command := range map[string]string{
		"C": `cc -std=gnu99 -O1 -shared -fPIC -pthread -I "$2/native" -o engine.so "$1/hostile.c"`,
		"Python": needs()["python"] + ` && cp "$1/hostile.py" engine && chmod +x engine && ` +
			`cp "$2"/examples/python/teps* . && protoc --python_out=. -I "$2/plugins/rpc/internal/enginepb" engine.proto`,
	} {
		cmd := exec.Command("sh", "-c", command, "sh", source, repository(t))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			missing[language] = string(out)
		}
		paths[language] = filepath.Join(dir, map[string]string{"C": "engine.so", "Python": "engine"}[language])
	}
	return paths, missing
}

// TestHostileEngines gives teps engines that misbehave in each of their calls. Each is reported in one line, the
// engines after it are measured as if it were not there, and no process and no file is left, also in /dev/shm. Segments
// of shared memory have no name in any file system, so they are gone with the processes.
func TestHostileEngines(t *testing.T) {
	t.Parallel()
	sharedMemoryStays(t)
	paths, missing := hostileEngines(t)
	for language, path := range paths {
		groups := map[string][]fault{}
		for _, f := range faults {
			if (f.languages == "" || strings.Contains(f.languages, language)) && (*hostileProduct || f.usual(language)) {
				groups[f.group()] = append(groups[f.group()], f)
			}
		}
		for group, members := range groups {
			t.Run(language+"/"+group, func(t *testing.T) {
				t.Parallel()
				if why, ok := missing[language]; ok {
					t.Skipf("tools are missing (.ci/setup installs them):\n%s", why)
				}
				hostileRun(t, path, group, members)
			})
		}
	}
}

func hostileRun(t *testing.T, path, group string, members []fault) {
	dir := filepath.Join(t.TempDir(), "run")
	engines := []string{"honest=" + path}
	for _, f := range members {
		engine := f.name + "=" + path
		if f.call() == "describe" {
			engines = nil // the variable is for all engines of the program
		} else {
			engine += ":fault=" + f.name
		}
		engines = append(engines, engine)
	}
	timeout := "1m"
	if members[0].hangs() {
		timeout = "3s"
	}
	cmd, temp := teps(t, "run", "--engine", strings.Join(append(engines, "cpu"), ","), "--scale", "10", "--roots", "10",
		"--timeout", timeout, "--out", dir)
	if members[0].call() == "repeat" {
		cmd.Args = append(cmd.Args, "--energy", "1s", "--meter", "command:wall="+script(t, steady))
	}
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Env, "TEPS_HOSTILE="+group)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run() // the exit code says more
	harmful := slices.ContainsFunc(members, func(f fault) bool { return f.want != "" })
	want := exitValid
	if harmful {
		want = exitFailed
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Errorf("exit code %d, want %d:\n%s", code, want, &stderr)
	}
	nothingLeft(t, temp)
	nothingLeft(t, cmd.Dir)
	noProcessLeft(t, temp)
	judge(t, dir, stderr.String(), members)
}

// judge compares the record and the messages of a run with what its engines do.
func judge(t *testing.T, dir, stderr string, members []fault) {
	progress, _, _ := strings.Cut(stderr, "\n\n") // the table follows
	for line := range strings.Lines(progress) {
		if !regexp.MustCompile(`^(teps|scale 10): `).MatchString(line) && !strings.HasPrefix(line, "teps run: ") ||
			len(line) > 700 {
			t.Errorf("want one line for each fault, this one is part of another or too long: %.700q", line)
		}
		for _, f := range members {
			if strings.Count(line, f.name) > 1 || strings.Contains(line, "rpc:") {
				t.Errorf("want the name of the engine once, got %q", line)
			}
		}
	}
	r, err := record.Load(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	runs := map[string]record.Run{}
	for _, run := range r.Runs {
		runs[run.Engine.Name] = run
	}
	honest := []string{"cpu"}
	for _, f := range members {
		if f.want == "" {
			honest = append(honest, f.name)
			continue
		}
		found := regexp.MustCompile(`(?m)^teps: scale 10: `+f.name+`: .*`).FindAllString(stderr, -1)
		found = slices.DeleteFunc(found, func(line string) bool { return strings.Contains(line, " is repeated, because ") })
		if len(found) == 0 || len(found) > 3 || !regexp.MustCompile(f.want).MatchString(found[0]) {
			t.Errorf("%s: want a line that matches %q, got %q", f.name, f.want, found)
		}
	}
	if members[0].call() != "describe" {
		honest = append(honest, "honest")
	}
	for _, name := range honest {
		if run := runs[name]; run.State != record.Complete || !run.Valid || len(run.Roots) != 10 {
			t.Errorf("engine %s is %s, valid: %v, with %d roots; want all of them:\n%s",
				name, run.State, run.Valid, len(run.Roots), stderr)
		}
	}
	const maxRecord = 1 << 20
	for _, name := range []string{record.ResultFile, record.JournalFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > maxRecord {
			t.Errorf("%s: want at most %d bytes, got %v", name, maxRecord, info.Size())
		}
	}
}

// TestErrorsNameTheEngineOnce gives each command engines that fail before they are measured.
func TestErrorsNameTheEngineOnce(t *testing.T) {
	t.Parallel()
	hostile, err := exec.LookPath("teps-engine-hostile")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`wicked|\bhostile\b`) // by its file, and as it describes itself
	for why, program := range map[string]string{
		"does not start":       "this is text\n",
		"ends at once":         "#!/bin/sh\nexit 3\n",
		"crashes in Describe":  "#!/bin/sh\nTEPS_HOSTILE=describe-crash exec " + hostile + "\n",
		"lies in Describe":     "#!/bin/sh\nTEPS_HOSTILE=describe-lie exec " + hostile + "\n",
		"crashes in Construct": "#!/bin/sh\nTEPS_HOSTILE_ALWAYS=construct-crash exec " + hostile + "\n",
		"crashes in Close":     "#!/bin/sh\nTEPS_HOSTILE=close-crash exec " + hostile + "\n",
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			engine, sweep := filepath.Join(dir, "teps-engine-wicked"), filepath.Join(dir, "sweep.yaml")
			writeProgram(t, engine, program)
			file := "engines: [" + engine + "]\nscales: 6\nroots: 2\n"
			if err := os.WriteFile(sweep, []byte(file), 0o666); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"engines", engine}, {"conform", engine, "--case", "describe/*", "--case", "graph/*"},
				{"run", "--engine", engine, "--scale", "6", "--roots", "2"}, {"sweep", sweep},
			} {
				cmd, _ := teps(t, args...)
				cmd.Dir = dir
				out, _ := cmd.CombinedOutput()
				// teps engines does not construct.
				code := cmd.ProcessState.ExitCode()
				if harmless := args[0] == "engines" && why == "crashes in Construct"; (code == exitFailed) == harmless {
					t.Errorf("teps %s: exit code %d:\n%s", args[0], code, out)
				}
				text := strings.NewReplacer(engine, "PATH", hostile, "PATH", "hostile 1", "").Replace(string(out))
				for line := range strings.Lines(text) {
					if len(name.FindAllString(line, -1)) > 1 || strings.Contains(line, "rpc:") {
						t.Errorf("teps %s: want the name of the engine once, got %q", args[0], line)
					}
				}
			}
		})
	}
}

// noProcessLeft fails if a process has TMPDIR=temp in its environment, or the name temp, and kills it.
func noProcessLeft(t *testing.T, temp string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		environment, _ := os.ReadFile(filepath.Join(process, "environ"))
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		if bytes.Contains(environment, []byte("TMPDIR="+temp+"\x00")) || bytes.HasPrefix(command, []byte(temp+"\x00")) {
			t.Errorf("%s is left: %q", process, command)
			_ = exec.Command("kill", "-9", filepath.Base(process)).Run()
		}
	}
}

// sharedMemoryStays fails at the end of the test if there is a file of shared memory that was not there before. Other
// programs may make some meanwhile, which are mapped until they are deleted.
func sharedMemoryStays(t *testing.T) {
	t.Helper()
	files := func() []string {
		found, err := filepath.Glob("/dev/shm/*")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := files()
	mapped := func(file string) bool {
		maps, _ := filepath.Glob("/proc/[0-9]*/maps")
		return slices.ContainsFunc(maps, func(path string) bool {
			data, _ := os.ReadFile(path)
			return bytes.Contains(data, []byte(file))
		})
	}
	t.Cleanup(func() {
		for _, file := range files() {
			if !slices.Contains(before, file) {
				waitFor(t, file+" to be deleted or mapped", func() bool {
					_, err := os.Stat(file)
					return err != nil || mapped(file)
				})
			}
		}
	})
}
