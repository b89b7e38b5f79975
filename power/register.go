package power

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A register is a file that shows a number and is kept open: reading it again costs one call of the system.
type register struct {
	file fs.File
	at   io.ReaderAt
	text [64]byte
}

func openRegister(tree fs.FS, path string) (*register, error) {
	file, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		_ = file.Close()
		return nil, fmt.Errorf("%s cannot be read at a position", path)
	}
	return &register{file: file, at: at}, nil
}

// read gives the number that the file shows now, and when that was. A file whose device has gone is ErrGone.
func (r *register) read() (value float64, at time.Time, window time.Duration, err error) {
	begin := time.Now()
	n, err := r.at.ReadAt(r.text[:], 0)
	window = time.Since(begin)
	at = begin.Add(window / 2)
	if n == 0 && err != nil && err != io.EOF {
		if errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENXIO) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
			err = fmt.Errorf("%w: %v", ErrGone, err)
		}
		return 0, at, window, err
	}
	text := strings.TrimSpace(string(r.text[:n]))
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, at, window, fmt.Errorf("it shows %q, which is no count", text)
	}
	return float64(number), at, window, nil
}

func (r *register) close() error { return r.file.Close() }

// word reads a small file as one line without its end; empty where it cannot be read.
func word(tree fs.FS, path string) string {
	text, err := fs.ReadFile(tree, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// count reads a small file as a number. Zero and false: it is not there or no number.
func count(tree fs.FS, path string) (float64, bool) {
	number, err := strconv.ParseFloat(word(tree, path), 64)
	return number, err == nil
}
