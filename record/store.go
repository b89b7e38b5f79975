// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/machine"
)

// Names of the files in a run's directory.
const (
	ManifestFile = "run.json"    // Manifest; written first
	JournalFile  = "roots.jsonl" // an Entry per line, appended and synced; the start of a resume
	ResultFile   = "result.json" // the Result that follows from these two, with their digest; written last
	OutputFile   = "engines.log" // output of the engines, if there is any
)

// Bounds on files, in bytes.
const (
	maxFile = 1 << 30 // of a record; 64 searches by 4,096 ranks take a fifth of it
	maxLine = 8 << 20 // of the journal, and run.json; 4,096 ranks with ten phases take half of it
)

// Store is the directory of a run. The journal is the source of every Result, during a run as after it.
type Store struct {
	dir      string
	journal  *os.File // open for appending, and locked against other processes
	manifest Manifest
	entries  []Entry
	plan     []byte // run.json
	lines    []byte // roots.jsonl without a torn last line
	torn     int    // bytes of that line
	resumed  []string
}

// NewManifest describes a run that starts now.
func NewManifest(command []string, plan Plan, software Software, machine machine.Machine) Manifest {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return Manifest{
		Schema: Schema, ID: hex.EncodeToString(id[:]), Started: now(), Command: command, Software: software,
		Machine: machine, Plan: plan, Environment: environmentOf(os.Environ()),
	}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Create makes the directory dir, with its parents, for a new run. It refuses a directory that already holds one.
func Create(dir string, m Manifest) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); errors.Is(err, syscall.ENOTDIR) {
		return nil, Usage("results directory: %w; choose another directory", err)
	} else if err != nil {
		return nil, fmt.Errorf("results directory: %w", err)
	}
	path := filepath.Join(dir, ManifestFile)
	if _, err := os.Stat(path); err == nil {
		return nil, Usage("%s already holds a run; resume it, or choose another directory", dir)
	}
	s, err := open(dir, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	// A process killed at this point leaves an empty journal; one with content belongs to another run.
	if info, statErr := s.journal.Stat(); statErr != nil || info.Size() > 0 {
		err = Usage("%s already holds %s; choose another directory", dir, JournalFile)
	} else if s.plan, err = json.MarshalIndent(m, "", "  "); err == nil {
		// run.json comes second, so a directory that has one also has a journal, which is locked.
		s.plan = append(s.plan, '\n')
		if err = WriteFile(path, s.plan); err != nil {
			os.Remove(s.journal.Name())
		}
	}
	s.manifest = m
	return s.begin(err, Session{m.Started, m.Environment})
}

// Resume opens the directory of an interrupted run, removes a torn last line of its journal, and starts a new session.
// The machine and the software must be those of the run, because roots measured on different ones are not one result,
// and the lines of the journal must have digests, because their searches count.
func Resume(dir string, software Software, machine machine.Machine) (*Store, error) {
	if _, err := Load(dir); err != nil {
		return nil, err // names the missing file
	}
	s, err := open(dir, 0)
	if err != nil {
		return nil, err
	}
	r, err := s.read()
	was, is := s.manifest.Machine.Identity(), machine.Identity()
	switch s.takeOver(r); {
	case err != nil: // the files have changed since
	case was != is:
		err = Usage("resume %s: the run started on another machine (%s), this one is %s", dir, was, is)
	case s.manifest.Software != software:
		err = Usage("resume %s: the run started with teps %s, this is %s; use the same build", dir, s.manifest.Software,
			software)
	case len(s.entries) > 0 && s.entries[0].Digest == "":
		err = Usage("resume %s: the lines of its %s have no digests; start another run", dir, JournalFile)
	case s.torn > 0:
		err = s.journal.Truncate(int64(len(s.lines)))
	}
	return s.begin(err, Session{now(), environmentOf(os.Environ())})
}

// open opens and locks the journal in dir.
func open(dir string, flags int) (*Store, error) {
	f, _, err := regular.Open(filepath.Join(dir, JournalFile), os.O_RDWR|os.O_APPEND|flags)
	if err != nil {
		return nil, fmt.Errorf("results directory: %w", err)
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil, Usage("another teps process is writing to %s; wait for it, or choose another directory", dir)
	}
	return &Store{dir: dir, journal: f}, nil
}

