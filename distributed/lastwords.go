package distributed

import (
	"bytes"
	"strings"
	"sync"
)

// lastWords keeps the end of what mpirun and the ranks print as errors.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

const mostWords = 4096

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	return strings.Join(lines[max(0, len(lines)-12):], " ")
}
