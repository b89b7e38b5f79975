// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/tepsbench/teps/harness"
)

// repaint is the minimum time between two paintings.
const repaint = 200 * time.Millisecond

// eraseLine returns to the start of the line and empties it (ECMA-48: carriage return, erase in line).
const eraseLine = "\r\x1b[K"

// progress is a harness.Progress and its Step, because steps do not overlap. On a terminal, a step is a line that is
// repainted, and finally replaced by its summary; elsewhere only the summary is written. Calls of the harness paint it,
// between calls of an engine, so that the host is idle while an engine is timed. Steps of unknown length (kernel 1, the
// energy loop) are also painted by a timer, once a second, which takes some microseconds.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	columns func() int // width of the terminal; nil: there is none
	quiet   bool       // nothing is shown

	name             string // of the step; empty between steps
	total, done      int64  // a total of 0: unknown
	started, painted time.Time
	timer            *time.Timer // of a step of unknown length
	end              time.Time   // estimated end of the run; zero: unknown
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
	if p.quiet {
		return
	}
	fmt.Fprintf(p.w, "%steps: %s\n", p.erase(), wrapped(p.w, text, len("teps: ")))
	if p.name != "" {
		p.paint()
	}
}

func (p *progress) Left(left time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end = (time.Time{}); left > 0 {
		p.end = time.Now().Add(left)
	}
}

func (p *progress) Step(name string, total int64) harness.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = strings.ReplaceAll(printable(name), "\n", " ")
	p.name, p.total, p.done, p.started = name, total, 0, time.Now()
	p.paint()
	if total == 0 && p.columns != nil {
		p.timer = time.AfterFunc(time.Second, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.timer != nil {
				p.paint()
				p.timer.Reset(time.Second)
			}
		})
	}
	return p
}

func (p *progress) Add(units int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done += units; time.Since(p.painted) >= repaint {
		p.paint()
	}
}

// End replaces the step's line with its summary.
func (p *progress) End(summary string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if err != nil {
		summary = "stopped"
	}
	if !p.quiet {
		fmt.Fprintf(p.w, "%s%s: %s\n", p.erase(), p.name, printable(summary))
	}
	p.name = ""
}

// erase returns the control sequence that empties the line of a terminal.
func (p *progress) erase() string {
	if p.columns == nil {
		return ""
	}
	return eraseLine
}

// paint repaints the line. The caller holds the mutex.
func (p *progress) paint() {
	if p.columns == nil {
		return
	}
	p.painted = time.Now()
	// One column stays empty, because some terminals wrap after the last one.
	fmt.Fprint(p.w, eraseLine+text.Snip(p.line(), max(p.columns()-1, 1), "…"))
}

func (p *progress) line() string {
	passed, left := p.painted.Sub(p.started), time.Duration(0)
	before, after := p.name+" … "+passed.Truncate(time.Second).String(), ""
	if p.total > 0 {
		done := min(p.done, p.total)
		before, after = p.name+" ", fmt.Sprintf(" %3d%%", done*100/p.total)
		if done > 0 && done < p.total {
			left = time.Duration(min(passed.Seconds()*float64(p.total-done)/float64(done), 1e9)) * time.Second
			after += fmt.Sprintf("  %v left", left)
		}
	}
	if whole := p.end.Sub(p.painted); whole > left+left/5+time.Second {
		after += ", " + about(whole) + map[bool]string{true: " left"}[left == 0] + " in all"
	}
	if p.total > 0 {
		columns := min(p.columns()-utf8.RuneCountInString(before+after)-3, 24)
		if columns >= 4 { // a shorter bar is useless, and the times need its room
			before += fmt.Sprintf("[%-*s]", columns, strings.Repeat("=", int(min(p.done, p.total)*int64(columns)/p.total)))
		}
	}
	return before + after
}

// about rounds an estimated time.
func about(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "under 10 s"
	case d < 90*time.Second:
		return fmt.Sprintf("about %d s", d.Round(10*time.Second)/time.Second)
	case d < 90*time.Minute:
		return fmt.Sprintf("about %d min", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("about %d h", d.Round(time.Hour)/time.Hour)
}

// printable replaces characters that control a terminal in a text of an engine or a file.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// isTerminal reports whether w is a terminal that can repaint a line.
func isTerminal(w io.Writer) bool { return terminalWidth(w) > 0 && os.Getenv("TERM") != "dumb" }

// terminalWidth returns the current number of columns of w, or 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}
