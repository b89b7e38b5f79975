package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What is read is held against its form and its seals before anything is made of it.

func readManifest(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, ManifestFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, Usage("%s holds no run: there is no %s in it", dir, ManifestFile)
	}
	if err != nil {
		return m, fmt.Errorf("run %s: %w", dir, err)
	}
	var head struct{ Schema string }
	if err := json.Unmarshal(data, &head); err != nil {
		return m, damaged(path, err)
	}
	form, err := readForm(head.Schema)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, damaged(path, err)
	}
	// The first release wrote no seals: one in a record that claims its form says that the form was edited.
	if untouched := inFile.holds(bytes.TrimSuffix(data, []byte("\n")), sealMember, ""); form.sealed() && !untouched || !form.sealed() && m.Seal != "" {
		return m, fmt.Errorf("%s is not what was written: it was edited after the run began; bring back the file as it was", path)
	}
	if err := m.Plan.Check(); err != nil {
		return m, fmt.Errorf("%s is damaged: its plan cannot be: %v", path, err)
	}
	return m, nil
}

// damaged says what a file that is no JSON is likely to be.
func damaged(path string, err error) error {
	var syntax *json.SyntaxError
	if info, stat := os.Stat(path); errors.As(err, &syntax) && stat == nil && syntax.Offset >= info.Size() {
		return fmt.Errorf("%s is damaged: it is cut off after %d bytes; bring back the whole file", path, info.Size())
	}
	return fmt.Errorf("%s is damaged: %w", path, err)
}

// readResult returns the seal of the last line that result.json was made of; empty: there is no result.json, or no seal in
// it. The journal is the truth, and a folder without result.json is whole; but one that was edited must not lie beside it
// unseen.
func readResult(m Manifest, dir string) (journal string, err error) {
	path := filepath.Join(dir, ResultFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || !m.Sealed() {
		return "", nil
	}
	var made struct{ Seal, Journal string }
	if err == nil {
		err = json.Unmarshal(data, &made)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%w; %s can do without it: delete it", damaged(path, err), JournalFile)
	case !inFile.holds(bytes.TrimSuffix(data, []byte("\n")), digestMember, ""):
		return "", fmt.Errorf("%s is not what was written: it was edited; %s can do without it: delete it", path, JournalFile)
	case made.Seal != m.Seal:
		return "", fmt.Errorf("%s is that of another run; delete it", path)
	}
	return made.Journal, nil
}
