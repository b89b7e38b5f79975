package child

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestLinesAreSplitWhereverWritesEnd(t *testing.T) {
	var got []string
	l := NewLines(func(line []byte) { got = append(got, string(line)) })
	for _, part := range []string{"one\ntw", "o\r\n\nthree", ", still three"} {
		if n, err := io.WriteString(l, part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	l.Flush()
	if want := "one|two|three, still three"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %s", got, want)
	}
	got = nil
	fmt.Fprint(l, strings.Repeat("x", maxLine+1))
	if len(got) != 1 {
		t.Errorf("an endless line was kept: %d lines", len(got))
	}
}

func tailOf(reasons []string, lines ...string) string {
	t := NewTail(reasons...)
	fmt.Fprint(t, strings.Join(lines, "\n"))
	return t.String()
}

func numbered(text string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprint(text, i))
	}
	return lines
}

func TestTail(t *testing.T) {
	last := strings.Join(numbered("line ", 50)[50-tailLines:], "\n  | ")
	begin := "its last output:\n  | "
	xs, many := strings.Repeat("x", 1000), numbered("line ", 100)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"no output":             {nil, "it printed nothing"},
		"one line":              {[]string{"bye"}, "its last output: bye"},
		"the last lines":        {numbered("line ", 50), begin + last},
		"blank lines, rulers":   {[]string{"", "-----", "a", " == ", "b"}, begin + "a\n  | b"},
		"a long line":           {[]string{xs}, "its last output: " + xs[:tailBytes] + "..."},
		"a panic and its trace": {append([]string{"before", "panic: why"}, many...), "its last output: panic: why"},
		"a Python traceback": {
			[]string{"Traceback (most recent call last):", "  File \"engine\", line 1", "    f()", "ValueError: why"},
			"its last output: ValueError: why",
		},
		"an indented name": {[]string{"no such file:", "    hosts.txt"}, begin + "no such file:\n  | hosts.txt"},
		"a Go trace":       {[]string{"created by main.main", "\tmain.go:5 +0x25"}, "its last output: created by main.main"},
		"a given reason":   {append([]string{"ssh: no host"}, many...), "its last output: ssh: no host"},
	} {
		if got := tailOf([]string{"ssh: "}, c.lines...); !strings.HasPrefix(got, c.want) || strings.Contains(got, "line 99") {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
