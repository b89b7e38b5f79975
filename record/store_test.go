// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/machine"
)

var (
	someSoftware = Software{Version: "v0", Compiler: "go", Program: strings.Repeat("0123456789abcdef", 4)}
	someMachine  = machine.Machine{CPU: "a processor", Threads: 2, MemoryBytes: 1 << 30, OS: "linux"}
	six          = GraphID{Scale: 6}
)

func somePlan() Plan {
	p := DefaultPlan()
	p.Engines = []EngineSpec{{Name: "one", Builtin: "one"}, {Name: "two", Builtin: "two"}}
	p.Scales = []int{6}
	return p
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s := must.Get(Create(filepath.Join(t.TempDir(), "run"),
		NewManifest([]string{"teps", "run"}, somePlan(), someSoftware, someMachine)))
	t.Cleanup(func() { s.Close() })
	k := somePlan().Recipe(6)
	s.append(Entry{GraphID: six, Graph: &GraphRecord{Recipe: k, Tuples: k.Tuples(), RootsFound: 64}},
		kernel1Entry(time.Second))
	return s
}

func (s *Store) append(entries ...Entry) {
	for _, e := range entries {
		must.Do(s.Append(e))
	}
}

func (s *Store) addRoots(n int) {
	for i := range n {
		s.append(rootEntry(i))
	}
}

func rootEntry(i int) Entry {
	root := &RootRecord{Index: i, Root: graph.Vertex(10 + i), Time: 1, Wall: 2, NEdge: nedge(5)}
	return Entry{Engine: "one", GraphID: six, Root: root}
}

// finish writes the result, closes the store and returns its directory.
func (s *Store) finish() string {
	must.Get(s.Finish())
	s.Close()
	return s.Dir()
}

func journalOf(s *Store) string { return filepath.Join(s.Dir(), JournalFile) }

