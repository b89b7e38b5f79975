package distributed

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// lastWords keeps the end of what mpirun and the ranks print as errors, and the first reason that a rank of ours or ssh gave
// for its end: a long trace, or mpirun's guesses, come behind that.
type lastWords struct {
	mu     sync.Mutex
	text   []byte
	line   []byte // the one that is being written, as far as it matters
	reason string
}

const (
	mostWords = 4096
	mostLine  = 512
)

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for part := range bytes.Lines(p) {
		l.line = append(l.line, part[:min(len(part), max(mostLine-len(l.line), 0))]...)
		if part[len(part)-1] != '\n' {
			break // the rest of it comes later
		}
		text := string(bytes.TrimSpace(l.line))
		if l.reason == "" && givesReason(text) {
			l.reason = text
		}
		l.line = l.line[:0]
	}
	l.text = append(l.text, p...)
	if extra := len(l.text) - mostWords; extra > 0 {
		l.text = append([]byte{}, l.text[extra:]...)
	}
	return len(p), nil
}

// String is the words on one line, without the rulers and blank lines that mpirun draws around them.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for line := range bytes.Lines(l.text) {
		text := strings.TrimSpace(string(line))
		if strings.Trim(text, "-= ") != "" {
			lines = append(lines, text)
		}
	}
	if len(lines) == 0 {
		return "it said nothing"
	}
	lines = lines[max(0, len(lines)-12):]
	if l.reason != "" && !slices.Contains(lines, l.reason) {
		lines = append([]string{l.reason, "..."}, lines...)
	}
	return strings.Join(lines, " ")
}

// givesReason says whether a line is why a rank, or the way to a host, came to its end.
func givesReason(line string) bool {
	for _, begin := range []string{"panic: ", "fatal error: ", "ssh: ", "Host key verification failed"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
