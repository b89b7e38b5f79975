// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// Lines are parsed in place, byte by byte: the fields of a line are separated by spaces and tabs, and a line may end in
// \r\n. A position is an index into the text of a block.

// blank reports whether c separates fields.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func skipBlanks(text []byte, i int) int {
	for i < len(text) && blank(text[i]) {
		i++
	}
	return i
}

func skipLine(text []byte, i int) int {
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text)
	}
	return i + n + 1
}

// number reads the decimal number at i, below 2^64, which ends at a field separator. It returns the position after it,
// or i.
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
// number of digits, without branches (Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 6).
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

func unsigned(field []byte) []byte {
	if len(field) > 0 && (field[0] == '+' || field[0] == '-') {
		return field[1:]
	}
	return field
}

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

// pairs says how to parse lines of two vertices and optional values, which are ignored.
type pairs struct {
	comments string // first bytes of a comment
	word     byte   // in front of the vertices, or 0
	values   int64  // numbers after the vertices, in addition to block.state
	end      byte   // the rest of the line after it is ignored; 0: nothing is
	first    uint64 // the number of vertex 0
	limit    uint64 // vertices below it need no call of other
	below    int64  // the second vertex is at most the first one plus below; anyOrder: no such limit
	// other returns the tuple of vertices from limit on, or an error. The line begins at start.
	other func(b *block, start int, u, v uint64) (graph.Edge, error)
	// wrong returns the error of a malformed line.
	wrong func(b *block, start int) error
}

const anyOrder = math.MaxInt64

// plain is parse for a format whose labels are vertices.
func (p *pairs) plain(b *block, edges []graph.Edge) ([]graph.Edge, error) {
	return p.parse(b, edges, nil)
}

// parse appends the tuples of a block to edges. The labels are vertices, unless seen collects them.
func (p *pairs) parse(b *block, edges []graph.Edge, seen *seen) ([]graph.Edge, error) {
	values := p.values + b.state
	text := b.data
	for i := 0; i < len(text); {
		start := i
		if i = skipBlanks(text, i); i == len(text) {
			break
		}
		if c := text[i]; c-'0' > 9 || p.word != 0 {
			switch {
			case c == '\n':
				i++
				continue
			case strings.IndexByte(p.comments, c) >= 0:
				i = skipLine(text, i)
				continue
			case p.word == 0 || c != p.word:
				return edges, p.wrong(b, start)
			}
			i = skipBlanks(text, i+1)
		}
		u, next := number(text, i)
		if next == i {
			return edges, p.wrong(b, start)
		}
		i = skipBlanks(text, next)
		v, next := number(text, i)
		if next == i {
			return edges, p.wrong(b, start)
		}
		i = next
		for range values {
			i = skipBlanks(text, i)
			if next = value(text, i); next == i {
				return edges, p.wrong(b, start)
			}
			i = next
		}
		if i = skipBlanks(text, i); i < len(text) && text[i] != '\n' {
			if text[i] != p.end || p.end == 0 {
				return edges, p.wrong(b, start)
			}
			i = skipLine(text, i) - 1
		}
		i++
		u, v = u-p.first, v-p.first // 0 less 1 is beyond any limit
		if seen != nil {
			edges = append(edges, seen.edge(u, v))
			continue
		}
		if max(u, v) >= p.limit || p.below != anyOrder && int64(v) > int64(u)+p.below {
			e, err := p.other(b, start, u, v)
			if err != nil {
				return edges, err
			}
			edges = append(edges, e)
			continue
		}
		edges = append(edges, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v)))
	}
	return edges, nil
}

// Edge lists: two labels per line, optionally followed by weights or times, or by a dictionary as networkx writes it.
// Lines that begin with # or % are comments. SNAP states in a comment whether the edges are directed.

func readEdgeList(in *input) error { return in.readList(0) }

func readWeightedList(in *input) error { return in.readList(3) }

// readList reads lines of a number of columns, at least 2, or 0 for as many as the first line has.
func (in *input) readList(columns int64) error {
	lines := pairs{}
	return in.labeled(in.edgeLines(columns, &lines), lines.parse)
}

func (in *input) edgeLines(columns int64, lines *pairs) blocks {
	in.info.Symmetrized = !in.saysUndirected()
	lines.comments, lines.below, lines.end, lines.wrong = listComments, anyOrder, '{', listError
	return blocks{limit: -1, next: valuesOf(columns)}
}

// saysUndirected reports whether a comment at the beginning says that the edges are undirected, as SNAP does.
func (in *input) saysUndirected() bool {
	head, _ := in.r.Peek(4 << 10)
	for len(head) > 0 && (head[0] == '#' || head[0] == '%') {
		line, rest, _ := bytes.Cut(head, newline)
		if strings.Contains(strings.ToLower(string(line)), "undirected") {
			return true
		}
		head = rest
	}
	return false
}

const listComments = "#%"

// valuesOf returns a function that returns the number of columns after the first two, as in the first line.
func valuesOf(columns int64) func(b *block) int64 {
	return func(b *block) int64 {
		for i := 0; columns == 0 && i < len(b.data); i = skipLine(b.data, i) {
			at := skipBlanks(b.data, i)
			if at < len(b.data) && b.data[at] != '\n' && strings.IndexByte(listComments, b.data[at]) < 0 {
				columns = max(1, fields(b.data, i))
			}
		}
		return columns - 2
	}
}

func listError(b *block, i int) error {
	switch n, columns := fields(b.data, i), b.state+2; {
	case columns >= 2 && n != columns:
		return b.atLine(i, fmt.Sprintf("want %d columns as in the lines before, found %d", columns, n))
	case columns <= 2:
		return b.atLine(i, "want two vertices, numbers from 0 to 2^64-1")
	}
	return b.atLine(i, fmt.Sprintf("want two vertices, from 0 to 2^64-1, and numbers in %d more columns", b.state))
}
