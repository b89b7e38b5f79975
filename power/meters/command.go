// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/power"
)

const (
	firstLineLimit = 10 * time.Second // for the first line of a program
	maxWaiting     = 1000             // readings that wait for Read
	maxClockError  = 5 * time.Second  // between a time stamp and the clock of this machine
	endLimit       = time.Second      // for the end of a program after SIGTERM
)

func commandSource() Source {
	return Source{
		Name: "command", Example: "command:wall=./meter.sh",
		Help: "a program that prints lines " + lineFormat,
		Open: func(ctx context.Context, r Request) ([]power.Meter, error) {
			m, err := startCommand(ctx, r, firstLineLimit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Value, err)
			}
			return []power.Meter{m}, nil
		},
	}
}

type commandMeter struct {
	info    power.Info
	process *child.Process
	stderr  *child.Tail
	begun   chan struct{} // closed after the first reading
	begin   func()        // closes begun

	mu       sync.Mutex
	readings []power.Reading // that wait for Read, at most maxWaiting
	fault    error           // last error since the last Read, or nil
}

func newCommandMeter(r Request) *commandMeter {
	begun := make(chan struct{})
	return &commandMeter{
		info: power.Info{
			Name: "command:" + string(r.Scope) + "=" + r.Value, Source: "command", Scope: r.Scope, Method: power.Measured,
			Quantity: power.Power, Detail: r.Value,
		},
		stderr: child.NewTail(), begun: begun, begin: sync.OnceFunc(func() { close(begun) }),
	}
}

func startCommand(ctx context.Context, r Request, limit time.Duration) (*commandMeter, error) {
	m := newCommandMeter(r)
	arguments := strings.Fields(r.Value)
	cmd := exec.Command(arguments[0], arguments[1:]...)
	out := child.NewLines(func(text []byte) { m.take(string(text), time.Now()) })
	cmd.Stdout, cmd.Stderr = out, m.stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // the login of a board controller
		return strings.HasPrefix(v, redfishUser+"=") || strings.HasPrefix(v, redfishPassword+"=")
	})
	var err error
	if m.process, err = child.Start(cmd, syscall.SIGKILL, out.Flush); err != nil {
		if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
			err = cause.Err // the caller names the program
		}
		return nil, fmt.Errorf("the program does not start: %w; is the path right, and the file executable?", err)
	}
	if err := m.awaitReading(ctx, limit); err != nil {
		_ = m.Close()
		return nil, err
	}
	return m, nil
}

func (m *commandMeter) awaitReading(ctx context.Context, limit time.Duration) error {
	select {
	case <-m.begun:
		return nil
	case <-m.process.Exited():
		if len(m.readings) > 0 { // nothing more arrives
			return nil
		}
		return m.ended()
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(limit):
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	why := ""
	if m.fault != nil {
		why = "; " + m.fault.Error()
	}
	return fmt.Errorf("it printed no line %s within %v%s", lineFormat, limit, why)
}

func (m *commandMeter) take(text string, now time.Time) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' || strings.HasPrefix(strings.ToLower(text), "time") {
		return // a comment or column names
	}
	r, err := parseLine(text, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && len(m.readings) == maxWaiting {
		err = fmt.Errorf("more than %d lines were printed before they could be read", maxWaiting)
	}
	if err != nil {
		m.fault = fmt.Errorf("%w: %.60q", err, text)
		return
	}
	m.readings = append(m.readings, r)
	m.begin()
}

// lineFormat describes the lines of a program that is a meter:
//
//	1763654400.250,412.5
//	2025-11-20T16:00:00.25Z,412.5
//	,412.5
//
// The time stamp is in seconds since 1970 (milli-, micro- and nanoseconds are recognized by their size) or in RFC
// 3339; without one, the time is that of arrival. Watts follow.
const lineFormat = `"timestamp,watts"`

// parseLine returns the reading of a line that arrived at a moment. A time stamp must be close to that moment.
func parseLine(text string, now time.Time) (power.Reading, error) {
	stamp, value, found := strings.Cut(text, ",")
	stamp = strings.TrimSpace(stamp)
	watts, wrong := strconv.ParseFloat(strings.TrimSpace(value), 64)
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if number, wrong := strconv.ParseFloat(stamp, 64); wrong == nil {
		for number >= 1e10 && number < 1e20 { // the year 2286
			number /= 1e3
		}
		seconds, fraction := math.Modf(number)
		at, err = time.Unix(int64(seconds), int64(fraction*1e9)), nil
	} else if stamp == "" {
		at, err = now, nil
	}
	switch {
	case !found:
		err = errors.New("a line is not " + lineFormat)
	case err != nil:
		err = errors.New("the first field of a line is not a time stamp")
	case at.Sub(now).Abs() > maxClockError:
		err = fmt.Errorf("a time stamp is more than %v off this machine's clock (set the meter's clock, or print no "+
			"time stamps)", maxClockError)
	case wrong != nil || !(watts >= 0 && watts < 1e9):
		err = errors.New("the second field of a line is not a power in watts")
	default:
		return power.Reading{Time: at, Value: watts}, nil
	}
	return power.Reading{}, err
}

func (m *commandMeter) ended() error {
	return fmt.Errorf("the program has ended (%s; %s)", m.process.State(), m.stderr)
}

func (m *commandMeter) Info() power.Info { return m.info }

// Read returns the waiting readings, and the last fault since the previous call.
func (m *commandMeter) Read(context.Context) ([]power.Reading, error) {
	exited := m.process.HasExited()
	m.mu.Lock()
	defer m.mu.Unlock()
	readings, fault := m.readings, m.fault
	m.readings, m.fault = nil, nil
	if fault == nil && exited {
		fault = fmt.Errorf("%w: %v", power.ErrGone, m.ended())
	}
	return readings, fault
}

// Close asks the program to end. It kills the program and its children after endLimit.
func (m *commandMeter) Close() error {
	if !m.process.Stop(0, endLimit) {
		return fmt.Errorf("the program %s cannot be killed", m.info.Detail)
	}
	return nil
}
