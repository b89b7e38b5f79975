// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/internal/must"
)

func edit(path string, change func(string) string) {
	must.Do(os.WriteFile(path, []byte(change(read(path))), 0o666))
}

func read(path string) string {
	data := must.Get(os.ReadFile(path))
	return string(data)
}

// fourRoots is a run of four roots without its result.
func fourRoots(t *testing.T) *Store {
	t.Helper()
	s := newStore(t)
	s.addRoots(4)
	s.append(Entry{Engine: "one", GraphID: six, End: &End{State: Complete}})
	return s
}

// finishedRun returns the directory of a run of four roots, with its result.
func finishedRun(t *testing.T) string { return fourRoots(t).finish() }

// The lines of teps/2.0 have no digests: such a record can be read, but not resumed.
func TestJournalWithoutDigestsIsNotResumed(t *testing.T) {
	s := newStore(t)
	s.addRoots(2)
	s.Close()
	edit(journalOf(s), func(text string) string {
		return regexp.MustCompile(`,"digest":"[0-9a-f]*"`).ReplaceAllString(text, "")
	})
	must.Equal(t, len(must.Get(Load(s.Dir())).Runs[0].Roots), 2, "roots")
	_, err := Resume(s.Dir(), someSoftware, someMachine)
	must.Is(t, err, ErrUsage, "have no digests; start another run")
}

// docs/records.md describes the digest for readers in other languages; this test computes it without this package.
func TestDigestIsAsDocumented(t *testing.T) {
	dir := finishedRun(t)
	var files []string
	for _, name := range []string{ManifestFile, JournalFile, ResultFile} {
		files = append(files, read(filepath.Join(dir, name)))
	}
	text, _, _ := strings.Cut(files[2], ",\n  \"digest\": \"")
	sum := sha256.Sum256([]byte(files[0] + files[1] + text))
	want := hex.EncodeToString(sum[:])
	must.Equal(t, files[2][len(text):], ",\n  \"digest\": \""+want+"\"\n}\n", ResultFile, want)
	r, err := Load(dir)
	if err != nil || r.Digest != want || !r.Checksummed() {
		t.Errorf("loaded digest %q, error %v; want %s", r.Digest, err, want)
	}
	var file Result
	if err := json.Unmarshal([]byte(files[2]), &file); err != nil || file.JournalBytes != int64(len(files[1])) {
		t.Errorf("journal_bytes = %d, error %v; want %d", file.JournalBytes, err, len(files[1]))
	}
}

// A record that was edited is refused in a line: after its run, after a kill that left no result.json, and as its run
// ends, when the searches are kept.
func TestEditedRecordIsDetected(t *testing.T) {
	other := read(filepath.Join(finishedRun(t), ResultFile))
	half := func(s string) string { return s[:len(s)/2] }
	changed := func(l []string) []string { l[6] = replace("c", "C")(l[6]); return l }
	bare := func(l []string) []string { l[3] = l[3][:strings.Index(l[3], lineDigest)] + "}"; return l }
	cut := func(l []string) []string { l[2] = half(l[2]); return l }
	twice := func(l []string) []string { return append(l[:3], l[2:]...) }
	undigested := func(s string) string { return regexp.MustCompile(`,\s*"digest": "[0-9a-f]*"`).ReplaceAllString(s, "") }
	const byResult = "was edited: the digest in result.json does not match" // not found in a killed run
	for name, c := range map[string]struct {
		file   string
		change func(string) string
		want   string
	}{
		"a time":         {JournalFile, replace(`"time":1`, `"time":0.001`), "line 4 was edited"},
		"a count":        {JournalFile, replace(`"nedge":5`, `"nedge":1000000000000`), "line 4 was edited"},
		"the last line":  {JournalFile, lines(changed), "line 7 was edited"},
		"a missing line": {JournalFile, lines(func(l []string) []string { return append(l[:2], l[3:]...) }), "line 3 was"},
		"a line twice":   {JournalFile, lines(twice), "line 4 was edited"},
		"no first line":  {JournalFile, lines(func(l []string) []string { return l[1:] }), "line 1, or run.json, was edited"},
		"no digest":      {JournalFile, lines(bare), "line 4 was edited, or lines before it are missing"},
		"an added line":  {JournalFile, func(s string) string { return s + "{}\n" }, "line 9 was edited"},
		"half a line":    {JournalFile, lines(cut), "line 3 is damaged"},
		"zeros":          {JournalFile, func(s string) string { return s[:9] + "\x00\x00" + s[11:] }, "line 1 is damaged"},
		"half a session": {JournalFile, func(s string) string { return s + "{\"session\":\n" }, "line 9 is damaged"},
		"no last line":   {JournalFile, lines(func(l []string) []string { return l[:6] }), byResult},
		"no journal":     {JournalFile, func(string) string { return "" }, byResult},
		"the plan":       {ManifestFile, replace(`"roots": 64`, `"roots": 16`), "line 1, or run.json, was edited"},
		"half a plan":    {ManifestFile, half, "run.json is damaged: unexpected end of JSON"},
		"half a result":  {ResultFile, half, "result.json is damaged: unexpected end of JSON"},
		"another result": {ResultFile, func(string) string { return other }, byResult},
		"undigested":     {ResultFile, undigested, byResult},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(what string, err error, want string) {
				if text := fmt.Sprint(err); !strings.Contains(text, want) || strings.Contains(text, "\n") {
					t.Errorf("%s: %v\nwant a line with %q", what, err, want)
				}
			}
			dir := finishedRun(t)
			edit(filepath.Join(dir, c.file), c.change)
			_, err := Load(dir)
			check("finished", err, c.want)
			if c.file == ResultFile {
				return
			}
			if os.Remove(filepath.Join(dir, ResultFile)); c.want != byResult {
				before := read(filepath.Join(dir, JournalFile))
				_, err = Load(dir)
				check("killed", err, c.want)
				_, err = Resume(dir, someSoftware, someMachine)
				check("resumed", err, c.want)
				if read(filepath.Join(dir, JournalFile)) != before {
					t.Error("a resume changed the journal")
				}
			}
			s := fourRoots(t)
			edit(filepath.Join(s.Dir(), c.file), c.change)
			r, err := s.Finish()
			check("as it ends", err, "changed or damaged during the run: "+s.Dir())
			check("as it ends", err, c.want)
			if len(r.Runs) == 0 || len(r.Runs[0].Roots) != 4 {
				t.Errorf("the result is not that of the searches: %+v", r.Runs)
			}
		})
	}
}

