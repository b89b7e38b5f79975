package reports

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts that are shown, in runes.
const (
	nameRunes     = 40
	sentenceRunes = 400
)

// clean makes a text from outside fit for one line of a terminal, a drawing or a page: control characters (terminal
// escapes, line breaks), invisible and direction-changing characters and broken UTF-8 become a space each, runs of
// space become one, and what is longer than limit runes ends in an ellipsis. An empty text becomes the mark of what is
// missing.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return missing
	}
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + "…"
}

// shownName is the name of an engine, or one of its options, as it is shown: clean, and where it is long without its
// middle, because names of variants differ at their ends.
func shownName(s string) string { return ellipsis(clean(s, sentenceRunes), nameRunes) }

// safeFile makes a name fit for a part of a file name: letters, digits, dot and dash of ASCII, everything else a dash.
func safeFile(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, shownName(s))
	if s = strings.Trim(s, ".-"); s == "" {
		return "engine"
	}
	return s
}
