// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// pairs says how to parse lines of two vertices and optional values, which are ignored: edge lists, MatrixMarket and
// DIMACS.
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

// edgeLines prepares to read lines of an edge list.
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

// listError returns the error of the line at i.
func listError(b *block, i int) error {
	switch n, columns := fields(b.data, i), b.state+2; {
	case columns >= 2 && n != columns:
		return b.atLine(i, fmt.Sprintf("want %d columns as in the lines before, found %d", columns, n))
	case columns <= 2:
		return b.atLine(i, "want two vertices, numbers from 0 to 2^64-1")
	}
	return b.atLine(i, fmt.Sprintf("want two vertices, from 0 to 2^64-1, and numbers in %d more columns", b.state))
}
