package power

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A stream of readings is lines of text: a time stamp, watts and, where the meter integrates itself, joules.
//
//	1763654400.250,412.5
//	2025-11-20T16:00:00.25Z,412.5,1203311.8
//	,412.5
//
// The time stamp is in seconds since 1970 (milli-, micro- and nanoseconds are known by their size), or as RFC 3339 has it; without
// one, it is the time of arrival. Joules are a sum that only grows. Empty lines, lines after # and a first line of names
// are passed over.

const (
	longestLine    = 4096
	linesPerSecond = 1000 // more than that wait
	clockLimit     = 5 * time.Second
	mostPending    = 1 << 16 // readings that nobody has asked for
	firstLineLimit = 10 * time.Second
)

const lineForm = `"timestamp,watts" or "timestamp,watts,joules"`

// A line is one reading of a stream.
type line struct {
	at        time.Time // zero: none was given
	watts     float64
	joules    float64
	hasJoules bool
}

// parseLine understands a line of a stream.
func parseLine(text string) (line, error) {
	fields := strings.Split(text, ",")
	if len(fields) != 2 && len(fields) != 3 {
		return line{}, errors.New("a line is not " + lineForm)
	}
	var l line
	var err error
	if l.at, err = parseStamp(strings.TrimSpace(fields[0])); err != nil {
		return line{}, err
	}
	if l.watts, err = parseWatts(fields[1]); err != nil {
		return line{}, errors.New("a line has no power in watts as its second field")
	}
	if len(fields) == 3 {
		l.hasJoules = true
		l.joules, err = strconv.ParseFloat(strings.TrimSpace(fields[2]), 64)
		if err != nil || !(l.joules >= 0 && l.joules < 1e18) {
			return line{}, errors.New("a line has no energy in joules as its third field")
		}
	}
	return l, nil
}

func parseStamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !(number > 0) {
		return time.Time{}, errors.New("a line has no time stamp as its first field")
	}
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
		if seconds := number / unit; seconds < 1e10 { // the year 2286
			whole := int64(seconds)
			return time.Unix(whole, int64((seconds-float64(whole))*1e9)), nil
		}
	}
	return time.Time{}, errors.New("a line has a time stamp that is none")
}

// A feed takes lines in and gives readings out. The goroutine that reads lines calls take; Read may be called by another.
type feed struct {
	live bool // lines come as they are measured, so time stamps should be of now

	mu       sync.Mutex
	pending  []Reading
	faults   []*repeated       // to be told, one with each read
	known    map[string]string // texts of faults by their kinds
	ended    error
	first    chan struct{} // closed when the first line is there, or the stream has ended
	begun    bool
	quantity Quantity
	count    unwrapper
	last     time.Time
}

func newFeed(live bool) *feed {
	return &feed{live: live, known: map[string]string{}, first: make(chan struct{})}
}

// fault notes what is wrong with a line; f.mu is held. A kind of fault is told in the words of its first case, so that many
// are one with a count.
func (f *feed) fault(kind, text string) {
	if _, ok := f.known[kind]; !ok {
		if len(text) > 60 {
			text = text[:60] + "..."
		}
		f.known[kind] = fmt.Sprintf("%s: %q", kind, text)
	}
	for _, r := range f.faults {
		if r.text == f.known[kind] {
			r.times++
			return
		}
	}
	f.faults = append(f.faults, &repeated{f.known[kind], 1})
}

// repeated is a fault that was seen several times since the last one was told.
type repeated struct {
	text  string
	times int
}

func (r *repeated) Error() string { return r.text }

