// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/tepsbench/teps/internal/regular"
)

// Schema names the form of the records that this version writes, teps/MAJOR.MINOR; teps/2 is teps/2.0.
//
// The minor number is raised when members or kinds of journal entries are added: a reader accepts every minor number
// and ignores what it does not know. The major number is raised when something changes its meaning or its place: a
// reader refuses any other major number. docs/schema describes the members.
const Schema = "teps/2"

// checkSchema returns an error if this version cannot read records of a schema.
func checkSchema(schema string) error {
	switch major, _, _ := strings.Cut(schema, "."); {
	case major == "teps/2":
		return nil
	case strings.HasPrefix(schema, "teps/"):
		return fmt.Errorf("the record has schema %q, but this teps reads %s; use the version that wrote it", schema, Schema)
	}
	return fmt.Errorf("not a record of teps (schema %q, want %q)", schema, Schema)
}

// Bounds on files, in bytes.
const (
	maxFile = 1 << 30 // of a record; 64 searches by 4,096 ranks take a fifth of it
	maxLine = 8 << 20 // of the journal, and run.json; 4,096 ranks with ten phases take half of it
)

// Load reads the directory of a run, finished or not.
func Load(dir string) (Result, error) {
	s, err := read(dir)
	return s.result, err
}

// stored is a run as its directory holds it.
type stored struct {
	result  Result // as it was read
	entries []Entry
	plan    []byte // run.json
	lines   []byte // roots.jsonl without a torn last line
	torn    int    // bytes of a torn last line
}

// read reads and checks the files of a run. result.json comes first, because the journal may grow during the read.
func read(dir string) (s stored, err error) {
	path := filepath.Join(dir, JournalFile)
	result, resultErr := regular.Read(filepath.Join(dir, ResultFile), maxFile)
	manifest, manifestErr := regular.Read(filepath.Join(dir, ManifestFile), maxLine)
	journal, journalErr := regular.Read(path, maxFile)
	switch {
	case errors.Is(manifestErr, fs.ErrNotExist) || errors.Is(manifestErr, syscall.ENOTDIR):
		return s, Usage("%s does not hold a run: it has no %s; teps list shows the runs below a directory", dir, ManifestFile)
	case errors.Is(journalErr, fs.ErrNotExist):
		return s, fmt.Errorf("%s is missing, and %s has only the plan; restore the file", path, ManifestFile)
	case errors.Is(resultErr, fs.ErrNotExist):
		resultErr = nil
	}
	if err := cmp.Or(manifestErr, journalErr, resultErr); err != nil {
		return s, fmt.Errorf("read the run: %w", err)
	}
	m, err := parseManifest(filepath.Join(dir, ManifestFile), manifest)
	if err != nil {
		return s, contentError{err}
	}
	entries, whole, err := parseJournal(journal)
	if err != nil {
		return s, contentError{fmt.Errorf("%s: %w", path, err)}
	}
	s = stored{entries: entries, plan: manifest, lines: journal[:whole], torn: len(journal) - whole}
	digest := ""
	if result != nil {
		if digest, err = s.checkDigest(dir, result); err != nil {
			return s, err
		}
	}
	if s.result, err = replay(m, entries); err != nil {
		return s, contentError{fmt.Errorf("%s: %w", path, err)}
	}
	s.result.Digest = digest
	return s, nil
}

// contentError is an error that may quote any part of a record: it is one short line all the same.
type contentError struct{ err error }

func (e contentError) Error() string {
	const half = 500 // of the bytes that are shown
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, e.err.Error())
	if len(text) <= 2*half {
		return text
	}
	return strings.ToValidUTF8(text[:half], "") + " ... " + strings.ToValidUTF8(text[len(text)-half:], "")
}

func (e contentError) Unwrap() error { return e.err }

// parseManifest returns the content of run.json.
func parseManifest(path string, data []byte) (m Manifest, err error) {
	var head struct{ Schema string }
	if err := json.Unmarshal(data, &head); err != nil {
		return m, fmt.Errorf("%s is damaged: %w; restore it from a copy", path, err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s is damaged: %w; restore it from a copy", path, err)
	}
	if err := m.Plan.Check(); err != nil {
		return m, fmt.Errorf("%s is damaged: its plan is not valid: %v", path, err)
	}
	return m, nil
}

// The digest detects edits of a record. It is the SHA-256, in hexadecimal, of run.json, the first journal_bytes bytes
// of roots.jsonl, and result.json up to the comma before its last member, "digest". It finds accidents and edits by
// hand; it is not a signature, because anyone can compute it again.

// digestMember and digestEnd enclose the digest at the end of result.json.
const (
	digestMember = ",\n  \"digest\": \""
	digestEnd    = "\"\n}\n"
)

// checkDigest verifies the record of a run with its result.json. It returns the digest, or an empty text if that does
// not cover the whole journal.
func (s stored) checkDigest(dir string, result []byte) (digest string, err error) {
	var made struct {
		JournalBytes int `json:"journal_bytes"`
	}
	if err := json.Unmarshal(result, &made); err != nil {
		return "", fmt.Errorf("%s is damaged: %w; delete it to use the other files", filepath.Join(dir, ResultFile), err)
	}
	covered := min(max(made.JournalBytes, 0), len(s.lines))
	at := max(bytes.LastIndex(result, []byte(digestMember)), 0)
	digest = digestOf(s.plan, s.lines[:covered], result[:at])
	if string(result[at:]) != digestMember+digest+digestEnd {
		return "", fmt.Errorf("%s was edited: the digest in %[2]s does not match; restore the files, or delete %[2]s to use "+
			"the others as they are", dir, ResultFile)
	}
	if covered < len(s.lines)+s.torn {
		return "", nil
	}
	return digest, nil
}

// Runs finds the directories of runs in dir: dir itself and all below it, in the order of their names. A directory with
// a journal and without run.json is included, because it has lost a file; an empty journal is left by a process that
// was killed at its start, and is skipped. The error is an ErrUsage if dir is not a directory.
func Runs(dir string) (runs []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, Usage("%s is not a directory of runs; teps run makes one", dir)
	}
	root := dir + string(filepath.Separator) // so that WalkDir follows a link
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != root && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)):
			return fs.SkipDir // another user's, or deleted since
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Name() == ManifestFile || d.Name() == JournalFile && !isEmpty(d):
			runs = append(runs, filepath.Dir(path))
		}
		return nil
	})
	slices.Sort(runs)
	return slices.Compact(runs), err
}

func isEmpty(d fs.DirEntry) bool {
	info, err := d.Info()
	return err != nil || info.Size() == 0
}
