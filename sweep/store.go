package sweep

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tepsbench/teps/harness"
)

// Store is a folder of run folders that any number of processes may write at once. Who measures a cell holds the lock
// on the journal in its folder, which the system takes away from a process that ends, in whatever way. Looking at a
// cell and taking it happen under a lock on the whole store, which is held for a moment only.
type Store struct{ dir string }

// lockFile is the one file of a store that is no run's. It stays: a lock file that is removed is two lock files.
const lockFile = ".lock"

// discarded begins the names of folders that are being removed.
const discarded = ".discarded-"

// NewStore names a store; Make makes it. One that is not there has no cells.
func NewStore(dir string) *Store { return &Store{dir} }

// Make makes the folder if need be, and removes what a process left that was killed while it threw something away.
func (s *Store) Make() error {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return fmt.Errorf("store: %w; choose another folder", err)
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, f := range list {
		if strings.HasPrefix(f.Name(), discarded) {
			if err := os.RemoveAll(filepath.Join(s.dir, f.Name())); err != nil {
				return fmt.Errorf("store: %w", err)
			}
		}
	}
	return nil
}

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

// Path is the folder of a cell.
func (s *Store) Path(c Cell) string { return filepath.Join(s.dir, c.Folder) }

// State says how far a cell has come.
type State string

const (
	Missing State = "to do"
	Stopped State = "interrupted" // by a process that is gone: to be measured anew
	Busy    State = "being measured"
	Done    State = "done"
	Invalid State = "invalid"     // complete, and a search was found wrong
	Failed  State = "failed"      // its engine failed
	Damaged State = "unreadable"  // the record, or it is another run's
	Absent  State = "unavailable" // the engine cannot run here
)

// Open says whether a cell in this state is still to be measured.
func (s State) Open() bool { return s == Missing || s == Stopped }

// Bad says whether something went wrong with a cell in this state.
func (s State) Bad() bool { return s == Invalid || s == Failed || s == Damaged || s == Absent }

// Look says how far a cell has come, and what its record holds if it has one that can be read. The error is about the
// store, or says why a record is Damaged.
func (s *Store) Look(c Cell) (State, harness.Result, error) {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return Missing, harness.Result{}, nil
	}
	unlock, err := s.lock()
	if err != nil {
		return "", harness.Result{}, err
	}
	defer unlock()
	return s.look(c)
}

// Claim takes a cell to measure it: the run's store is open, new and locked. It is nil when the cell's state, which is
// returned, does not ask for a measurement. A cell that failed or is invalid is measured again if retry says so. What an
// interrupted measurement left is thrown away: a run of two halves is not what an undisturbed one would be.
func (s *Store) Claim(c Cell, m harness.Manifest, retry bool) (*harness.Store, State, harness.Result, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, "", harness.Result{}, err
	}
	defer unlock()
	state, result, err := s.look(c)
	if again := retry && (state == Failed || state == Invalid); !state.Open() && !again {
		return nil, state, result, err
	}
	if err := s.discard(c); err != nil {
		return nil, state, result, err
	}
	run, err := harness.Create(s.Path(c), m)
	return run, Missing, harness.Result{}, err
}

// look is Look under the store's lock.
func (s *Store) look(c Cell) (State, harness.Result, error) {
	path := s.Path(c)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Missing, harness.Result{}, nil
	}
	busy, err := locked(filepath.Join(path, harness.JournalFile))
	switch {
	case err != nil:
		return Damaged, harness.Result{}, fmt.Errorf("%s: %w", path, err)
	case busy:
		return Busy, harness.Result{}, nil
	}
	// result.json is written last, and appears as a whole.
	if _, err := os.Stat(filepath.Join(path, harness.ResultFile)); errors.Is(err, fs.ErrNotExist) {
		return Stopped, harness.Result{}, nil
	}
	r, err := harness.Load(path)
	switch {
	case err != nil:
		return Damaged, r, fmt.Errorf("%w; or move %s out of the store to measure it again", err, path)
	case !c.same(r.Manifest):
		return Damaged, r, fmt.Errorf("%s holds another run than its name says; move it out of the store to measure this one", path)
	}
	return stateOf(r), r, nil
}

// stateOf is the state of a cell from its record. A record of several runs is no cell's.
func stateOf(r harness.Result) State {
	run := r.Runs[0]
	switch {
	case run.State == harness.Failed, run.State == harness.Complete && run.Energy.Failed():
		return Failed
	case run.State != harness.Complete:
		return Stopped
	case !run.Sound():
		return Invalid
	}
	return Done
}

// discard removes what an earlier measurement of a cell left. A removal that is cut short is ended by the next process.
func (s *Store) discard(c Cell) error {
	var id [6]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	grave := filepath.Join(s.dir, discarded+hex.EncodeToString(id[:]))
	err := os.Rename(s.Path(c), grave)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.RemoveAll(grave)
	}
	if err != nil {
		return fmt.Errorf("store: throw away an interrupted measurement: %w", err)
	}
	return nil
}

// lock takes the store's lock, waiting for it.
func (s *Store) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("store: %w; choose another folder", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("store: lock %s: %w; a store needs a file system that can lock files", f.Name(), err)
		}
	}
}

// locked says whether a process holds the lock on a file.
func locked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
