package child

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Lines is a writer that splits what is written into lines.
type Lines struct {
	line func(line []byte)

	mu      sync.Mutex
	partial []byte // of the last line
}

// NewLines returns a Lines that calls line for each line that is not empty, without its end. The slice is valid only
// during the call.
func NewLines(line func(line []byte)) *Lines { return &Lines{line: line} }

// maxLine is the number of bytes after which a line is split.
const maxLine = 64 << 10

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

// A Tail keeps the end of a program's output. If a line begins like a Go panic or like one of the given reasons, it
// keeps that line and those after it instead: they say more than the end of a stack trace. It can be an exec.Cmd's
// Stderr.
type Tail struct {
	*Lines
	reasons []string

	mu    sync.Mutex
	found bool     // a reason
	lines []string // the last ones, or from the first reason on; at most tailLines
}

// NewTail returns an empty Tail. The reasons are beginnings of lines.
func NewTail(reasons ...string) *Tail {
	t := &Tail{reasons: append(reasons, "panic: ", "fatal error: ", "SIG")}
	t.Lines = NewLines(func(line []byte) { t.Add(string(line)) })
	return t
}

// Add adds one line.
func (t *Tail) Add(line string) {
	if strings.Trim(line, "-= \t") == "" {
		return // a blank line or a ruler
	}
	if len(line) > tailBytes {
		line = line[:tailBytes] + "..."
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.found && slices.ContainsFunc(t.reasons, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
		t.found, t.lines = true, nil
	}
	switch {
	case len(t.lines) < tailLines:
		t.lines = append(t.lines, line)
	case !t.found:
		t.lines = append(t.lines[1:], line)
	}
}

// Text returns the lines that were kept.
func (t *Tail) Text() []string {
	t.Flush()
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}

// String returns Text for the end of an error message.
func (t *Tail) String() string {
	switch lines := t.Text(); len(lines) {
	case 0:
		return "it printed nothing"
	case 1:
		return "its last output: " + lines[0]
	default:
		return "its last output:\n  | " + strings.Join(lines, "\n  | ")
	}
}
