// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tepsbench/teps/power"
)

type polled struct {
	info  power.Info
	show  func(context.Context) (float64, error) // joules that a counter has counted, or watts
	close func()                                 // nil: there is nothing to close
	total total
}

func (m *polled) Info() power.Info { return m.info }

func (m *polled) Close() error {
	if m.close != nil {
		m.close()
	}
	return nil
}

func (m *polled) Read(ctx context.Context) ([]power.Reading, error) {
	begin := time.Now()
	value, err := m.show(ctx)
	if err != nil {
		return nil, err
	}
	window := time.Since(begin)
	r := power.Reading{Time: begin.Add(window / 2), Value: value, Window: window}
	if m.info.Quantity == power.Energy {
		err = m.total.add(value, &r)
	}
	return []power.Reading{r}, err
}

// A total turns the values of a counter into joules since the meter was opened, which never decrease.
type total struct {
	wrap     float64 // the counter restarts at zero after this value; zero: never
	maxPower float64 // more than the device can draw

	started bool
	shown   float64
	at      time.Time
	sum     float64
}

// add adds a value of the counter and completes the reading r with the sum. If the counter was reset or may have
// wrapped more than once, the sum omits the energy since the last call, r.Break is set and the error says why.
func (t *total) add(shown float64, r *power.Reading) (err error) {
	passed, rise := r.Time.Sub(t.at), shown-t.shown
	first := !t.started
	t.started, t.shown, t.at = true, shown, r.Time
	switch {
	case first:
		rise = 0
	case t.wrap > 0 && t.maxPower*passed.Seconds() > t.wrap:
		err = errors.New("the counter was not read for so long that it may have wrapped more than once")
	case rise < 0 && (rise+t.wrap < 0 || rise+t.wrap > t.maxPower*(passed+time.Second).Seconds()):
		err = errors.New("the counter was reset")
	case rise < 0:
		rise += t.wrap
	}
	if err == nil {
		t.sum += rise
	}
	r.Value, r.Break = t.sum, err != nil
	return err
}

// openMicro opens a meter whose file shows a number of microwatts or microjoules, and reads it once. The file stays
// open, so reading it again costs one system call.
func openMicro(files fs.FS, path string, info power.Info, sum total) (*polled, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	m := &polled{info: info, total: sum, close: func() { _ = file.Close() }}
	m.show = func(context.Context) (float64, error) {
		number, err := readNumber(file)
		return number / 1e6, err
	}
	if _, err := m.Read(context.Background()); err != nil {
		_ = file.Close()
		return nil, err
	}
	return m, nil
}

// readNumber returns the number in an open file. The error wraps power.ErrGone if the device was removed.
func readNumber(file fs.File) (float64, error) {
	var buffer [32]byte
	n, err := file.(io.ReaderAt).ReadAt(buffer[:], 0)
	switch {
	case errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return 0, fmt.Errorf("%w: %v", power.ErrGone, err)
	case err != nil && err != io.EOF:
		return 0, err
	}
	shown := strings.TrimSpace(string(buffer[:n]))
	number, err := strconv.ParseUint(shown, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the file shows %q, not a number", shown)
	}
	return float64(number), nil
}

// readText returns the trimmed text of a small file, or "" if it cannot be read.
func readText(files fs.FS, path string) string {
	content, err := fs.ReadFile(files, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}
