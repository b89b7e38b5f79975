// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// Missing is shown for a value that was not recorded or is not a number.
const Missing = units.Missing

// GTEPS formats a rate in tuples a second as GTEPS.
func GTEPS(teps float64) string { return units.Significant(teps/1e9, 4) }

// Measured is Duration for a time whose zero means that it was not measured.
func Measured(seconds float64) string {
	if seconds == 0 {
		return Missing
	}
	return units.Seconds(seconds)
}

// Positive is Integer for a number whose zero means that it is not known.
func Positive(n int) string {
	if n <= 0 {
		return Missing
	}
	return units.Integer(int64(n))
}

// Count is Integer for a number that an engine may not have counted.
func Count(c plugins.Count) string {
	n, known := c.Get()
	if !known {
		return Missing
	}
	return units.Integer(n)
}

// Optional formats a number that may be missing.
func Optional[T any](x *T, format func(T) string) string {
	if x == nil {
		return Missing
	}
	return format(*x)
}

// Plural is a number with its noun: 1 root, 64 roots.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Quotient formats a quotient of positive numbers with three digits.
func Quotient(a, b float64) string {
	if !(a > 0 && b > 0) {
		return Missing
	}
	return units.Significant(a/b, 3)
}

// Percentage formats a part of a whole.
func Percentage(part, whole float64) string {
	if whole <= 0 {
		return Missing
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}

// Superscript writes n in Unicode's superscript digits.
func Superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵",
		"6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}

// Limits on texts from outside, in runes.
const (
	NameLength     = 40
	SentenceLength = 400
)

// Clean makes a text from outside fit for one line. Control characters (terminal escapes, line breaks), invisible and
// direction-changing characters and broken UTF-8 become spaces, runs of spaces become one, and a text longer than limit
// runes ends in an ellipsis. Combining marks, whose width programs disagree about, are left out. An empty text becomes
// Missing.
func Clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsMark(r):
			return -1
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return Missing
	}
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + "…"
}

// Name cleans a name, Sentence a sentence.
func Name(s string) string     { return Clean(s, NameLength) }
func Sentence(s string) string { return Clean(s, SentenceLength) }

// EngineName cleans the name of an engine, of one of its options or of a meter. A long name loses its middle: the end
// tells variants, and hosts, apart.
func EngineName(s string) string { return Cut(Sentence(s), NameLength/3, NameLength) }

// Shorten cuts the texts that are wider than width columns, all at the same place, so that different texts stay
// different. It leaves out the names of options if the texts then fit, or if no single cut does. If that does not help,
// it cuts nothing.
func Shorten(width int, texts ...string) []string {
	plain := make([]string, len(texts))
	for i, s := range texts {
		plain[i] = optionName.ReplaceAllString(s, ":")
	}
	kinds := func(texts []string) int { return len(slices.Compact(slices.Sorted(slices.Values(texts)))) }
	wide := func(s string) bool { return text.StringWidth(s) > width }
	named := slices.Equal(plain, texts) || kinds(plain) < kinds(texts) // the names of options stay
	if !named && slices.ContainsFunc(texts, wide) && !slices.ContainsFunc(plain, wide) {
		return plain
	}
	for head := -1; head < width; head++ {
		short := make([]string, len(texts))
		for i, s := range texts {
			at := head
			if head < 0 {
				at = width / 3 // first, because variants differ at the end
			}
			short[i] = Cut(s, at, width)
		}
		if kinds(short) == kinds(texts) {
			return short
		}
	}
	if named {
		return texts
	}
	return Shorten(width, plain...)
}

// optionName matches the name of an option in the name of a variant, such as cpu:threads=2.
var optionName = regexp.MustCompile(`:[a-z0-9_-]+=`)

// Cut shortens a text that is wider than width columns; an ellipsis replaces what is behind the first head columns.
func Cut(s string, head, width int) string {
	if text.StringWidth(s) <= width {
		return s
	}
	runes := []rune(s)
	i, j, room := 0, len(runes), width-1
	for used := 0; used+text.RuneWidth(runes[i]) <= min(head, room); i++ {
		used += text.RuneWidth(runes[i])
	}
	for room -= text.StringWidth(string(runes[:i])); j > i && text.RuneWidth(runes[j-1]) <= room; j-- {
		room -= text.RuneWidth(runes[j-1])
	}
	return string(runes[:i]) + "…" + string(runes[j:])
}

// FileName makes a name usable in the name of a file: letters, digits, dots, dashes and underscores of ASCII.
func FileName(s string) string {
	s = regexp.MustCompile(`[^A-Za-z0-9._-]`).ReplaceAllString(EngineName(s), "-")
	if s = strings.Trim(s, ".-"); s == "" {
		return "engine"
	}
	return s
}

// Joined joins the parts that are known, or returns Missing if there are none.
func Joined(separator string, parts ...string) string {
	known := slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "" || part == Missing })
	if len(known) == 0 {
		return Missing
	}
	return strings.Join(known, separator)
}

// Unique returns the name; if it is taken, the name with the separator and the first free number of 2, 3, .... It takes
// the result.
func Unique(taken map[string]bool, name, separator string) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = name + separator + strconv.Itoa(n)
	}
	taken[out] = true
	return out
}