// take takes a line that arrived at a moment.
func (f *feed) take(text string, now time.Time) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := parseLine(text)
	if err != nil {
		if f.begun || !strings.HasPrefix(strings.ToLower(text), "time") {
			f.fault(err.Error(), text)
		}
		return
	}
	if l.at.IsZero() {
		if l.at = now; !now.After(f.last) {
			f.fault("lines without time stamps came at once (the program should print stamps, or not buffer its output)", text)
			return
		}
	}
	switch {
	case l.at.After(now.Add(clockLimit)):
		f.fault("a time stamp lies more than 5 s in the future (does the meter's clock go right?)", text)
		return
	case f.live && l.at.Before(now.Add(-clockLimit)):
		f.fault("a time stamp is more than 5 s old when it arrives (set the meter's clock, or leave the stamp out)", text)
		return
	case l.at.Equal(f.last):
		f.fault("a time stamp came twice, and the second line was left out", text)
		return
	case l.at.Before(f.last):
		f.fault("a time stamp went back, and the line was left out", text)
		return
	}
	if !f.begun {
		f.begun, f.quantity = true, Power
		if l.hasJoules {
			f.quantity = Energy
		}
		close(f.first)
	}
	if l.hasJoules != (f.quantity == Energy) {
		f.fault("a line has joules where the first had none, or none where it had", text)
		return
	}
	f.last = l.at
	if len(f.pending) == mostPending {
		f.fault("lines came faster than they were read, and were left out", text)
		return
	}
	r := Reading{Time: l.at, Value: l.watts}
	if f.quantity == Energy {
		if r.Value, err = f.count.add(l.joules, l.at, 0, 0); err != nil {
			f.pending = append(f.pending, Reading{}) // a mark: what was before is not joined with what follows
			f.fault("the joules went back", text)
		}
	}
	f.pending = append(f.pending, r)
}

// end says that no more lines will come.
func (f *feed) end(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil {
		f.ended = fmt.Errorf("%w: %w", ErrGone, why)
		if !f.begun {
			close(f.first)
		}
	}
}

// read gives the readings that have come, and what is wrong. Up to a mark only: the readings after it come with ErrBreak.
func (f *feed) read() ([]Reading, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if len(f.pending) > 0 && f.pending[0].Time.IsZero() {
		f.pending, err = f.pending[1:], ErrBreak
	}
	n := 0
	for n < len(f.pending) && !f.pending[n].Time.IsZero() {
		n++
	}
	readings := f.pending[:n:n]
	f.pending = f.pending[n:]
	switch {
	case err != nil:
	case len(f.faults) > 0:
		err, f.faults = f.faults[0], f.faults[1:]
	case len(f.pending) == 0:
		err = f.ended
	}
	return readings, err
}

// begin waits for the first line, which tells what the stream reads.
func (f *feed) begin(ctx context.Context, limit time.Duration) (Quantity, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-f.first:
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.begun:
		return f.quantity, nil
	case f.ended != nil:
		return "", f.ended
	case len(f.faults) > 0:
		return "", fmt.Errorf("no line like %s came within %v; %s", lineForm, limit, f.faults[0].text)
	}
	return "", fmt.Errorf("no line like %s came within %v", lineForm, limit)
}

// follow takes lines from a source as they come, until it ends. A source that floods is made to wait.
func (f *feed) follow(source io.Reader) error {
	reader := bufio.NewReaderSize(source, longestLine)
	second, lines := time.Now(), 0
	for {
		text, err := reader.ReadSlice('\n')
		now := time.Now()
		if err == bufio.ErrBufferFull {
			f.mu.Lock()
			f.fault("a line is too long", string(text[:min(len(text), 60)]))
			f.mu.Unlock()
			for err == bufio.ErrBufferFull {
				_, err = reader.ReadSlice('\n')
			}
		} else if len(bytes.TrimSpace(text)) > 0 {
			f.take(string(text), now)
		}
		if err != nil {
			return err
		}
		if now.Sub(second) >= time.Second {
			second, lines = now, 0
		}
		if lines++; lines > linesPerSecond {
			f.mu.Lock()
			f.fault(fmt.Sprintf("more than %d lines came in a second, and were made to wait", linesPerSecond), "")
			f.mu.Unlock()
			time.Sleep(time.Until(second.Add(time.Second)))
		}
	}
}
