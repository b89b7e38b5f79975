package rpc

// What an engine prints and logs goes line by line to the host's log. Lines of log/slog (Serve sets it up) keep level,
// time and attributes; every other line becomes a message. The last lines are kept for the message of a crash.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	keptLines  = 20  // of the end of the output
	panicLines = 12  // of the beginning of a panic, which says more than the end of its stack traces
	keptBytes  = 300 // of one line
)

// output receives an engine's lines.
type output struct {
	logger *slog.Logger

	mu    sync.Mutex
	last  []string // ring of at most keptLines
	next  int      // where the ring's oldest line is, once it is full
	panic []string // lines from the first sign of a panic on
}

// lines reads r to its end.
func (o *output) lines(r io.Reader, source string) {
	reader := bufio.NewReaderSize(r, 64<<10)
	for {
		line, _, err := reader.ReadLine() // a longer line comes in parts
		if len(line) > 0 {
			o.line(line, source)
		}
		if err != nil {
			return
		}
	}
}

// line logs and keeps one line.
func (o *output) line(line []byte, source string) {
	if record, words, ok := parseRecord(line); ok {
		o.keep(words)
		if o.logger.Enabled(context.Background(), record.Level) {
			_ = o.logger.Handler().Handle(context.Background(), record) // a log that fails has nobody to tell
		}
		return
	}
	o.keep(string(line))
	o.logger.Info(string(line), "from", source)
}

// parseRecord reads a line that log/slog's JSON handler wrote; words is the line for a person.
func parseRecord(line []byte) (record slog.Record, words string, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"time":`)) {
		return record, "", false
	}
	var known struct {
		Time    time.Time  `json:"time"`
		Level   slog.Level `json:"level"`
		Message *string    `json:"msg"`
	}
	fields := map[string]any{}
	if json.Unmarshal(line, &known) != nil || known.Message == nil || json.Unmarshal(line, &fields) != nil {
		return record, "", false
	}
	record = slog.NewRecord(known.Time, known.Level, *known.Message, 0)
	words = fmt.Sprintf("%v %s", known.Level, *known.Message)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != slog.TimeKey && key != slog.LevelKey && key != slog.MessageKey {
			record.AddAttrs(slog.Any(key, fields[key]))
			words += fmt.Sprintf(" %s=%v", key, fields[key])
		}
	}
	return record, words, true
}

func (o *output) keep(line string) {
	if len(line) > keptBytes {
		line = line[:keptBytes] + "..."
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	starts := strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIG")
	if (starts || len(o.panic) > 0) && len(o.panic) < panicLines {
		o.panic = append(o.panic, line)
	}
	if len(o.last) < keptLines {
		o.last = append(o.last, line)
		return
	}
	o.last[o.next] = line
	o.next = (o.next + 1) % keptLines
}

// lastWords quotes the beginning of a panic, or else the last lines; empty if there were none.
func (o *output) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := o.panic
	if len(lines) == 0 {
		lines = slices.Concat(o.last[o.next:], o.last[:o.next])
	}
	if len(lines) == 0 {
		return "; it printed nothing"
	}
	if len(lines) == 1 {
		return "; its last words: " + lines[0]
	}
	return "; its last words:\n  | " + strings.Join(lines, "\n  | ")
}

// printed receives what an engine that does not use Serve prints, through go-plugin's stream.
type printed struct {
	output *output
	source string
}

func (p printed) Write(data []byte) (int, error) {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			p.output.line(line, p.source)
		}
	}
	return len(data), nil
}
