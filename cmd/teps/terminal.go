package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/tepsbench/teps/harness"
)

// On a terminal, a step of a run is one line, painted over and over, that leaves its summary behind. It is painted by
// calls of the harness, which come between those of an engine, so that nothing of the host runs while an engine is
// timed. Only three things are painted by a timer: what is watched while no engine works; the energy loop, in which no
// single search is timed; and a step of unknown length such as kernel 1, which is one call of an engine. That one is
// painted once a second, which takes some microseconds.
const (
	repaint     = 200 * time.Millisecond // shortest time between two paintings
	repaintCall = time.Second            // of a step of unknown length
	barColumns  = 24
)

// eraseLine returns to the start of the line and empties it (ECMA-48: carriage return, erase in line).
const eraseLine = "\r\x1b[K"

// progress is a harness.Progress. Without a terminal it writes one line for each step that has ended.
type progress struct {
	mu      sync.Mutex // guards everything that is written
	w       io.Writer
	columns func() int // width of the terminal; nil: there is none
	quiet   bool       // only notes are shown
	active  *step      // nil between steps
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet}
	if isTerminal(w) && !quiet {
		p.columns = func() int { return terminalWidth(w) }
	}
	return p
}

func (p *progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns != nil {
		fmt.Fprint(p.w, eraseLine)
	}
	fmt.Fprintf(p.w, "teps: %s\n", text)
	if p.active != nil {
		p.active.paint()
	}
}

func (p *progress) Step(name string, total int64, expected time.Duration) harness.Step {
	s := &step{progress: p, name: name, total: total, expected: expected, started: time.Now(), stop: func() {}}
	p.mu.Lock()
	p.active = s
	s.paint()
	p.mu.Unlock()
	if total == 0 {
		s.stop = s.paintEvery(repaintCall)
	}
	return s
}

// step is a harness.Step.
type step struct {
	*progress
	name        string
	total, done int64 // a total of 0: unknown
	started     time.Time
	painted     time.Time
	expected    time.Duration
	watched     string // empty: nothing is watched
	watch       func() (done, total int64)
	stop        func() // ends the timer of a step of unknown length
}

func (s *step) Add(units int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done += units; time.Since(s.painted) >= repaint {
		s.paint()
	}
}

func (s *step) Watch(what string, watch func() (done, total int64)) (stop func()) {
	s.mu.Lock()
	s.watched, s.watch = what, watch
	s.mu.Unlock()
	stopPainting := s.paintEvery(repaint)
	return func() {
		stopPainting()
		s.mu.Lock()
		s.watched = ""
		s.mu.Unlock()
	}
}

// paintEvery paints by a timer until stop is called, which waits for a painting in progress.
func (s *step) paintEvery(interval time.Duration) (stop func()) {
	if s.columns == nil {
		return func() {}
	}
	over := make(chan struct{})
	var painter sync.WaitGroup
	painter.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				s.mu.Lock()
				s.paint()
				s.mu.Unlock()
			}
		}
	})
	return func() {
		close(over)
		painter.Wait()
	}
}

// End leaves the step's line behind.
func (s *step) End(summary string, err error) {
	if err != nil {
		summary = "stopped"
	}
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = nil
	if s.quiet {
		return
	}
	if s.columns != nil {
		fmt.Fprint(s.w, eraseLine)
	}
	fmt.Fprintf(s.w, "%s: %s\n", s.name, summary)
}

// paint writes the line over itself. The caller holds the mutex.
func (s *step) paint() {
	if s.columns == nil {
		return
	}
	s.painted = time.Now()
	// One column stays empty: some terminals wrap when the last one is written.
	fmt.Fprint(s.w, eraseLine+text.Snip(s.line(s.painted.Sub(s.started)), max(s.columns()-1, 1), "…"))
}

func (s *step) line(elapsed time.Duration) string {
	if s.total == 0 {
		line := fmt.Sprintf("%s  %c %s", s.name, `-\|/`[int(elapsed/repaintCall)%4], durationText(elapsed))
		if s.expected > 0 {
			line += fmt.Sprintf(" of about %s", durationText(s.expected))
		}
		return line
	}
	done := min(s.done, s.total)
	full := int(done * barColumns / s.total)
	bar := strings.Repeat("=", full) + strings.Repeat(" ", barColumns-full)
	line := fmt.Sprintf("%s [%s] %3d%%", s.name, bar, done*100/s.total)
	if done > 0 && done < s.total {
		left := elapsed.Seconds() * float64(s.total-done) / float64(done)
		line += "  " + durationText(time.Duration(min(left, 1e9)*float64(time.Second))) + " left"
	}
	if s.watched != "" {
		line += "  " + s.watched
		if done, total := s.watch(); total > 0 {
			line += fmt.Sprintf(" %d%%", done*100/total)
		}
	}
	return line
}

// durationText shows a time in about three digits.
func durationText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", max(d.Seconds(), 0.1))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// takesColour reports whether w is a terminal and the user has not turned colours off (https://no-color.org).
func takesColour(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" }

// isTerminal reports whether w is a terminal on which a line can be painted over.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// terminalWidth returns the columns of w, which can change at any time.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}