func replace(old, new string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

func lines(change func([]string) []string) func(string) string {
	return func(s string) string {
		return strings.Join(change(strings.Split(strings.TrimSuffix(s, "\n"), "\n")), "\n") + "\n"
	}
}

func TestEditOfAnyByteIsDetected(t *testing.T) {
	dir := finishedRun(t)
	for _, name := range []string{ManifestFile, JournalFile, ResultFile} {
		path := filepath.Join(dir, name)
		whole, _ := os.ReadFile(path)
		rapid.Check(t, func(t *rapid.T) {
			at := rapid.IntRange(0, len(whole)-2).Draw(t, "at") // the last newline does not matter
			changed := append([]byte{}, whole...)
			changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
			os.WriteFile(path, changed, 0o666)
			if r, err := Load(dir); err == nil {
				t.Errorf("%s: byte %d changed from %q to %q, and %d roots were read", name, at, whole[at], changed[at],
					len(r.Runs[0].Roots))
			}
		})
		os.WriteFile(path, whole, 0o666)
	}
	if _, err := Load(dir); err != nil {
		t.Errorf("the record as it was: %v", err)
	}
}

func TestDigestCoversTheJournalOfEarlierSessions(t *testing.T) {
	s := newStore(t)
	s.addRoots(2)
	s.finish() // result.json is older than the journal from now on
	edit(journalOf(s), func(text string) string { return text + `{"engine":"one","sca` })
	must.Fail(t, must.Err(s.Finish()), "has more lines than the run wrote")
	resumed := must.Get(Resume(s.Dir(), someSoftware, someMachine))
	defer resumed.Close()
	resumed.append(rootEntry(2))
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 3 || r.Checksummed() {
		t.Errorf("during the resume: error %v, checksummed %v", err, r.Checksummed())
	}
	if r, err := resumed.Finish(); err != nil || !r.Checksummed() {
		t.Fatal(err)
	}
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 3 || !r.Checksummed() {
		t.Errorf("after the resume: error %v, checksummed %v", err, r.Checksummed())
	}
}

func TestSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		"teps/2": "its plan is not valid", "teps/2.0": "its plan", "teps/2.1": "its plan", "teps/2.99": "its plan",
		"teps/1":   "has schema \"teps/1\", but this teps reads " + Schema,
		"teps/1.7": "has schema \"teps/1.7\"",
		"teps/x":   "has schema \"teps/x\"",
		"other/1":  "not a record of teps",
		"":         "not a record of teps",
	} {
		if _, err := parseManifest([]byte(`{"schema":"` + schema + `"}`)); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %q", schema, err, want)
		}
	}
}

