// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// Lines are parsed in place, byte by byte: the fields of a line are separated by spaces and tabs, those of an edge list
// also by commas, and a line may end in \r\n. A position is an index into the text of a block.

// blank reports whether c separates fields. A block has \r only in front of \n.
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

// number reads the decimal number at i, below 2^64, which ends at a blank, a comma or a newline. It returns the
// position after it, or i.
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
	if next < len(text) && !blank(text[next]) && text[next] != '\n' && text[next] != ',' {
		return 0, i
	}
	return n, next
}

// leadingDigits returns the number that up to eight characters begin with, the first one in the low byte, and the
// number of its digits, without branches (Lemire, "Number Parsing at a Gigabyte per Second", 2021, section 6).
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

// value skips the number at i, such as -1.5e-3, inf, nan or Fortran's 1d0, and returns the position after it, or i if
// there is none.
func value(text []byte, i int) (next int) {
	for next = i; next < len(text) && !blank(text[next]) && text[next] != '\n'; next++ {
	}
	if _, end := number(text, i); end == next {
		return next
	}
	if _, err := strconv.ParseFloat(inC(text[i:next]), 64); errors.Is(err, strconv.ErrSyntax) {
		return i
	}
	return next
}

// inC returns a number of Fortran, such as 1d0, as C writes it. What only Go takes for a number, 1_0 or 0x1p4, is none.
func inC(field []byte) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case 'd', 'D':
			return 'e'
		case '_', 'x', 'X':
			return '?'
		}
		return c
	}, string(field))
}

// weight returns a number that is a weight.
func weight(field []byte) (w float32, ok bool) {
	x, err := strconv.ParseFloat(inC(field), 32)
	return float32(x), err == nil && x >= 0 && x <= graph.MaxWeight
}

// readsWeights makes lines with one value keep it, if weights are wanted.
func (in *input) readsWeights(p *pairs) {
	p.weights = in.wantWeights && p.values == 1
	in.weighted = p.weights
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

// loneCR returns the position of the first carriage return that is not in front of a newline, or -1. The last byte may
// be one.
func loneCR(text []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '\r')
		if i += n; n < 0 || i == len(text)-1 {
			return -1
		}
		if text[i+1] != '\n' {
			return i
		}
	}
}

func errCR(line int64) error {
	return atLine(line, "a carriage return (CR) within a line: convert the ends of the lines to LF, "+
		`with tr '\r' '\n' for example`)
}

// pairs says how to parse lines of two vertices and optional values, which are ignored.
type pairs struct {
	comments string // first characters of a comment
	word     byte   // in front of the vertices, or 0
	values   int    // numbers after the vertices
	weights  bool   // the one value is a weight, and wanted
	list     bool   // an edge list: commas separate, too, and the rest of the line is ignored
	left     uint64 // a bipartite graph: the labels of the first column, which those of the second follow, or 0
	loopless bool   // other makes the tuples with two equal vertices
	first    uint64 // the number of vertex 0
	limit    uint64 // vertices below it need no call of other
	// other returns the tuple of vertices from limit on, or an error. The line begins at start.
	other func(b *block, start int, u, v uint64) (graph.Edge, error)
	// wrong returns the error for a malformed line.
	wrong func(b *block, start int) error
}

// skipSeparator skips the separator of two fields.
func (p *pairs) skipSeparator(text []byte, i int) int {
	if i = skipBlanks(text, i); p.list && i < len(text) && text[i] == ',' {
		return skipBlanks(text, i+1)
	}
	return i
}

// plain is parse for a format whose labels are vertices.
func (p *pairs) plain(b *block, edges []graph.Edge) ([]graph.Edge, error) {
	return p.parse(b, edges, nil)
}

