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

// newProgress shows bars on a terminal, and elsewhere a line for each step that has ended.
func newProgress(w io.Writer, quiet bool) harness.Progress {
	if quiet {
		return notes{w}
	}
	if isTerminal(w) {
		return &bars{w: w}
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
type bars struct {
	w      io.Writer
	active *barStep // nil between steps
}

// Note writes above the bar, if there is one.
func (p *bars) Note(text string) {
	w := p.w
	if p.active != nil {
		w = p.active.pool
	}
	fmt.Fprintf(w, "teps: %s\n", text)
}

// repaint is the shortest time between two paintings of a bar.
const repaint = 200 * time.Millisecond

func (p *bars) Step(name string, total int64) harness.Step {
	s := &barStep{lineStep: lineStep{p.w, name}, paint: make(chan any), painted: time.Now()}
	p.active, s.over = s, func() { p.active = nil }
	options := []mpb.ContainerOption{mpb.WithOutput(p.w), mpb.WithWidth(40)}
	if total > 0 {
		// Painted by Add, which comes between two searches: nothing of the host runs while an engine's clock does.
		s.pool = mpb.New(append(options, mpb.WithManualRefresh(s.paint))...)
		s.bar = s.pool.AddBar(total, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(name+" ")),
			mpb.AppendDecorators(decor.Percentage(decor.WCSyncSpace), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))
		return s
	}
	// One call of unknown length, such as kernel 1: painted by a clock, or the user would see nothing at all.
	s.pool = mpb.New(append(options, mpb.WithRefreshRate(repaint))...)
	s.bar = s.pool.AddSpinner(1, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Name(name+" ")),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
	s.paint = nil
	return s
}

type barStep struct {
	lineStep
	pool    *mpb.Progress
	bar     *mpb.Bar
	paint   chan any // nil: the bar is painted by a clock
	painted time.Time
	over    func()
}

func (s *barStep) Add(units int64) {
	s.bar.IncrInt64(units)
	if s.paint != nil && time.Since(s.painted) >= repaint {
		s.painted = time.Now()
		s.paint <- s.painted
	}
}

func (s *barStep) Done(summary string) {
	s.end()
	s.lineStep.Done(summary)
}

func (s *barStep) Fail(err error) {
	s.end()
	s.lineStep.Fail(err)
}

// end takes the bar off the screen.
func (s *barStep) end() {
	s.bar.Abort(true)
	if s.paint != nil {
		for range 3 { // full, ended, gone: each takes a painting
			s.paint <- time.Now()
		}
	}
	s.pool.Wait()
	s.over()
}

// isTerminal says whether w takes colours and bars.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