// Additions of a later minor version are ignored: members everywhere, and entries of new kinds.
func TestAdditionsOfNewerVersionsAreIgnored(t *testing.T) {
	s := newStore(t)
	s.addRoots(2)
	s.Close()
	edit(filepath.Join(s.Dir(), ManifestFile), func(text string) string {
		text = strings.Replace(text, Schema, "teps/2.1", 1)
		return strings.Replace(text, `"schema"`, `"added": {"a": 1}, "schema"`, 1)
	})
	edit(journalOf(s), func(string) string {
		return strings.Join([]string{
			`{"session":{},"added":1}`,
			`{"scale":6,"graph":{"recipe":{"scale":6,"edgefactor":16,"seed1":2,"seed2":3},"tuples":1024,"roots_found":9}}`,
			`{"engine":"one","scale":6,"kernel1":{"construction":{"elapsed":1},"wall":1}}`,
			`{"engine":"one","scale":6,"root":{"index":0,"root":7,"time":1,"wall":1,"added":[1]}}`,
			`{"engine":"one","scale":6,"weather":{"sun":true}}`,
			`{"engine":"one","scale":6,"root":{"index":1,"root":8,"time":1,"wall":1}}`,
		}, "\n") + "\n"
	})
	must.Equal(t, len(must.Get(Load(s.Dir())).Runs[0].Roots), 2, "roots")
}

// Each of these runs for as long as wanted: go test ./record -run '^$' -fuzz FuzzJournal -fuzztime 10m

// A journal that can be read reads the same without its torn line, and makes a result that can be written.
func FuzzJournal(f *testing.F) {
	_, official := officialRun()
	for _, entries := range [][]Entry{official[:7], append(official[:4:4], official[68])} {
		text := ""
		for _, e := range entries {
			line := must.Get(json.Marshal(e))
			text += string(line) + "\n"
		}
		f.Add([]byte(text))
	}
	f.Add([]byte("{\"session\":{}}\n{\"engine\":\"one\",\"scale\":6,\"energy\":{\"loop\":{\"elapsed\":10,\"searches\":5," +
		"\"teps\":1e9},\"meters\":[{\"meter\":{\"name\":\"a\",\"scope\":\"node\",\"method\":\"measured\"},\"used\":true," +
		"\"loop\":{\"joules\":1000,\"watts\":100,\"coverage\":1},\"idle\":{\"joules\":9,\"watts\":9,\"coverage\":1}}]}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"end\":{\"state\":\"complete\"}}\n{"))
	// Each number is finite, but not what follows from them.
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"root\":{\"time\":1e-320,\"wall\":1,\"nedge\":9000000000000000000}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"root\":{\"time\":1e308,\"wall\":-1e308,\"nedge\":-5}}\n" +
		"{\"engine\":\"one\",\"scale\":6,\"root\":{\"index\":1,\"time\":1e308,\"wall\":1,\"nedge\":1}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"energy\":{\"loop\":{\"elapsed\":1e300,\"searches\":0,\"teps\":1}," +
		"\"meters\":[{\"meter\":{\"name\":\"a\",\"scope\":\"node\",\"method\":\"measured\"},\"used\":true," +
		"\"loop\":{\"joules\":1,\"watts\":1e300,\"coverage\":1}}]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, whole, err := parseJournal(nil, data)
		if err != nil {
			return
		}
		if whole > len(data) {
			t.Fatalf("%d whole bytes of %d", whole, len(data))
		}
		again, rest, err := parseJournal(nil, data[:whole])
		if err != nil || rest != whole || len(again) != len(entries) {
			t.Fatalf("the whole part reads differently: %d entries, %v", len(again), err)
		}
		plan := somePlan()
		plan.Engines = plan.Engines[:1]
		r, err := replay(Manifest{Plan: plan}, entries)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("the result cannot be written: %v", err)
		}
	})
}

// A record of any three files is read, or refused in one line.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	write := func(name string, data []byte) error { return os.WriteFile(filepath.Join(dir, name), data, 0o600) }
	s := must.Get(Create(filepath.Join(dir, "seed"), NewManifest(nil, somePlan(), someSoftware, someMachine)))
	must.Get(s.Finish())
	s.Close()
	var seed [3][]byte
	for i, name := range []string{ManifestFile, JournalFile, ResultFile} {
		seed[i] = must.Get(os.ReadFile(filepath.Join(s.Dir(), name)))
	}
	f.Add(seed[0], seed[1], seed[2])
	f.Add(seed[0], seed[1], []byte(nil))
	f.Add(seed[0], seed[1], []byte(`{"id":"","journal_bytes":-1}`))
	f.Add([]byte(`{"schema":"`+strings.Repeat("\x85", 5000)+`"}`), seed[1], []byte(nil)) // an error quotes it
	f.Fuzz(func(t *testing.T, manifest, journal, result []byte) {
		if write(ManifestFile, manifest) != nil || write(JournalFile, journal) != nil || write(ResultFile, result) != nil {
			t.Fatal("the files cannot be written")
		}
		if len(result) == 0 {
			os.Remove(filepath.Join(dir, ResultFile))
		}
		r, err := Load(dir)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || len(text) > 2000 {
				t.Fatalf("an error of %d bytes, or of several lines: %.500q", len(text), text)
			}
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("the result cannot be written: %v", err)
		}
	})
}
