package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Schema names the form of the records that this version writes, teps/MAJOR.MINOR; teps/1 is teps/1.0.
//
// The minor number is raised when members or kinds of journal entries are added: a reader accepts every minor number
// and ignores what it does not know. The major number is raised when something changes its meaning: a reader refuses
// any other major number. docs/records.md has the history, and docs/schema describes the members.
const Schema = "teps/1.2"

var schemaPattern = regexp.MustCompile(`^teps/([1-9][0-9]*)(\.[0-9]+)?$`)

// checkSchema returns an error if this version cannot read records of a schema.
func checkSchema(schema string) error {
	switch parts := schemaPattern.FindStringSubmatch(schema); {
	case parts == nil:
		return fmt.Errorf("not a record of teps (schema %q, want %q)", schema, Schema)
	case parts[1] != "1":
		return fmt.Errorf("the record has schema %s, but this teps reads %s; use the version that wrote it", schema, Schema)
	}
	return nil
}

// files are the contents of a run's directory.
type files struct {
	dir                       string
	manifest, journal, result []byte // result is nil if there is no result.json
}

// readFiles reads the files of a run. result.json comes first, because the journal may grow meanwhile.
func readFiles(dir string) (f files, err error) {
	f.dir = dir
	for _, file := range []struct {
		name    string
		content *[]byte
		missing error
	}{
		{ResultFile, &f.result, nil},
		{ManifestFile, &f.manifest, Usage("%s does not hold a run: it has no %s", dir, ManifestFile)},
		{JournalFile, &f.journal, fmt.Errorf("%s is missing, and %s has only the plan; restore the file",
			filepath.Join(dir, JournalFile), ManifestFile)},
	} {
		*file.content, err = os.ReadFile(filepath.Join(dir, file.name))
		if errors.Is(err, fs.ErrNotExist) {
			err = file.missing
		} else if err != nil {
			err = fmt.Errorf("read the run: %w", err)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// Load reads the directory of a run, finished or not.
func Load(dir string) (Result, error) {
	s, err := read(dir)
	return s.result, err
}

// stored is a run as its directory holds it.
type stored struct {
	result  Result
	entries []Entry
	torn    int // bytes of a torn last line of the journal
}

// read reads and checks the files of a run.
func read(dir string) (s stored, err error) {
	f, err := readFiles(dir)
	if err != nil {
		return s, err
	}
	m, err := f.parseManifest()
	if err != nil {
		return s, err
	}
	path := filepath.Join(dir, JournalFile)
	damage := "%s: %w; the lines before it are usable: delete that line, all after it, and " + ResultFile
	entries, whole, err := parseJournal(f.journal)
	if err != nil {
		return s, fmt.Errorf(damage, path, err)
	}
	s.entries, s.torn = entries, len(f.journal)-whole
	f.journal = f.journal[:whole]
	digest, err := f.checkDigest(m)
	if err != nil {
		return s, err
	}
	if s.result, err = replay(m, entries); err != nil {
		return s, fmt.Errorf(damage, path, err)
	}
	s.result.Digest = digest
	return s, nil
}

// parseManifest returns the content of run.json.
func (f files) parseManifest() (m Manifest, err error) {
	path := filepath.Join(f.dir, ManifestFile)
	var head struct{ Schema string }
	if err := json.Unmarshal(f.manifest, &head); err != nil {
		return m, damaged(path, f.manifest, err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(f.manifest, &m); err != nil {
		return m, damaged(path, f.manifest, err)
	}
	if err := m.Plan.Check(); err != nil {
		return m, fmt.Errorf("%s is damaged: its plan is not valid: %v", path, err)
	}
	return m, nil
}

// damaged describes a file that is not JSON.
func damaged(path string, data []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
		return fmt.Errorf("%s is damaged: it is cut off after %d bytes; restore the whole file", path, len(data))
	}
	return fmt.Errorf("%s is damaged: %w", path, err)
}

// The digest detects edits of a record. It is the SHA-256, in hexadecimal, of run.json, the first journal_bytes bytes
// of roots.jsonl, and result.json up to the comma before its last member, "digest". It finds accidents and edits by
// hand; it is not a signature, because anyone can compute it again. In records of teps/1.1 it covers result.json only;
// those of teps/1 have none.

// digestMember and digestEnd enclose the digest at the end of result.json.
const (
	digestMember = ",\n  \"digest\": \""
	digestEnd    = "\"\n}\n"
)

// addDigest completes the text of result.json, an indented JSON object, with the digest of the record.
func addDigest(text, manifest, journal []byte) []byte {
	text = bytes.TrimSuffix(text, []byte("\n}"))
	return append(text, digestMember+digestOf(manifest, journal, text)+digestEnd...)
}

// checkDigest verifies a record whose run.json has been decoded to m. It returns the digest, or an empty text if there
// is none or it does not cover the whole journal.
func (f files) checkDigest(m Manifest) (digest string, err error) {
	if f.result == nil {
		return "", nil
	}
	path := filepath.Join(f.dir, ResultFile)
	var made struct {
		ID           string
		JournalBytes *int64 `json:"journal_bytes"`
	}
	if err := json.Unmarshal(f.result, &made); err != nil {
		return "", fmt.Errorf("%w; delete it to read the run from %s", damaged(path, f.result, err), JournalFile)
	}
	if made.ID != m.ID {
		return "", fmt.Errorf("%s belongs to another run; delete it", path)
	}
	at := bytes.LastIndex(f.result, []byte(digestMember))
	if at < 0 && m.Schema == "teps/1" {
		return "", nil
	}
	text := f.result[:max(at, 0)]
	covered, want := int64(len(f.journal)), digestOf(text)
	if made.JournalBytes != nil {
		if covered = *made.JournalBytes; covered > int64(len(f.journal)) {
			return "", fmt.Errorf("%s has lost lines at its end: %[2]s was made from more; restore them, or delete %[2]s to do "+
				"without", filepath.Join(f.dir, JournalFile), ResultFile)
		}
		want = digestOf(f.manifest, f.journal[:max(covered, 0)], text)
	}
	if at < 0 || string(f.result[at:]) != digestMember+want+digestEnd {
		return "", fmt.Errorf("%s was edited: the digest in %[2]s does not match; restore the files, or delete %[2]s to use "+
			"the others as they are", f.dir, ResultFile)
	}
	if covered < int64(len(f.journal)) {
		return "", nil
	}
	return want, nil
}

// Runs finds the directories of runs in dir: dir itself and all below it, in the order of their names. A directory with
// a journal and without run.json is included, because it has lost a file; an empty journal is left by a process that
// was killed at its start, and is skipped. The error is a UsageError if dir is not a directory.
func Runs(dir string) (runs []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, Usage("%s is not a directory of runs", dir)
	}
	root := dir + string(filepath.Separator) // so that WalkDir follows a link
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != root && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)):
			return fs.SkipDir // another user's, or deleted meanwhile
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() && isRun(path):
			runs = append(runs, filepath.Clean(path))
		}
		return nil
	})
	return runs, err
}

func isRun(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return true
	}
	journal, err := os.Stat(filepath.Join(dir, JournalFile))
	return err == nil && journal.Size() > 0
}
