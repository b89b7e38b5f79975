package harness

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Names of the files in a run's folder.
const (
	ManifestFile = "run.json"    // Manifest; written first
	JournalFile  = "roots.jsonl" // a line for each kernel 1 and each root, appended and synced: the unit of resuming
	ResultFile   = "result.json" // Result; written last, and again by each resume
)

// Store is the folder of a run, open for one process.
type Store struct {
	dir      string
	manifest Manifest
	entries  []entry
	journal  *os.File // locked against other processes
	torn     int      // bytes of a torn last line that Resume cut off
}

// NewManifest describes a run that begins now.
func NewManifest(command []string, plan Plan, software Software, machine Machine) Manifest {
	var id [8]byte
	rand.Read(id[:]) // never fails (crypto/rand)
	libraries, build := thisBuild()
	return Manifest{
		Schema:      Schema,
		ID:          hex.EncodeToString(id[:]),
		Started:     time.Now().UTC().Truncate(time.Millisecond),
		Command:     command,
		Software:    software,
		Machine:     machine,
		Plan:        plan,
		Environment: thisEnvironment(),
		Build:       build,
		Libraries:   libraries,
	}
}

// Create makes the folder dir, with its parents, for a new run. It refuses a folder that already holds one.
func Create(dir string, m Manifest) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); errors.Is(err, syscall.ENOTDIR) {
		return nil, Usage("results folder: %v; choose another with --out or --store", err)
	} else if err != nil {
		return nil, fmt.Errorf("results folder: %w; choose another with --out or --store", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return nil, Usage("%s already holds a run; continue it with --resume %s, or choose another folder with --out", dir, dir)
	}
	m.Seal = "" // of this file
	s := &Store{dir: dir, manifest: m}
	if err := s.open(os.O_CREATE); err != nil {
		return nil, err
	}
	// An empty journal is what a process leaves that is killed right here; anything in it is somebody's.
	if info, err := s.journal.Stat(); err != nil || info.Size() > 0 {
		s.Close()
		return nil, Usage("%s already holds %s; choose another folder with --out", dir, JournalFile)
	}
	// The manifest comes second: a folder with a manifest always has a journal, and the lock on it is already held.
	var err error
	if s.manifest.Seal, err = s.writeSealed(ManifestFile, sealMember, m); err != nil {
		s.Close()
		os.Remove(filepath.Join(dir, JournalFile))
		return nil, err
	}
	return s.begun(session{Started: m.Started, Software: m.Software, Machine: m.Machine, Environment: m.Environment})
}

// begun is a store whose session has begun, or none.
func (s *Store) begun(in session) (*Store, error) {
	if err := s.begin(in); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Unrecorded is a store that keeps its entries in memory alone, for a measurement that only prepares others.
func Unrecorded(m Manifest) *Store { return &Store{manifest: m} }

// Resume opens the folder of a run that was interrupted, cuts off a torn last line, and begins a new session. The
// machine and the software must be those of the run: roots measured on different ones are not one result.
func Resume(dir string, software Software, machine Machine) (*Store, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if was, is := m.Machine.Identity(), machine.Identity(); was != is {
		return nil, Usage("resume %s: the run began on %s and this is %s; roots of two machines are not one result", dir, was, is)
	}
	if m.Software != software {
		return nil, Usage("resume %s: the run began with teps %s and this is %s; resume it with the same build", dir, m.Software, software)
	}
	s := &Store{dir: dir, manifest: m}
	if err := s.open(0); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		s.Close()
		return nil, err
	}
	return s.begun(session{Started: time.Now().UTC().Truncate(time.Millisecond), Software: software, Machine: machine, Environment: thisEnvironment()})
}

// Load reads the folder of a run, finished or not.
func Load(dir string) (Result, error) {
	m, err := readManifest(dir)
	if err != nil {
		return Result{}, err
	}
	r, _, _, err := readJournal(m, dir)
	return r, err
}