// parse appends the tuples of a block to edges. The labels are vertices, unless seen collects them.
func (p *pairs) parse(b *block, edges []graph.Edge, seen *seen) ([]graph.Edge, error) {
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
		i = p.skipSeparator(text, next)
		v, next := number(text, i)
		if next == i {
			return edges, p.wrong(b, start)
		}
		i = next
		for range p.values {
			i = p.skipSeparator(text, i)
			if next = value(text, i); next == i {
				return edges, p.wrong(b, start)
			}
			if p.weights {
				w, ok := weight(text[i:next])
				if !ok {
					return edges, b.atLine(start, "want a weight from 0 to 2^64; kernel bfs ignores it")
				}
				b.weight = append(b.weight, w)
			}
			i = next
		}
		if i = skipBlanks(text, i); i < len(text) && text[i] != '\n' {
			if !p.list {
				return edges, p.wrong(b, start)
			}
			i = skipLine(text, i) - 1
		}
		i++
		u, v = u-p.first, v-p.first // 0 less 1 is beyond any limit
		if p.left > 0 {
			if u-1 >= p.left || v-1 >= 1<<64-1-p.left {
				return edges, b.atLine(start, "want labels from 1, in the first column to "+strconv.FormatUint(p.left, 10))
			}
			v += p.left
		}
		if seen != nil {
			edges = append(edges, seen.edge(u, v))
			continue
		}
		if max(u, v) >= p.limit || p.loopless && u == v {
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

// Edge lists: two labels per line, and anything after them, such as weights, times, words, or a dictionary as networkx
// writes it. Lines that begin with # or % are comments. SNAP states in one whether the edges are directed, and KONECT,
// whose first comments are "% sym|asym|bip WEIGHTS" and "% EDGES LEFT RIGHT". Both columns of bip are numbered from 1.

func readEdgeList(in *input) error {
	lines := in.edgeLines()
	comments, _ := in.beginning()
	first, rest, _ := bytes.Cut(comments, newline)
	second, _, _ := bytes.Cut(rest, newline)
	if kind := strings.Fields(string(first)); len(kind) > 1 && kind[0] == "%" && (kind[1] == "sym" || kind[1] == "bip") {
		in.info.Symmetrized = false
		if sizes := strings.Fields(string(second)); kind[1] == "bip" {
			if len(sizes) > 3 && sizes[0] == "%" {
				lines.left, _ = strconv.ParseUint(sizes[2], 10, 48)
			}
			if lines.left == 0 {
				return atLine(1, `a bipartite graph, both of whose columns are numbered from 1: insert a line `+
					`"%% EDGES LEFT RIGHT" after it, with its sizes`)
			}
		}
	}
	return in.labeled(blocks{limit: -1}, lines.parse)
}

// readWeightedList reads lines of exactly three columns.
func readWeightedList(in *input) error {
	lines := in.edgeLines()
	in.readWeighted(lines)
	return in.labeled(blocks{limit: -1}, lines.parse)
}

func (in *input) readWeighted(lines *pairs) {
	lines.list, lines.values = false, 1
	in.readsWeights(lines)
	lines.wrong = func(b *block, start int) error {
		return b.atLine(start, "want two vertices, numbers from 0 to 2^64-1, and a weight")
	}
}

func (in *input) edgeLines() *pairs {
	comments, _ := in.beginning() // of SNAP
	in.info.Symmetrized = !bytes.Contains(bytes.ToLower(comments), []byte("undirected"))
	return &pairs{comments: listComments, list: true, wrong: func(b *block, start int) error {
		return b.atLine(start, "want two vertices, numbers from 0 to 2^64-1")
	}}
}

// beginning returns the comments that begin an edge list, and its first line.
func (in *input) beginning() (comments, first []byte) {
	head, _ := in.r.Peek(detectBytes)
	for line := range bytes.Lines(head) {
		if !skipped(line, listComments) {
			return comments, line
		}
		comments = head[:len(comments)+len(line)]
	}
	return comments, nil
}

// skipped reports whether a line is blank or a comment.
func skipped(line []byte, comments string) bool {
	line = bytes.TrimLeft(line, " \t\r\n")
	return len(line) == 0 || strings.IndexByte(comments, line[0]) >= 0
}

const listComments = "#%"
