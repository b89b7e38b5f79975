// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/tepsbench/teps/machine"
)

// Store is the directory of a run, opened for writing by one process.
type Store struct {
	dir     string
	journal *os.File // locked against other processes
	stored
}

// NewManifest describes a run that starts now.
func NewManifest(command []string, plan Plan, software Software, machine machine.Machine) Manifest {
	var id [8]byte
	rand.Read(id[:]) // never fails
	return Manifest{
		Schema:      Schema,
		ID:          hex.EncodeToString(id[:]),
		Started:     now(),
		Command:     command,
		Software:    software,
		Machine:     machine,
		Plan:        plan,
		Environment: environmentOf(os.Environ()),
	}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Create makes the directory dir, with its parents, for a new run. It refuses a directory that already holds one.
func Create(dir string, m Manifest) (s *Store, err error) {
	if err := os.MkdirAll(dir, 0o777); errors.Is(err, syscall.ENOTDIR) {
		return nil, Usage("results directory: %w; choose another directory", err)
	} else if err != nil {
		return nil, fmt.Errorf("results directory: %w", err)
	}
	path := filepath.Join(dir, ManifestFile)
	if _, err := os.Stat(path); err == nil {
		return nil, Usage("%s already holds a run; resume it, or choose another directory", dir)
	}
	if s, err = open(dir, os.O_CREATE); err != nil {
		return nil, err
	}
	defer s.closeAfter(&err)
	// A process killed at this point leaves an empty journal; one with content belongs to another run.
	if info, err := s.journal.Stat(); err != nil || info.Size() > 0 {
		return nil, Usage("%s already holds %s; choose another directory", dir, JournalFile)
	}
	// run.json comes second, so a directory that has one also has a journal, which is locked.
	data, err := json.MarshalIndent(m, "", "  ")
	data = append(data, '\n')
	if err == nil {
		err = WriteFile(path, data)
	}
	if err != nil {
		os.Remove(s.journal.Name())
		return nil, err
	}
	s.result.Manifest, s.plan = m, data
	return s, s.Append(Entry{Session: &Session{m.Started, m.Environment}})
}

// Resume opens the directory of an interrupted run, removes a torn last line of its journal, and starts a new session.
// The machine and the software must be those of the run, because roots measured on different ones are not one result.
func Resume(dir string, software Software, machine machine.Machine) (s *Store, err error) {
	s, err = reopen(dir)
	if err != nil {
		return nil, err
	}
	defer s.closeAfter(&err)
	m := s.result.Manifest
	if was, is := m.Machine.Identity(), machine.Identity(); was != is {
		return nil, Usage("resume %s: the run started on another machine (%s), this one is %s", dir, was, is)
	}
	if m.Software != software {
		return nil, Usage("resume %s: the run started with teps %s, this is %s; use the same build", dir, m.Software,
			software)
	}
	if s.torn > 0 {
		if err := s.journal.Truncate(int64(len(s.lines))); err != nil {
			return nil, fmt.Errorf("resume %s: %w", dir, err)
		}
	}
	return s, s.Append(Entry{Session: &Session{now(), environmentOf(os.Environ())}})
}

// reopen opens the directory of a run and reads it.
func reopen(dir string) (s *Store, err error) {
	if s, err = open(dir, 0); err != nil {
		if _, readErr := read(dir); readErr != nil {
			return nil, readErr // names the missing file
		}
		return nil, err
	}
	defer s.closeAfter(&err)
	s.stored, err = read(dir)
	return s, err
}

func (s *Store) closeAfter(err *error) {
	if *err != nil {
		s.Close()
	}
}

// Manifest returns the run's manifest.
func (s *Store) Manifest() Manifest { return s.result.Manifest }

// Dir returns the directory.
func (s *Store) Dir() string { return s.dir }

// Torn returns the number of bytes of a torn last line that Resume removed.
func (s *Store) Torn() int { return s.torn }

// Result returns the measurements so far.
func (s *Store) Result() (Result, error) { return replay(s.result.Manifest, s.entries) }

// Close releases the directory.
func (s *Store) Close() error { return s.journal.Close() }

// Discard removes the record of a run that has measured nothing, and its directory and the one around it if they are
// empty then.
func (s *Store) Discard() error {
	var failed error
	for _, name := range []string{ResultFile, ManifestFile, JournalFile, OutputFile} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	if os.Remove(s.dir) == nil {
		_ = os.Remove(filepath.Dir(s.dir)) // of all runs, if this was the first
	}
	return failed
}

// open opens and locks the journal in dir.
func open(dir string, flags int) (*Store, error) {
	f, err := os.OpenFile(filepath.Join(dir, JournalFile), os.O_RDWR|os.O_APPEND|flags, 0o666)
	if err != nil {
		return nil, fmt.Errorf("results directory: %w", err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, Usage("%s is not a regular file; choose another directory", f.Name())
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, Usage("another teps process is writing to %s; wait for it, or choose another directory", dir)
	}
	return &Store{dir: dir, journal: f}, nil
}

// StoreError reports that the record cannot be written, the one failure that ends a run for all engines.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// notWritten is the error of a file of the record that cannot be written; err names it.
func notWritten(err error) error {
	return &StoreError{fmt.Errorf("%w; free some space, then resume the run", err)}
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
	line = append(line, '\n')
	if _, err = s.journal.Write(line); err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		s.journal.Truncate(int64(len(s.lines)))
		return notWritten(err) // it names the file
	}
	s.lines = append(s.lines, line...)
	s.entries = append(s.entries, e)
	return nil
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
	text = append(text, digestMember+digestOf(s.plan, s.lines, text)+digestEnd...)
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
	return r, nil
}

// WriteFile replaces a file as a whole: readers see the old content or the new one, never a part, even after a crash.
func WriteFile(path string, data []byte) error {
	err := renameio.WriteFile(path, data, 0o644, renameio.WithTempDir(filepath.Dir(path)))
	if err == nil {
		return nil
	}
	if temporary := (*fs.PathError)(nil); errors.As(err, &temporary) {
		err = temporary.Err // its path means nothing to a reader
	}
	return fmt.Errorf("write %s: %w", path, err)
}
