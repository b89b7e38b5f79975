package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// unseal makes the record in dir one of the first release: what it says, without seals.
func unseal(t *testing.T, dir string) {
	t.Helper()
	os.Remove(filepath.Join(dir, ResultFile))
	for name, seal := range map[string]string{ManifestFile: `,\s*"seal": "[0-9a-f]{64}"`, JournalFile: `,"seal":"[0-9a-f]{64}"`} {
		edit(t, filepath.Join(dir, name), func(text string) string {
			text = strings.Replace(text, `"schema": "`+Schema+`"`, `"schema": "teps/1"`, 1)
			return regexp.MustCompile(seal).ReplaceAllString(text, "")
		})
	}
}

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

// finished is the folder of a run of four roots, with its result.
func finishedRun(t *testing.T) string {
	t.Helper()
	s := newStore(t)
	s.addRoots(t, 4)
	if err := s.append(entry{Engine: "one", Scale: 6, End: &end{State: Complete}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	return s.Dir()
}

// The rule is written down in docs/records.md for readers in other languages; this is it, done without this package.
func TestSealsAreWhatTheDocumentSays(t *testing.T) {
	dir := finishedRun(t)
	seal := func(before, text string) string {
		sum := sha256.Sum256([]byte(before + text))
		return hex.EncodeToString(sum[:])
	}
	file := func(name, member string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(data), ",\n  \""+member+`": "`)
		want := seal("", text)
		if !strings.Contains(string(data), `"`+member+`": "`+want+"\"\n}\n") {
			t.Errorf("%s does not end with %q: %s", name, member, want)
		}
		return want
	}
	before := file(ManifestFile, "seal")
	journal, _ := os.ReadFile(filepath.Join(dir, JournalFile))
	lines := strings.Split(strings.TrimSuffix(string(journal), "\n"), "\n")
	for n, line := range lines {
		text, rest, _ := strings.Cut(line, `,"seal":"`)
		if before = seal(before, text); rest != before+`"}` {
			t.Fatalf("line %d: the seal is %s, want %s", n+1, rest, before)
		}
	}
	file(ResultFile, "digest")
	r, err := Load(dir)
	if err != nil || !r.Sealed() || r.Journal != before || len(lines) != 6 {
		t.Errorf("loaded a record with the journal seal %s, want %s of 6 lines: %v", r.Journal, before, err)
	}
}

func TestAChangedRecordIsTold(t *testing.T) {
	swap := func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }
	for name, c := range map[string]struct {
		file   string
		change func(string) string
		want   string
	}{
		"a time of the journal":     {JournalFile, replace(`"index":1,"root":11,"time":1`, `"index":1,"root":11,"time":2`), "line 3 is not what was written"},
		"one digit of a seal":       {JournalFile, func(s string) string { l := strings.Split(s, "\n"); l[3] = flip(l[3]); return strings.Join(l, "\n") }, "line 4 is not"},
		"a line gone":               {JournalFile, lines(func(l []string) []string { return append(l[:2], l[3:]...) }), "line 3 is not"},
		"two lines swapped":         {JournalFile, lines(swap), "line 3 is not"},
		"a line twice":              {JournalFile, lines(func(l []string) []string { return append(l[:3], l[2:]...) }), "line 4 is not"},
		"the first line gone":       {JournalFile, lines(func(l []string) []string { return l[1:] }), "line 1 is not"},
		"the last line gone":        {JournalFile, lines(func(l []string) []string { return l[:5] }), "lost lines at its end"},
		"the last line edited":      {JournalFile, replace(`"state":"complete"`, `"state":"failed"`), "line 6 is not"},
		"all seals of lines gone":   {JournalFile, func(s string) string { return regexp.MustCompile(`,"seal":"[0-9a-f]*"`).ReplaceAllString(s, "") }, "line 1 is not"},
		"a space":                   {JournalFile, replace(`"index":2,`, `"index": 2,`), "line 4 is not"},
		"an empty journal":          {JournalFile, func(string) string { return "" }, "lost lines at its end"},
		"the machine":               {ManifestFile, replace("a processor", "a better processor"), "it was edited after the run began"},
		"the seal of run.json gone": {ManifestFile, func(s string) string { return regexp.MustCompile(`,\s*"seal": "[0-9a-f]*"`).ReplaceAllString(s, "") }, "it was edited"},
		"half of run.json":          {ManifestFile, func(s string) string { return s[:len(s)/2] }, "run.json is damaged: it is cut off after"},
		"a rate of result.json":     {ResultFile, replace(`"nbfs": 4`, `"nbfs": 64`), "result.json is not what was written: it was edited; roots.jsonl can do without it: delete it"},
		"half of result.json":       {ResultFile, func(s string) string { return s[:len(s)/2] }, "result.json is damaged: it is cut off after"},
		"no JSON":                   {ResultFile, func(s string) string { return "hello" }, "result.json is damaged: invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := finishedRun(t)
			edit(t, filepath.Join(dir, c.file), c.change)
			_, err := Load(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v\nwant an error with the folder and %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %v", err)
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

// flip changes the last digit of a line's seal.
func flip(line string) string {
	at := len(line) - len(`0"}`)
	digit := map[bool]string{true: "1", false: "0"}[line[at] == '0']
	return line[:at] + digit + line[at+1:]
}

func TestNoChangeOfAByteGoesUnseen(t *testing.T) {
	dir := finishedRun(t)
	for _, name := range []string{ManifestFile, JournalFile, ResultFile} {
		path := filepath.Join(dir, name)
		whole, _ := os.ReadFile(path)
		rapid.Check(t, func(t *rapid.T) {
			at := rapid.IntRange(0, len(whole)-2).Draw(t, "at") // the newline at the end belongs to no record
			changed := append([]byte{}, whole...)
			changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
			os.WriteFile(path, changed, 0o666)
			if r, err := Load(dir); err == nil {
				t.Errorf("%s: byte %d changed from %q to %q, and %d roots were read", name, at, whole[at], changed[at], len(r.Runs[0].Roots))
			}
		})
		os.WriteFile(path, whole, 0o666)
	}
	if _, err := Load(dir); err != nil {
		t.Errorf("the record as it was: %v", err)
	}
}

// An older form has no seals, so one byte of the form would switch them off.
func TestAnEditedFormDoesNotSwitchSealsOff(t *testing.T) {
	dir := finishedRun(t)
	path := filepath.Join(dir, ManifestFile)
	whole, _ := os.ReadFile(path)
	for _, older := range []string{"teps/1.0", "teps/1"} {
		edited := bytes.Replace(whole, []byte(`"`+Schema+`"`), []byte(`"`+older+`"`), 1)
		if bytes.Equal(edited, whole) {
			t.Fatalf("the record does not say %s", Schema)
		}
		os.WriteFile(path, edited, 0o666)
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "it was edited") {
			t.Errorf("%s: got %v", older, err)
		}
	}
}

func TestAResumedRunHasOneChain(t *testing.T) {
	s := newStore(t)
	s.addRoots(t, 2)
	if _, err := s.Finish(); err != nil { // a result from the first session, older than the journal from now on
		t.Fatal(err)
	}
	s.Close()
	f, _ := os.OpenFile(journalOf(s), os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"engine":"one","sca`)
	f.Close()
	resumed, err := Resume(s.Dir(), someSoftware, someMachine)
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Close()
	if err := resumed.append(entry{Engine: "one", Scale: 6, Root: &RootRecord{Index: 2, Root: 12, Time: 1, Wall: 1}}); err != nil {
		t.Fatal(err)
	}
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 3 || r.Journal != resumed.lastSeal() {
		t.Errorf("while it runs: %v", err)
	}
	if _, err := resumed.Finish(); err != nil {
		t.Fatal(err)
	}
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 3 {
		t.Errorf("when it has ended: %v", err)
	}
}

func TestTheResultOfAnotherRunIsTold(t *testing.T) {
	one, other := finishedRun(t), finishedRun(t)
	data, _ := os.ReadFile(filepath.Join(other, ResultFile))
	os.WriteFile(filepath.Join(one, ResultFile), data, 0o666)
	if _, err := Load(one); err == nil || !strings.Contains(err.Error(), "that of another run") {
		t.Errorf("got %v", err)
	}
}

func TestRecordsOfTheFirstReleaseAreRead(t *testing.T) {
	for name, want := range map[string]struct {
		roots int
		teps  string // of the official text that lies beside the record
	}{
		"cpu-s20":  {64, "6.88709e+09"},
		"cuda-s28": {8, "9.9303e+11"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Load(filepath.Join("testdata", "first-release", name))
			if err != nil {
				t.Fatal(err)
			}
			run := r.Runs[0]
			teps := strconv.FormatFloat(run.Statistics.TEPS.Mean, 'g', 6, 64)
			if len(run.Roots) != want.roots || run.State != Complete || teps != want.teps {
				t.Errorf("%d roots, %s, %s TEPS; want %+v", len(run.Roots), run.State, teps, want)
			}
			if r.Sealed() || r.Schema != "teps/1" {
				t.Errorf("sealed %v, schema %s; want a record of the first release without seals", r.Sealed(), r.Schema)
			}
		})
	}
}

func TestFormsThatAreReadAndRefused(t *testing.T) {
	for schema, want := range map[string]string{
		"teps/1": "", "teps/1.0": "", "teps/1.1": "", "teps/1.99": "",
		"teps/2":    "has the form teps/2 and this teps reads " + Schema,
		"teps/2.1":  "has the form teps/2.1",
		"teps/0":    "not a record of teps",
		"teps/1.":   "not a record of teps",
		"teps/1.-1": "not a record of teps",
		"teps/x":    "not a record of teps",
		"other/1":   "not a record of teps",
		"":          "not a record of teps",
	} {
		_, err := readForm(schema)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", schema, err, want)
		}
	}
}

// What a later version of the same major number adds is passed over: members everywhere, and entries of new kinds.
func TestWhatANewerVersionAddsIsPassedOver(t *testing.T) {
	s := newStore(t)
	s.addRoots(t, 2)
	s.Close()
	m := s.Manifest()
	m.Schema = "teps/1.7"
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"schema"`, `"added": {"a": 1}, "schema"`, 1)
	text = regexp.MustCompile(`,\s*"seal": "[0-9a-f]*"`).ReplaceAllString(text, "")
	manifest, seal, err := inFile.seal([]byte(text), sealMember, "")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(s.Dir(), ManifestFile), append(manifest, '\n'), 0o666)
	var journal []byte
	for _, text := range []string{
		`{"session":{},"added":1}`,
		`{"engine":"one","scale":6,"root":{"index":0,"root":7,"time":1,"wall":1,"added":[1]}}`,
		`{"engine":"one","scale":6,"weather":{"sun":true}}`,
		`{"engine":"one","scale":6,"root":{"index":1,"root":8,"time":1,"wall":1}}`,
	} {
		var line []byte
		if line, seal, err = onLine.seal([]byte(text), sealMember, seal); err != nil {
			t.Fatal(err)
		}
		journal = append(append(journal, line...), '\n')
	}
	os.WriteFile(journalOf(s), journal, 0o666)
	if r, err := Load(s.Dir()); err != nil || len(r.Runs[0].Roots) != 2 {
		t.Errorf("%v, %+v", err, r.Runs)
	}
	// In a record of this version an entry of no known kind is damage.
	if err := (entry{}).check(false); err == nil {
		t.Error("an entry of no kind was taken")
	}
}