// readJournal reads the journal of m, without a torn last line, and says how many of its bytes are torn. Where result.json
// is there as well, the journal must hold the lines that it was made of.
func readJournal(m Manifest, dir string) (r Result, entries []entry, torn int, err error) {
	made, err := readResult(m, dir) // first: it may be written, with new lines before it, while this goes on
	if err != nil {
		return r, nil, 0, err
	}
	path := filepath.Join(dir, JournalFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil, 0, fmt.Errorf("%s is not there: %s tells what was planned, and nothing tells what was measured; bring the file back", path, ManifestFile)
	}
	if err != nil {
		return r, nil, 0, fmt.Errorf("read the record: %w", err)
	}
	entries, whole, err := parseJournal(m, data)
	if err == nil {
		r, err = replay(m, entries)
	}
	if err != nil {
		return r, nil, 0, fmt.Errorf("%s: %w; what comes before that line can be used: delete the line and all after it, and %s", path, err, ResultFile)
	}
	if made != "" && !slices.ContainsFunc(entries, func(e entry) bool { return e.Seal == made }) {
		return r, nil, 0, fmt.Errorf("%s has lost lines at its end: %s was made of more; bring them back, or delete %s to go on without them",
			path, ResultFile, ResultFile)
	}
	return r, entries, len(data) - whole, nil
}

// Manifest returns what the folder says of the run.
func (s *Store) Manifest() Manifest { return s.manifest }

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// Torn returns how many bytes of a torn last line Resume cut off.
func (s *Store) Torn() int { return s.torn }

// Result is what the run has come to so far.
func (s *Store) Result() (Result, error) { return replay(s.manifest, s.entries) }

// Finish writes result.json.
func (s *Store) Finish() (Result, error) {
	r, err := s.Result()
	if err != nil || s.journal == nil {
		return r, err
	}
	_, err = s.writeSealed(ResultFile, digestMember, r)
	return r, err
}

// Close releases the folder.
func (s *Store) Close() error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Close()
}

func (s *Store) begin(n session) error {
	if err := s.append(entry{Session: &n}); err != nil {
		s.Close()
		return err
	}
	return nil
}

func (s *Store) open(flags int) error {
	path := filepath.Join(s.dir, JournalFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, 0o666)
	if err != nil {
		return fmt.Errorf("results folder: %w; choose another with --out or --store", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return Usage("%s is being written by another teps; wait for it, or choose another folder with --out", s.dir)
	}
	s.journal = f
	return nil
}

// load reads the journal and cuts off a torn last line.
func (s *Store) load() error {
	_, entries, torn, err := readJournal(s.manifest, s.dir)
	if err != nil {
		return err
	}
	if s.entries, s.torn = entries, torn; torn > 0 {
		info, err := s.journal.Stat()
		if err == nil {
			err = s.journal.Truncate(info.Size() - int64(torn))
		}
		if err != nil {
			return fmt.Errorf("resume %s: %w", s.dir, err)
		}
	}
	return nil
}

// append adds a line and returns when it is on the disk. A line that could not be written whole is taken back.
func (s *Store) append(e entry) error {
	if s.journal == nil { // Unrecorded
		s.entries = append(s.entries, e)
		return nil
	}
	line, err := json.Marshal(e)
	if err == nil && s.manifest.Sealed() {
		line, e.Seal, err = onLine.seal(line, sealMember, s.lastSeal())
	}
	if err != nil {
		return fmt.Errorf("record of engine %s: %w", e.Engine, err)
	}
	before, err := s.journal.Seek(0, 2)
	if err == nil {
		_, err = s.journal.Write(append(line, '\n'))
	}
	if err == nil {
		err = s.journal.Sync()
	}
	if err != nil {
		s.journal.Truncate(before)
		return &storeError{fmt.Errorf("record: %w; make room, then continue with --resume %s", err, s.dir)}
	}
	s.entries = append(s.entries, e)
	return nil
}

// storeError says that the record cannot be written: the one failure that ends a run for all engines.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// lastSeal is that of the last line, or of run.json where there is no line yet.
func (s *Store) lastSeal() string {
	if len(s.entries) == 0 {
		return s.manifest.Seal
	}
	return s.entries[len(s.entries)-1].Seal
}

// writeSealed replaces a file as a whole or not at all, and returns the seal that it has put into it.
func (s *Store) writeSealed(name, member string, v any) (seal string, err error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		data, seal, err = inFile.seal(data, member, "")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return seal, WriteFile(filepath.Join(s.dir, name), append(data, '\n'))
}

// WriteFile writes a file so that a reader sees the old content or the new one, never a part, also after a crash.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename in dir last through a crash.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Identity is what must be the same for two sessions to be one measurement.
func (m Machine) Identity() string {
	return fmt.Sprintf("%s: %s, %d threads, %d MiB, %s", m.Hostname, m.CPU, m.Threads, m.MemoryBytes>>20, m.OS)
}

func (s Software) String() string {
	text := s.Version
	if s.Commit != "" {
		text += " (" + s.Commit + ")"
	}
	text += ", " + s.Compiler
	if len(s.Program) >= 12 {
		text += ", program " + s.Program[:12]
	}
	return text
}
