package main

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen is a terminal of one line that is looked at.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	paint int
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paint++
	return s.text.Write(p)
}

func (s *screen) read() (text string, paintings int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.paint
}

func onScreen(columns int) (*screen, *progress) {
	s := &screen{}
	return s, &progress{w: s, columns: func() int { return columns }}
}

// The clock of these tests goes on only while everybody sleeps, and a test ends only when every goroutine has.

func TestABarTellsTheTimeLeftAndLeavesItsSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, progress := onScreen(100)
		step := progress.Step("scale 30: generate", 400, 0)
		time.Sleep(10 * time.Second)
		step.Add(100)
		text, paintings := s.read()
		if !strings.HasSuffix(text, "scale 30: generate [======                  ]  25%  30.0 s left") || paintings != 2 {
			t.Errorf("%d paintings: %q", paintings, text)
		}
		time.Sleep(repaint - 1)
		step.Add(100) // too soon to be painted again
		if _, n := s.read(); n != 2 {
			t.Errorf("%d paintings within %v", n, repaint)
		}
		progress.Note("look here")
		step.End("400 tuples", nil)
		text, _ = s.read()
		if !strings.Contains(text, eraseLine+"teps: look here\n") ||
			!strings.HasSuffix(text, eraseLine+"scale 30: generate: 400 tuples\n") {
			t.Errorf("%q", text)
		}
	})
}

// While an engine's clock runs, which is whenever the harness calls nothing, nothing is painted.
func TestNothingIsPaintedBetweenTheCallsOfTheHarness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, progress := onScreen(100)
		step := progress.Step("search", 64, 0)
		step.Add(1)
		stop := step.Watch("validate", func() (int64, int64) { return 1, 2 })
		stop()
		_, before := s.read()
		time.Sleep(3 * repaint)
		if _, after := s.read(); after != before {
			t.Errorf("%d paintings while nobody called", after-before)
		}
		step.End("64 roots", nil)
	})
}

func TestWhatIsWatchedMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, progress := onScreen(100)
		step := progress.Step("search", 64, 0)
		stop := step.Watch("validate", func() (int64, int64) { return 43, 100 })
		time.Sleep(3*repaint + 1)
		if _, n := s.read(); n != 1+3 {
			t.Errorf("%d paintings in %v", n, 3*repaint)
		}
		stop()
		step.End("", errors.New("x"))
		text, _ := s.read()
		if !strings.Contains(text, "validate 43%") || !strings.HasSuffix(text, eraseLine+"search: stopped\n") {
			t.Errorf("%q", text)
		}
	})
}

func TestAStepOfUnknownLengthShowsItsEstimateAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, progress := onScreen(100)
		step := progress.Step("scale 30: cpu: construct", 0, 90*time.Second)
		if text, _ := s.read(); !strings.HasSuffix(text, "scale 30: cpu: construct  - 0.1 s of about 1m30s") {
			t.Errorf("%q", text)
		}
		time.Sleep(80*time.Second + 1)
		if text, n := s.read(); !strings.HasSuffix(text, "scale 30: cpu: construct  - 1m20s of about 1m30s") || n != 1+80 {
			t.Errorf("%d paintings: %q", n, text)
		}
		step.End("80 s", nil)
	})
}

func TestALineKeepsToTheTerminal(t *testing.T) {
	for _, columns := range []int{1, 2, 20, 40, 80} {
		s, progress := onScreen(columns)
		step := progress.Step("scale 30: distributed:ranks=4096:partition=2d: search", 64, 0)
		step.End("", errors.New("x"))
		text, _ := s.read()
		painted := strings.Split(text, eraseLine)[1]
		if n := len([]rune(painted)); n >= max(columns, 2) {
			t.Errorf("%d columns of %d: %q", n, columns, painted)
		}
	}
}
