package find

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Trust is the list of engines whose files the user has looked at: SHA-256 and absolute path, a line each, as sha256sum
// writes and checks them. Lines that begin with # are comments, and are lost when the list is written.
type Trust struct {
	file string
	sums map[string]string // by path
}

// TrustFile is where the list lies in the user's folder for configuration.
func TrustFile(config string) string { return filepath.Join(config, "teps", "trusted-engines") }

// ReadTrust reads a list; a file that is not there is an empty one. Any other line than the two kinds is an error, so
// that a slip of the pen does not open the door.
func ReadTrust(file string) (*Trust, error) {
	t := &Trust{file, map[string]string{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trust list: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, path, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 64 || strings.Trim(strings.ToLower(sum), "0123456789abcdef") != "" || !filepath.IsAbs(path) {
			return nil, fmt.Errorf("trust list %s, line %d: want a SHA-256, two blanks and an absolute path, got %q", file, n, line)
		}
		t.sums[path] = strings.ToLower(sum)
	}
	return t, lines.Err()
}

// Sum returns the SHA-256 with which the file at path is trusted.
func (t *Trust) Sum(path string) (sum string, listed bool) {
	sum, listed = t.sums[real(path)]
	return sum, listed
}

// Add trusts the file at path with a checksum; Remove ends that. Write makes either last.
func (t *Trust) Add(path, sum string) { t.sums[real(path)] = sum }

// Remove takes a file out of the list, and says whether it was in it.
func (t *Trust) Remove(path string) bool {
	_, listed := t.sums[real(path)]
	delete(t.sums, real(path))
	return listed
}

// Paths returns what is in the list, sorted.
func (t *Trust) Paths() []string { return slices.Sorted(maps.Keys(t.sums)) }

// Write replaces the file by the list, as a whole or not at all. Nobody else may write to it.
func (t *Trust) Write() (err error) {
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(t.file), ".trusted-engines-") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	for _, path := range t.Paths() {
		if _, err = fmt.Fprintf(f, "%s  %s\n", t.sums[path], path); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), t.file)
}

// real is the absolute path of a file without symbolic links: two names of one file are one entry.
func real(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path
}
