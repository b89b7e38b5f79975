package reports

import (
	"bytes"
	"fmt"
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
	if err := writeFile(filepath.Join(dir, "graph500.txt"), text.Bytes()); err != nil {
		return err
	}
	if _, err := WritePlots(dir, r); err != nil {
		return err
	}
	if err := HTML(&page, r); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "report.html"), page.Bytes())
}

// writeFile is harness.WriteFile with what a user can do about its errors.
func writeFile(path string, data []byte) error {
	if err := harness.WriteFile(path, data); err != nil {
		return fmt.Errorf("reports: %w (is the folder there, writable and not full?)", err)
	}
	return nil
}