// begin starts a session, unless opening has failed.
func (s *Store) begin(err error, session Session) (*Store, error) {
	if err == nil {
		err = s.Append(Entry{Session: &session})
	}
	if err != nil {
		s.journal.Close()
		return nil, err
	}
	return s, nil
}

// Manifest returns the run's manifest.
func (s *Store) Manifest() Manifest { return s.manifest }

// Dir returns the directory.
func (s *Store) Dir() string { return s.dir }

// Resumed says in lines what Resume took over from earlier sessions.
func (s *Store) Resumed() []string { return s.resumed }

func (s *Store) takeOver(r Result) {
	for _, run := range r.Runs {
		if len(run.Roots) > 0 && !run.Void {
			s.resumed = append(s.resumed, fmt.Sprintf("resumed after %d of %d searches of engine %s %s", len(run.Roots),
				run.Graph.RootsFound, run.Engine.Name, run.At()))
		}
	}
	if info, err := s.journal.Stat(); err == nil && len(s.resumed) > 0 {
		s.resumed[len(s.resumed)-1] += ", journaled at " + info.ModTime().UTC().Format(time.RFC3339)
	}
	if s.torn > 0 {
		s.resumed = append(s.resumed, "the last line of "+JournalFile+" is incomplete; its search is done again")
	}
}

// Result returns the measurements so far.
func (s *Store) Result() (Result, error) { return replay(s.manifest, s.entries) }

// Close releases the directory.
func (s *Store) Close() error { return s.journal.Close() }

// Discard removes the record of a run that has measured nothing. It also removes the run's directory and the directory
// of all runs, if they are empty then.
func (s *Store) Discard() {
	for _, name := range []string{ResultFile, ManifestFile, JournalFile, OutputFile} {
		_ = os.Remove(filepath.Join(s.dir, name))
	}
	if os.Remove(s.dir) == nil {
		_ = os.Remove(filepath.Dir(s.dir))
	}
}

// Append adds a line to the journal and returns when it is on the disk. It removes a line that was not written in full.
// An entry that is too long is an error, so that an engine cannot fill the disk.
func (s *Store) Append(e Entry) error {
	line, err := json.Marshal(e)
	if err == nil && len(line) >= maxLine {
		err = fmt.Errorf("the engine reports %d MiB about one call, but at most %d MiB are recorded", len(line)>>20,
			maxLine>>20)
	}
	if err != nil {
		return fmt.Errorf("record of engine %s: %w", e.Engine, err)
	}
	line = line[:len(line)-1]
	before := digestOf(s.plan)
	if n := len(s.entries); n > 0 {
		before = s.entries[n-1].Digest
	}
	e.Digest = digestOf([]byte(before), line)
	line = append(line, lineDigest+e.Digest+lineEnd...)
	if _, err = s.journal.Write(line); err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		s.journal.Truncate(int64(len(s.lines)))
		return notWritten(err) // it names the file
	}
	s.lines, s.entries = append(s.lines, line...), append(s.entries, e)
	return nil
}

// notWritten is the error of a file of the record that cannot be written; err names it.
func notWritten(err error) error {
	return marked{fmt.Errorf("%w; free some space, then resume the run", err), ErrNotWritten}
}

// Finish writes result.json, and reads the record once more. A difference between the disk and the measurements is an
// error.
func (s *Store) Finish() (Result, error) {
	r, err := s.Result()
	if err != nil {
		return r, err
	}
	r.JournalBytes = int64(len(s.lines))
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return r, fmt.Errorf("write %s: %w", ResultFile, err)
	}
	text = bytes.TrimSuffix(text, []byte("\n}"))
	text = append(text, resultDigest+digestOf(s.plan, s.lines, text)+resultEnd...)
	if err := WriteFile(filepath.Join(s.dir, ResultFile), text); err != nil {
		return r, notWritten(err)
	}
	found, err := Load(s.dir)
	if err == nil && !found.Checksummed() {
		err = fmt.Errorf("%s has more lines than the run wrote", s.journal.Name())
	}
	if err != nil {
		return r, fmt.Errorf("the record was changed or damaged during the run: %w", err)
	}
	r.Digest = found.Digest
	return r, nil
}