func TestTornLastLineIsDropped(t *testing.T) {
	for name, tail := range map[string]string{
		"without a newline":          `{"engine":"one","scale":6,"root":{"ind`,
		"a whole block of zeros":     string(make([]byte, 512)),
		"valid JSON without newline": `{"engine":"one","scale":6,"root":{"index":2,"root":12,"time":1,"wall":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			s.addRoots(2)
			s.Close()
			edit(journalOf(s), func(text string) string { return text + tail })
			r, err := Load(s.Dir())
			if err != nil || len(r.Runs) != 2 || len(r.Runs[0].Roots) != 2 || r.Runs[0].Roots[1].Root != 11 ||
				r.Runs[0].State != Interrupted || r.ID != s.Manifest().ID || r.Started != s.Manifest().Started {
				t.Fatalf("load: error %v, %+v; want an interrupted run with the 2 whole lines", err, r)
			}
			resumed := must.Get(Resume(s.Dir(), someSoftware, someMachine))
			defer resumed.Close()
			notes := strings.Join(resumed.Resumed(), "; ")
			if !regexp.MustCompile(`^resumed after 2 of 64 searches of engine one at scale 6, journaled at 20.*Z; ` +
				`the last line of roots.jsonl is incomplete; its search is done again$`).MatchString(notes) {
				t.Errorf("a resume says %q", notes)
			}
			resumed.append(rootEntry(2))
			must.Equal(t, len(must.Get(Load(s.Dir())).Runs[0].Roots), 3, "roots after the resume")
		})
	}
}

// A pipe without a writer would make teps wait for ever.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	for _, name := range []string{ManifestFile, JournalFile, ResultFile} {
		dir := finishedRun(t)
		path := filepath.Join(dir, name)
		must.Do(os.Remove(path))
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		must.Is(t, must.Err(Load(dir)), regular.ErrRefused, name)
		if _, err := Resume(dir, someSoftware, someMachine); err == nil {
			t.Errorf("resume accepted a pipe as %s", name)
		}
		if _, err := Create(dir, NewManifest(nil, somePlan(), someSoftware, someMachine)); err == nil {
			t.Errorf("a new run accepted a pipe as %s", name)
		}
	}
}

// Errors quote parts of a record, in one line of bounded length.
func TestLoadRejectsDamagedRecordsInALine(t *testing.T) {
	long := strings.Repeat("long\u0085", 1<<12)
	for name, c := range map[string]struct{ file, content, want string }{
		"newer schema": {ManifestFile, `{"schema":"teps/3"}`, "teps/3"},
		"long schema":  {ManifestFile, `{"schema":"` + long + `"}`, "want \"teps/2"},
		"empty":        {ManifestFile, "", "damaged"},
		"wrong member": {ManifestFile, `{"schema":"teps/2","id":5}`, "damaged"},
		"wrong plan":   {ManifestFile, `{"schema":"teps/2","plan":{}}`, "its plan is not valid"},
		"foreign graph": {
			JournalFile, `{"engine":"one","source":"` + long + `","end":{"state":"complete"}}` + "\n", "not in the plan",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			edit(filepath.Join(s.Dir(), c.file), func(string) string { return c.content })
			_, err := Load(s.Dir())
			if text := fmt.Sprint(err); !strings.Contains(text, c.want) || len(text) > 1100 ||
				strings.ContainsAny(text, "\n\u0085") {
				t.Errorf("got %.1200q, want a line with %q", text, c.want)
			}
		})
	}
	s := newStore(t)
	os.Remove(journalOf(s))
	must.Fail(t, must.Err(Load(s.Dir())), "restore the file")
	for _, dir := range []string{t.TempDir(), filepath.Join(s.Dir(), ManifestFile)} {
		must.Is(t, must.Err(Load(dir)), ErrUsage)
		must.Is(t, must.Err(Resume(dir, someSoftware, someMachine)), ErrUsage)
	}
}

func TestImpossibleEntriesHaveNoResult(t *testing.T) {
	s := newStore(t)
	s.append(Entry{Engine: "one", GraphID: six, Root: &RootRecord{Index: 5}})
	_, err := s.Finish()
	if _, missing := os.Stat(filepath.Join(s.Dir(), ResultFile)); err == nil || missing == nil ||
		!strings.Contains(err.Error(), "line 4: root 5 where root 0 is expected; the lines before it are usable") {
		t.Errorf("got %v, %s: %v", err, ResultFile, missing)
	}
}

func TestStoreIsLocked(t *testing.T) {
	s := newStore(t)
	must.Is(t, must.Err(Resume(s.Dir(), someSoftware, someMachine)), ErrUsage, "another teps")
	must.Is(t, must.Err(Create(s.Dir(), s.Manifest())), ErrUsage)
}

func TestResumeRejectsOtherMachineAndBuild(t *testing.T) {
	s := newStore(t)
	s.Close()
	other := someMachine
	other.CPU = "another processor"
	must.Is(t, must.Err(Resume(s.Dir(), someSoftware, other)), ErrUsage)
	if _, err := Resume(s.Dir(), Software{Version: "v1", Compiler: "go"}, someMachine); !errors.Is(err, ErrUsage) {
		t.Errorf("other build: %v", err)
	}
	again, err := Resume(s.Dir(), someSoftware, someMachine)
	if err != nil {
		t.Fatalf("a resume that was refused keeps the record locked: %v", err)
	}
	again.Close()
}

func TestCreateInOtherDirectories(t *testing.T) {
	file, begun, lost := filepath.Join(t.TempDir(), "threads.yaml"), t.TempDir(), t.TempDir()
	for path, content := range map[string]string{
		file: "", filepath.Join(begun, JournalFile): "", filepath.Join(lost, JournalFile): "{}\n",
	} {
		must.Do(os.WriteFile(path, []byte(content), 0o666))
	}
	for _, dir := range []string{file, filepath.Join(file, "run"), lost} {
		if _, err := Create(dir, Manifest{}); !errors.Is(err, ErrUsage) ||
			!strings.Contains(err.Error(), "choose another directory") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := Create("/proc/teps", Manifest{}); err == nil {
		t.Error("/proc was accepted as a directory")
	}
	s, err := Create(begun, NewManifest(nil, somePlan(), someSoftware, someMachine))
	if err != nil {
		t.Fatalf("an empty journal without a manifest: %v", err)
	}
	s.Close()
}

// A run that has measured nothing leaves nothing behind, but files of others stay.
func TestDiscard(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		s := newStore(t)
		if foreign {
			must.Do(os.WriteFile(filepath.Join(s.Dir(), "notes"), nil, 0o666))
		}
		s.Discard()
		if _, err := os.Stat(s.Dir()); os.IsNotExist(err) == foreign {
			t.Errorf("with a file of another program %v: %v", foreign, err)
		}
	}
}

func TestFullDiskLeavesNoPartialLine(t *testing.T) {
	s := newStore(t)
	s.addRoots(2)
	before := read(journalOf(s))
	// A limit of the length of files, like a full disk, ends a write after some of its bytes.
	var limit syscall.Rlimit
	must.Do(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	shorter := limit
	shorter.Cur = uint64(len(before)) + 10
	must.Do(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &shorter))
	err := s.Append(Entry{Engine: "one", GraphID: six, Root: &RootRecord{Index: 2}})
	must.Do(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	must.Is(t, err, ErrNotWritten, "resume the run")
	if read(journalOf(s)) != before {
		t.Error("the journal changed")
	}
	must.Equal(t, len(must.Get(s.Result()).Runs[0].Roots), 2, "roots that are on the disk")
}

func TestWriteFileReplacesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two, longer"} {
		must.Do(WriteFile(path, []byte(content)))
		must.Equal(t, read(path), content)
	}
	missing := filepath.Join(dir, "missing", "page.html")
	if err := WriteFile(missing, nil); err == nil || err.Error() != "write "+missing+": no such file or directory" {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRunsFindsNestedDirectories(t *testing.T) {
	store := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(store, path)
		must.Do(os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(os.WriteFile(path, []byte(content), 0o666))
	}
	put("b/run.json", "{}")
	put("a/deep/er/run.json", "{}")
	put("a/deep/er/inside/run.json", "{}") // in the directory of another run
	put("lost/roots.jsonl", "{}\n")        // its run.json is missing
	put("begun/roots.jsonl", "")           // killed at its start
	put("other/result.txt", "")
	put(".discarded/run.json", "{}")
	directories := must.Get(Runs(store))
	want := []string{"a/deep/er", "a/deep/er/inside", "b", "lost"}
	for i := range want {
		want[i] = filepath.Join(store, filepath.FromSlash(want[i]))
	}
	must.Equal(t, directories, want)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(store, link); err != nil {
		t.Skip(err)
	}
	if linked, err := Runs(link); err != nil || len(linked) != len(want) ||
		linked[0] != filepath.Join(link, "a", "deep", "er") {
		t.Errorf("behind a link: %q, %v", linked, err)
	}
	must.Equal(t, must.Get(Runs(want[2])), want[2:3], "the directory of a run")
	for _, no := range []string{"missing", "b/run.json"} {
		must.Is(t, must.Err(Runs(filepath.Join(store, no))), ErrUsage)
	}
}
