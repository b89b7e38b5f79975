package reports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tepsbench/teps/harness"
)

// WriteAll writes every rendering of r that is a file into dir, which must exist: graph500.txt, the figures and
// report.html. Each file appears whole or not at all, and replaces one that is there. The error wraps that of the file
// system and names the file; files before it stay.
func WriteAll(dir string, r harness.Result) error {
	var text, page bytes.Buffer
	if err := Text(&text, r); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(dir, "graph500.txt"), text.Bytes()); err != nil {
		return err
	}
	if _, err := WritePlots(dir, r); err != nil {
		return err
	}
	if err := HTML(&page, r); err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, "report.html"), page.Bytes())
}

// replaceFile writes data beside path and moves it there, so that a reader sees the old file or the new one, and a full
// disk leaves the old one.
func replaceFile(path string, data []byte) (err error) {
	fail := func(err error) error {
		return fmt.Errorf("reports: write %s (is the folder there, writable and not full?): %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fail(err)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
