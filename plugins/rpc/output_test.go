package rpc

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
)

func wordsAfter(lines ...string) string {
	o := &output{logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	o.lines(strings.NewReader(strings.Join(lines, "\n")), "stderr")
	return o.lastWords()
}

func TestLastWordsAreTheLastLinesInOrder(t *testing.T) {
	var lines, want []string
	for i := range 50 {
		lines = append(lines, fmt.Sprint("line ", i))
		if i >= 50-keptLines {
			want = append(want, fmt.Sprint("  | line ", i))
		}
	}
	if got := wordsAfter(lines...); got != "; its last words:\n"+strings.Join(want, "\n") {
		t.Errorf("got %s", got)
	}
}

func TestLastWordsOfAPanicAreItsBeginning(t *testing.T) {
	lines := []string{"before", "panic: the cause", ""}
	for i := range 100 {
		lines = append(lines, fmt.Sprint("frame ", i))
	}
	got := wordsAfter(lines...)
	if !strings.HasPrefix(got, "; its last words:\n  | panic: the cause\n  | frame 0\n") || strings.Contains(got, "frame 50") {
		t.Errorf("got %s", got)
	}
}

func TestLastWordsOfASilentEngine(t *testing.T) {
	if got := wordsAfter(); got != "; it printed nothing" {
		t.Errorf("got %s", got)
	}
}

func TestLastWordsShowLogLinesAsAPersonReadsThem(t *testing.T) {
	got := wordsAfter(`{"time":"2026-01-02T03:04:05Z","level":"ERROR","msg":"no device","driver":"none","tries":3}`, `{"time":`, strings.Repeat("x", 1000))
	want := "; its last words:\n  | ERROR no device driver=none tries=3\n  | {\"time\":\n  | " + strings.Repeat("x", keptBytes) + "..."
	if got != want {
		t.Errorf("got %s", got)
	}
}
