package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/harness"
)

// A step on a terminal is one line that is painted over and over, and leaves its summary behind. It is painted by the
// harness's own calls, which come between those of engines, so that nothing of the host runs while an engine's clock does.
// Three things are painted by a clock: what is watched, while no engine works; the energy loop, in which no single search is
// timed; and a step of unknown length, such as kernel 1, which is one call of an engine. That is painted once a second, for
// some microseconds, or the user would see nothing.
const (
	repaint     = 200 * time.Millisecond // shortest time between two paintings
	repaintCall = time.Second            // of a step of unknown length
	barColumns  = 24
)

// bars is a harness.Progress on a terminal.
type bars struct {
	mu     sync.Mutex // of everything that is written
	w      io.Writer
	width  func() int
	active *bar // nil between steps
}

func (p *bars) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%steps: %s\n", eraseLine, text)
	if p.active != nil {
		p.active.paint()
	}
}

// eraseLine goes to the begin of the line and empties it (ECMA-48: carriage return, erase in line).
const eraseLine = "\r\x1b[K"

func (p *bars) Step(name string, total int64) harness.Step {
	b := &bar{bars: p, name: name, total: total, started: time.Now()}
	p.mu.Lock()
	p.active = b
	b.paint()
	p.mu.Unlock()
	if total == 0 {
		b.stop = b.every(repaintCall)
	}
	return b
}

// bar is a harness.Step.
type bar struct {
	*bars
	name        string
	total, done int64
	started     time.Time
	painted     time.Time
	expected    time.Duration
	watched     string // what is watched; empty: nothing
	progress    func() (done, total int64)
	stop        func() // ends the clock of a step of unknown length
}

func (b *bar) Add(units int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done += units; time.Since(b.painted) >= repaint {
		b.paint()
	}
}

func (b *bar) Expect(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = d
	b.paint()
}

func (b *bar) Watch(what string, progress func() (done, total int64)) (stop func()) {
	b.mu.Lock()
	b.watched, b.progress = what, progress
	b.mu.Unlock()
	ended := b.every(repaint)
	return func() {
		ended()
		b.mu.Lock()
		b.watched, b.progress = "", nil
		b.mu.Unlock()
	}
}

// every paints by a clock until stop is called, which waits for a painting that is going on.
func (b *bar) every(interval time.Duration) (stop func()) {
	over := make(chan struct{})
	var painter sync.WaitGroup
	painter.Go(func() {
		clock := time.NewTicker(interval)
		defer clock.Stop()
		for {
			select {
			case <-over:
				return
			case <-clock.C:
				b.mu.Lock()
				b.paint()
				b.mu.Unlock()
			}
		}
	})
	return func() {
		close(over)
		painter.Wait()
	}
}

func (b *bar) Done(summary string) { b.end(summary) }
func (b *bar) Fail(error)          { b.end("stopped") }

// end leaves the step's line behind.
func (b *bar) end(summary string) {
	if b.stop != nil {
		b.stop()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active = nil
	fmt.Fprintf(b.w, "%s%s: %s\n", eraseLine, b.name, summary)
}

// paint writes the line over itself. The mutex is held.
func (b *bar) paint() {
	b.painted = time.Now()
	// One column stays empty: some terminals go to the next line when the last one is written.
	fmt.Fprint(b.w, eraseLine+text.Snip(b.line(b.painted.Sub(b.started)), max(b.width()-1, 1), "…"))
}

func (b *bar) line(elapsed time.Duration) string {
	if b.total == 0 {
		line := fmt.Sprintf("%s  %c %s", b.name, `-\|/`[int(elapsed/repaintCall)%4], secondsText(elapsed.Seconds()))
		if b.expected > 0 {
			line += fmt.Sprintf(" of about %s (estimate)", secondsText(b.expected.Seconds()))
		}
		return line
	}
	full := int(min(b.done, b.total) * barColumns / b.total)
	line := fmt.Sprintf("%s [%s%s] %3d%%", b.name, strings.Repeat("=", full), strings.Repeat(" ", barColumns-full), min(b.done, b.total)*100/b.total)
	if b.done > 0 && b.done < b.total {
		line += "  " + secondsText(elapsed.Seconds()*float64(b.total-b.done)/float64(b.done)) + " left"
	}
	if b.watched != "" {
		line += "  " + b.watched
		if done, total := b.progress(); total > 0 {
			line += fmt.Sprintf(" %d%%", done*100/total)
		}
	}
	return line
}

// secondsText shows a time to three digits or so.
func secondsText(seconds float64) string {
	d := time.Duration(min(max(seconds, 0), 1e9) * float64(time.Second))
	switch {
	case d < 100*time.Millisecond:
		return "0.1 s" // an estimate of less is none
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
