// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// Lines are parsed in place, byte by byte: the fields of a line are separated by spaces and tabs, and a line may end in
// \r\n. A position is an index into the text of a block.

// blank reports whether c separates fields.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// skipBlanks returns the first position from i on that is not blank.
func skipBlanks(text []byte, i int) int {
	for i < len(text) && blank(text[i]) {
		i++
	}
	return i
}

// skipLine returns the position after the line that i is in.
func skipLine(text []byte, i int) int {
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text)
	}
	return i + n + 1
}

// number reads the decimal number at i, below 2^64. It returns the position after it, or i if there is none or if it
// does not end at a field separator.
func number(text []byte, i int) (n uint64, next int) {
	next = i
	if len(text)-i >= 8 {
		var digits int
		n, digits = leadingDigits(binary.LittleEndian.Uint64(text[i:]))
		next += digits
	}
	for ; next < len(text); next++ {
		digit := uint64(text[next] - '0')
		if digit > 9 {
			break
		}
		if next-i >= 19 { // 20 digits may overflow
			const max64 = 1<<64 - 1
			if n > max64/10 || n == max64/10 && digit > max64%10 {
				return 0, i
			}
		}
		n = n*10 + digit
	}
	if next < len(text) && !blank(text[next]) && text[next] != '\n' {
		return 0, i
	}
	return n, next
}

// leadingDigits returns the number that up to eight characters begin with, the first one in the low byte, and its
// number of digits. It converts all at once, because the end of a number is hard to predict (Lemire, "Number Parsing at
// a Gigabyte per Second", 2021, section 6).
func leadingDigits(characters uint64) (n uint64, digits int) {
	const each = 0x0101010101010101 // 1 in every byte
	d := characters ^ '0'*each
	// The lowest byte of other with its high bit set is the first that is not a digit: it is above 9.
	other := (d | (d&(0x7f*each) + (0x7f-9)*each)) & (0x80 * each)
	unused := 64 - bits.TrailingZeros64(other)&^7
	digits = 8 - unused/8
	d <<= unused    // zeros in front of the number
	d = d*10 + d>>8 // two digits in every second byte, and so on
	const pairs = 0x000000ff000000ff
	return ((d&pairs)*(100+1000000<<32) + (d>>16&pairs)*(1+10000<<32)) >> 32, digits
}

// value skips the number at i, such as -1.5e-3, inf or nan, and returns the position after it, or i if there is none.
func value(text []byte, i int) (next int) {
	next = i
	for next < len(text) && !blank(text[next]) && text[next] != '\n' {
		next++
	}
	if !isValue(unsigned(text[i:next])) {
		return i
	}
	return next
}

func isValue(field []byte) bool {
	n := digits(field)
	hasDigits := n > 0
	if n < len(field) && field[n] == '.' {
		fraction := digits(field[n+1:])
		n, hasDigits = n+1+fraction, hasDigits || fraction > 0
	}
	switch {
	case !hasDigits:
		return slices.Contains([]string{"inf", "infinity", "nan"}, strings.ToLower(string(field)))
	case n == len(field):
		return true
	case field[n]|' ' != 'e' && field[n]|' ' != 'd': // d as Fortran writes it
		return false
	}
	exponent := unsigned(field[n+1:])
	return len(exponent) > 0 && digits(exponent) == len(exponent)
}

// unsigned returns a number without its sign.
func unsigned(field []byte) []byte {
	if len(field) > 0 && (field[0] == '+' || field[0] == '-') {
		return field[1:]
	}
	return field
}

// digits returns the number of digits that text begins with.
func digits(text []byte) (n int) {
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

// atLine is an error about the line of the block that position i is in. The text of the line is quoted.
func (b *block) atLine(i int, reason string) error {
	line := b.line + 1 + int64(bytes.Count(b.data[:i], newline))
	start := bytes.LastIndexByte(b.data[:i], '\n') + 1
	text, _, _ := bytes.Cut(b.data[start:], newline)
	text = bytes.TrimRight(text, "\r")
	const columns = 60
	if len(text) > columns {
		return atLine(line, "%s: %q...", reason, text[:columns])
	}
	return atLine(line, "%s: %q", reason, text)
}

// fields returns the number of fields of the line that begins at i, not counting those of a dictionary.
func fields(text []byte, i int) int64 {
	line, _, _ := bytes.Cut(text[i:], newline)
	line, _, _ = bytes.Cut(line, []byte("{"))
	return int64(len(bytes.FieldsFunc(line, func(r rune) bool { return r < 128 && blank(byte(r)) })))
}