// Load reads the directory of a run, finished or not.
func Load(dir string) (Result, error) { return (&Store{dir: dir}).read() }

// read reads and checks the files of a run. result.json comes first, because the journal may grow during the read.
func (s *Store) read() (r Result, err error) {
	path := func(name string) string { return filepath.Join(s.dir, name) }
	result, resultErr := regular.Read(path(ResultFile), maxFile)
	plan, planErr := regular.Read(path(ManifestFile), maxLine)
	journal, journalErr := regular.Read(path(JournalFile), maxFile)
	switch {
	case errors.Is(planErr, fs.ErrNotExist) || errors.Is(planErr, syscall.ENOTDIR):
		return r, Usage("%s does not hold a run: it has no %s; teps list shows the runs below a directory", s.dir,
			ManifestFile)
	case errors.Is(journalErr, fs.ErrNotExist):
		return r, fmt.Errorf("%s is missing, and %s has only the plan; restore the file", path(JournalFile), ManifestFile)
	case errors.Is(resultErr, fs.ErrNotExist):
		resultErr = nil
	}
	if err := cmp.Or(planErr, journalErr, resultErr); err != nil {
		return r, fmt.Errorf("read the run: %w", err)
	}
	if s.manifest, err = parseManifest(plan); err != nil {
		return r, inALine(fmt.Errorf("%s%w", path(ManifestFile), err))
	}
	whole := 0
	if s.entries, whole, err = parseJournal(plan, journal); err != nil {
		return r, inALine(fmt.Errorf("%s: %w", path(JournalFile), err))
	}
	s.plan, s.lines, s.torn = plan, journal[:whole], len(journal)-whole
	digest := ""
	if result != nil {
		if digest, err = s.checkDigest(result); err != nil {
			return r, err
		}
	}
	if r, err = s.Result(); err != nil {
		return r, inALine(fmt.Errorf("%s: %w", path(JournalFile), err))
	}
	r.Digest, r.Directory = digest, s.dir
	return r, nil
}

// Texts around the digest at the end of a line of the journal and of result.json.
const (
	lineDigest   = `,"digest":"`
	lineEnd      = "\"}\n"
	resultDigest = ",\n  \"digest\": \""
	resultEnd    = "\"\n}\n"
)

// checkDigest verifies the record of a run with its result.json. It returns the digest, or an empty text if that does
// not cover the whole journal.
func (s *Store) checkDigest(result []byte) (digest string, err error) {
	var made struct {
		JournalBytes int `json:"journal_bytes"`
	}
	if err := json.Unmarshal(result, &made); err != nil {
		return "", fmt.Errorf("%s is damaged: %w; delete it to use the other files", filepath.Join(s.dir, ResultFile), err)
	}
	covered := min(max(made.JournalBytes, 0), len(s.lines))
	at := max(bytes.LastIndex(result, []byte(resultDigest)), 0)
	digest = digestOf(s.plan, s.lines[:covered], result[:at])
	if string(result[at:]) != resultDigest+digest+resultEnd {
		return "", fmt.Errorf("%s was edited: the digest in %[2]s does not match; restore the files, or delete %[2]s to use "+
			"the others as they are", s.dir, ResultFile)
	}
	if covered < len(s.lines)+s.torn {
		digest = ""
	}
	return digest, nil
}

// WriteFile replaces a file as a whole: readers see the old content or the new one, never a part, even after a crash.
// It follows links.
func WriteFile(path string, data []byte) error {
	target := regular.Target(path)
	err := renameio.WriteFile(target, data, 0o644, renameio.WithTempDir(filepath.Dir(target)))
	if temporary := (*fs.PathError)(nil); errors.As(err, &temporary) {
		err = temporary.Err // without the temporary path, which means nothing to a user
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", path, err)
	}
	return err
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
		case d.Name() == JournalFile:
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				runs = append(runs, filepath.Dir(path))
			}
		case d.Name() == ManifestFile:
			runs = append(runs, filepath.Dir(path))
		}
		return nil
	})
	slices.Sort(runs)
	return slices.Compact(runs), err
}
