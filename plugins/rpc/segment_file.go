package rpc

import (
	"errors"
	"os"
)

// backFile backs a segment with a file in the host's own temporary folder. It is the way of systems without memfd, and
// of Linux where memfd_create is forbidden. The file stays until the segment is released: an engine opens it by name.
func (s *segment) backFile(size int64, dir func() (string, error)) error {
	folder, err := dir()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "segment-")
	if err != nil {
		return err
	}
	s.file, s.path = f, f.Name()
	s.discard = func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	if err := f.Truncate(size); err != nil {
		return errors.Join(err, s.discard())
	}
	return nil
}
