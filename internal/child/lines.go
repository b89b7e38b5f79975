// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Lines is a writer that splits its input into lines.
type Lines struct {
	line func(line []byte)

	mu      sync.Mutex
	partial []byte // of the last line
}

// NewLines returns a Lines that calls line for each line that is not empty, without its end. The slice is then reused.
func NewLines(line func(line []byte)) *Lines { return &Lines{line: line} }

const maxLine = 64 << 10 // bytes after which a line is split

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for part := range bytes.Lines(p) {
		l.partial = append(l.partial, part...)
		if part[len(part)-1] == '\n' || len(l.partial) >= maxLine {
			l.emit()
		}
	}
	return len(p), nil
}

// Flush passes on a last line that has no end.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.emit()
}

func (l *Lines) emit() {
	if line := bytes.TrimRight(l.partial, "\r\n"); len(line) > 0 {
		l.line(line)
	}
	l.partial = l.partial[:0]
}

const (
	tailLines = 20  // kept of the output's end
	tailBytes = 300 // kept of one line
)

// A Tail keeps the end of a program's output, without stack traces, for error messages. A line that begins like a Go
// panic or like one of the given reasons is kept instead.
type Tail struct {
	*Lines
	reasons []string
	reason  chan struct{}

	mu    sync.Mutex
	found bool     // lines is a reason
	trace bool     // the line before was one of a Python traceback
	lines []string // at most tailLines
}

// NewTail returns an empty Tail. The reasons are beginnings of lines.
func NewTail(reasons ...string) *Tail {
	t := &Tail{reasons: append(reasons, "panic: ", "fatal error: ", "SIG"), reason: make(chan struct{})}
	t.Lines = NewLines(func(line []byte) { t.Add(string(line)) })
	return t
}

// Add adds one line.
func (t *Tail) Add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimLeft(line, " ")
	t.trace = strings.HasPrefix(line, "Traceback (") || t.trace && text != line
	if t.trace || strings.Trim(line, "-= \t") == "" || line[0] == '\t' || text != line && text[0] == '#' {
		return // a blank line, a ruler, or a part of a stack trace: of Python, Go or a sanitizer
	}
	if line = text; len(line) > tailBytes {
		line = line[:tailBytes] + "..."
	}
	switch {
	case t.found:
	case slices.ContainsFunc(t.reasons, func(begin string) bool { return strings.HasPrefix(line, begin) }):
		t.found, t.lines = true, []string{line}
		close(t.reason)
	case len(t.lines) == tailLines:
		t.lines = append(t.lines[1:], line)
	default:
		t.lines = append(t.lines, line)
	}
}

// Reason is closed when the program has printed a reason.
func (t *Tail) Reason() <-chan struct{} { return t.reason }

// String returns the kept lines, for the end of an error message.
func (t *Tail) String() string {
	t.Flush()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch len(t.lines) {
	case 0:
		return "it printed nothing"
	case 1:
		return "its last output: " + t.lines[0]
	default:
		return "its last output:\n  | " + strings.Join(t.lines, "\n  | ")
	}
}
