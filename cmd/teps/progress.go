package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/tepsbench/teps/harness"
)

// newProgress shows bars on a terminal, and elsewhere a line for each step that has ended. The bars are redrawn five
// times a second by a goroutine that sleeps in between; nothing of it runs on the engine's side.
func newProgress(w io.Writer, quiet bool) harness.Progress {
	if quiet {
		return notes{w}
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return bars{w}
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

func (s lineStep) Add(int64)           {}
func (s lineStep) Done(summary string) { fmt.Fprintf(s.w, "%s: %s\n", s.name, summary) }
func (s lineStep) Fail(err error)      { fmt.Fprintf(s.w, "%s: stopped\n", s.name) }

// bars draws a bar while a step runs, and leaves its line behind.
type bars struct{ w io.Writer }

func (p bars) Note(text string) { fmt.Fprintf(p.w, "teps: %s\n", text) }

func (p bars) Step(name string, total int64) harness.Step {
	s := &barStep{lineStep: lineStep{p.w, name}}
	s.pool = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(40), mpb.WithRefreshRate(200*time.Millisecond))
	left := []decor.Decorator{decor.Name(name + " ")}
	if total > 0 {
		s.bar = s.pool.AddBar(total, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(left...),
			mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))
	} else {
		s.bar = s.pool.AddSpinner(1, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(left...),
			mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
	}
	return s
}

type barStep struct {
	lineStep
	pool *mpb.Progress
	bar  *mpb.Bar
}

func (s *barStep) Add(units int64) { s.bar.IncrInt64(units) }

func (s *barStep) Done(summary string) {
	s.end()
	s.lineStep.Done(summary)
}

func (s *barStep) Fail(err error) {
	s.end()
	s.lineStep.Fail(err)
}

func (s *barStep) end() {
	s.bar.Abort(true)
	s.pool.Wait()
}
