package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/tepsbench/teps/harness"
)

// newProgress shows bars on a terminal, and elsewhere a line for each step that has ended.
func newProgress(w io.Writer, quiet bool) harness.Progress {
	if quiet {
		return notes{w}
	}
	if takesBars(w) {
		return &bars{w: w, width: widthOf(w)}
	}
	return lines{w}
}

// notes shows only what must not be missed.
type notes struct{ w io.Writer }

func (p notes) Step(name string, total int64) harness.Step { return harness.Silent{}.Step(name, total) }
func (p notes) Note(text string)                           { fmt.Fprintf(p.w, "teps: %s\n", text) }

// lines writes one line a step.
type lines struct{ w io.Writer }

func (p lines) Step(name string, _ int64) harness.Step { return lineStep{p.w, name} }
func (p lines) Note(text string)                       { fmt.Fprintf(p.w, "teps: %s\n", text) }

type lineStep struct {
	w    io.Writer
	name string
}

func (s lineStep) Add(int64)            {}
func (s lineStep) Expect(time.Duration) {}
func (s lineStep) Done(summary string)  { fmt.Fprintf(s.w, "%s: %s\n", s.name, summary) }
func (s lineStep) Fail(err error)       { fmt.Fprintf(s.w, "%s: stopped\n", s.name) }

func (s lineStep) Watch(string, func() (int64, int64)) (stop func()) { return func() {} }

// takesColour says whether w is a terminal that takes colours, and the user wants them (https://no-color.org).
func takesColour(w io.Writer) bool { return takesBars(w) && os.Getenv("NO_COLOR") == "" }

// takesBars says whether w is a terminal that can be painted over.
func takesBars(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// widthOf returns what tells how many columns w has. A terminal may be resized at any time.
func widthOf(w io.Writer) func() int {
	return func() int {
		if f, ok := w.(*os.File); ok {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
				return columns
			}
		}
		return 80
	}
}
