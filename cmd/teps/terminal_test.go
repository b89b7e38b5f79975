// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tepsbench/teps/internal/must"
)

// screen is a terminal of one line.
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

// The clock of these tests advances only while all goroutines sleep, and a test ends after all goroutines.

func TestABarTellsTheTimeLeftAndLeavesItsSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, progress := onScreen(100)
		step := progress.Step("a\x1b[2J30: generate", 400)
		time.Sleep(10 * time.Second)
		step.Add(100)
		text, paintings := s.read()
		if !strings.HasSuffix(text, "a\ufffd[2J30: generate [======                  ]  25%  30s left") || paintings != 2 {
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
			!strings.HasSuffix(text, eraseLine+"a\ufffd[2J30: generate: 400 tuples\n") {
			t.Errorf("%q", text)
		}
	})
}

// Nothing is painted while an engine is timed, that is, between calls of the harness. Only kernel 1, whose length is
// not known, is painted by a timer.
func TestOnlyStepsOfUnknownLengthArePaintedByATimer(t *testing.T) {
	for total, want := range map[int64][2]string{
		64: {"]   1%  12s left", "]   1%  12s left"}, 0: {"search … 0s", "search … 6s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, progress := onScreen(100)
			step := progress.Step("search", total)
			time.Sleep(repaint)
			step.Add(1)
			before, _ := s.read()
			time.Sleep(6 * time.Second)
			synctest.Wait()
			if after, _ := s.read(); !strings.HasSuffix(before, want[0]) || !strings.HasSuffix(after, want[1]) {
				t.Errorf("painted %q, then %q", before, after)
			}
			step.End("", errors.New("x"))
			time.Sleep(2 * time.Second)
			if after, _ := s.read(); !strings.HasSuffix(after, eraseLine+"search: stopped\n") {
				t.Errorf("%q", after)
			}
		})
	}
}

// The time of the whole run is shown as an estimate, goes on by itself, and leaves the line within the terminal.
func TestALineShowsAboutHowLongTheRunTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			left time.Duration
			want string
		}{
			{5 * time.Minute, "[===      ]  33%  20s left, about 5 min in all"},
			{62 * time.Second, "[===       ]  33%  20s left, about 50 s in all"},
			{20 * time.Second, "[========                ]  33%  20s left"}, // that of the step
			{0, "[========                ]  33%  20s left"},                // unknown
			{3 * time.Hour, "[===        ]  33%  20s left, about 3 h in all"},
		} {
			s, progress := onScreen(80)
			progress.Left(c.left)
			step := progress.Step("scale 18: distributed-2d: search", 6)
			time.Sleep(10 * time.Second)
			step.Add(2)
			text, _ := s.read()
			must.Equal(t, text[strings.LastIndex(text, "["):], c.want, c.left)
			step.End("", nil)
		}
		s, progress := onScreen(80)
		progress.Left(time.Minute)
		progress.Step("scale 18: cpu: construct", 0)
		if text, _ := s.read(); !strings.HasSuffix(text, "cpu: construct … 0s, about 60 s left in all") {
			t.Errorf("%q", text)
		}
		progress.End("", nil)

		// The bar gives way to the times: they are not cut.
		for name, want := range map[string]string{
			"2d": "2d: search [==     ]  37%  2m30s left, about 4 min in all", "2d, long": "37%  2m30s left, about 4 min in all",
		} {
			progress.Left(5 * time.Minute)
			step := progress.Step("scale 20: distributed-"+name+": search", 64)
			time.Sleep(90 * time.Second)
			step.Add(24)
			if text, _ := s.read(); !strings.HasSuffix(text, want) {
				t.Errorf("%q", text)
			}
			step.End("", nil)
		}
	})
}

func TestALineKeepsToTheTerminal(t *testing.T) {
	for _, columns := range []int{1, 2, 20, 40, 80} {
		s, progress := onScreen(columns)
		step := progress.Step("scale 30: distributed:ranks=4096:partition=2d: search", 64)
		step.End("", errors.New("x"))
		text, _ := s.read()
		painted := strings.Split(text, eraseLine)[1]
		if n := len([]rune(painted)); n >= max(columns, 2) {
			t.Errorf("%d columns of %d: %q", n, columns, painted)
		}
	}
}
