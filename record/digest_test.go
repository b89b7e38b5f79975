// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func edit(t *testing.T, path string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(text))), 0o666); err != nil {
		t.Fatal(err)
	}
}

// finishedRun returns the directory of a run of four roots, with its result.
func finishedRun(t *testing.T) string {
	t.Helper()
	s := newStore(t)
	s.addRoots(t, 4)
	s.append(t, Entry{Engine: "one", GraphID: six, End: &End{State: Complete}})
	return s.finish(t)
}

// A killed run has no result.json, but each line of its journal has the digest of those before it.
func TestJournalThatWasEditedIsNotResumed(t *testing.T) {
	last := func(l []string) []string { l[6] = replace("5", "6")(l[6]); return l }
	without := func(l []string) []string { return append(l[:4], l[5:]...) }
	bare := func(l []string) []string { l[3] = l[3][:strings.Index(l[3], lineDigest)] + "}"; return l }
	for name, c := range map[string]struct {
		file   string
		change func(string) string
		want   string
	}{
		"a time":           {JournalFile, replace(`"time":1`, `"time":0.001`), "line 3 was edited"},
		"a count":          {JournalFile, replace(`"nedge":5`, `"nedge":1000000000000`), "line 3 was edited"},
		"the last line":    {JournalFile, lines(last), "line 7 was edited"},
		"a line is gone":   {JournalFile, lines(without), "line 5 was edited, or lines before it are missing"},
		"the first line":   {JournalFile, replace(`"started":"2`, `"started":"1`), "line 1, or run.json, was edited"},
		"the plan":         {ManifestFile, replace(`"roots": 64`, `"roots": 16`), "line 1, or run.json, was edited"},
		"a digest is gone": {JournalFile, lines(bare), "line 4 was edited"},
	} {
		s := newStore(t)
		s.addRoots(t, 5)
		s.Close()
		if _, err := Load(s.Dir()); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(s.Dir(), c.file), c.change)
		_, loadErr := Load(s.Dir())
		_, err := Resume(s.Dir(), someSoftware, someMachine)
		if !strings.Contains(fmt.Sprint(loadErr), c.want) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: load: %v, resume: %v; want %q", name, loadErr, err, c.want)
		}
	}
}

// The lines of teps/2.0 have no digests: such a record can be read, but not resumed.
func TestJournalWithoutDigestsIsNotResumed(t *testing.T) {
	s := newStore(t)
	s.addRoots(t, 2)
	s.Close()
	edit(t, journalOf(s), func(text string) string {
		return regexp.MustCompile(`,"digest":"[0-9a-f]*"`).ReplaceAllString(text, "")
	})
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 2 {
		t.Errorf("load: %v", err)
	}
	_, err := Resume(s.Dir(), someSoftware, someMachine)
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "have no digests; start another run") {
		t.Errorf("resume: %v", err)
	}
}

// docs/records.md describes the digest for readers in other languages; this test computes it without this package.
func TestDigestIsAsDocumented(t *testing.T) {
	dir := finishedRun(t)
	var files []string
	for _, name := range []string{ManifestFile, JournalFile, ResultFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(data))
	}
	text, _, _ := strings.Cut(files[2], ",\n  \"digest\": \"")
	sum := sha256.Sum256([]byte(files[0] + files[1] + text))
	want := hex.EncodeToString(sum[:])
	if got := files[2][len(text):]; got != ",\n  \"digest\": \""+want+"\"\n}\n" {
		t.Errorf("%s ends with %q, want the digest %s", ResultFile, got, want)
	}
	r, err := Load(dir)
	if err != nil || r.Digest != want || !r.Checksummed() {
		t.Errorf("loaded digest %q, error %v; want %s", r.Digest, err, want)
	}
	var file Result
	if err := json.Unmarshal([]byte(files[2]), &file); err != nil || file.JournalBytes != int64(len(files[1])) {
		t.Errorf("journal_bytes = %d, error %v; want %d", file.JournalBytes, err, len(files[1]))
	}
}

func TestEditedRecordIsDetected(t *testing.T) {
	other, err := os.ReadFile(filepath.Join(finishedRun(t), ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }
	half := func(s string) string { return s[:len(s)/2] }
	for name, c := range map[string]struct {
		file   string
		change func(string) string
		want   string
	}{
		"missing line":         {JournalFile, lines(func(l []string) []string { return l[1:] }), "was edited"},
		"swapped lines":        {JournalFile, lines(swap), "was edited"},
		"last line missing":    {JournalFile, lines(func(l []string) []string { return l[:6] }), "was edited"},
		"unreadable last line": {JournalFile, func(s string) string { return s + "{\"session\":\n" }, "line 8 is damaged"},
		"empty journal":        {JournalFile, func(string) string { return "" }, "was edited"},
		"half of run.json":     {ManifestFile, half, "run.json is damaged: unexpected end of JSON"},
		"half of result.json":  {ResultFile, half, "result.json is damaged: unexpected end of JSON"},
		"another's result":     {ResultFile, func(string) string { return string(other) }, "was edited"},
		"digest missing": {ResultFile, func(s string) string {
			return regexp.MustCompile(`,\s*"digest": "[0-9a-f]*"`).ReplaceAllString(s, "")
		}, "was edited"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := finishedRun(t)
			edit(t, filepath.Join(dir, c.file), c.change)
			_, err := Load(dir)
			if text := fmt.Sprint(err); !strings.Contains(text, c.want) || !strings.Contains(text, dir) ||
				strings.Contains(text, "\n") {
				t.Errorf("got %v\nwant a line with the directory and %q", err, c.want)
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
	s.addRoots(t, 2)
	s.finish(t) // result.json is older than the journal from now on
	f, _ := os.OpenFile(journalOf(s), os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"engine":"one","sca`)
	f.Close()
	resumed, err := Resume(s.Dir(), someSoftware, someMachine)
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Close()
	resumed.append(t, Entry{
		Engine: "one", GraphID: six, Root: &RootRecord{Index: 2, Root: 12, Time: 1, Wall: 1},
	})
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 3 || r.Checksummed() {
		t.Errorf("during the resume: error %v, checksummed %v", err, r.Checksummed())
	}
	if _, err := resumed.Finish(); err != nil {
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
	s.addRoots(t, 2)
	s.Close()
	edit(t, filepath.Join(s.Dir(), ManifestFile), func(text string) string {
		text = strings.Replace(text, Schema, "teps/2.1", 1)
		return strings.Replace(text, `"schema"`, `"added": {"a": 1}, "schema"`, 1)
	})
	edit(t, journalOf(s), func(string) string {
		return strings.Join([]string{
			`{"session":{},"added":1}`,
			`{"scale":6,"graph":{"recipe":{"scale":6,"edgefactor":16,"seed1":2,"seed2":3},"tuples":1024,"roots_found":9}}`,
			`{"engine":"one","scale":6,"root":{"index":0,"root":7,"time":1,"wall":1,"added":[1]}}`,
			`{"engine":"one","scale":6,"weather":{"sun":true}}`,
			`{"engine":"one","scale":6,"root":{"index":1,"root":8,"time":1,"wall":1}}`,
		}, "\n") + "\n"
	})
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 2 {
		t.Errorf("error %v, %+v", err, r.Runs)
	}
}
