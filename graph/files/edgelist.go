package files

import (
	"bytes"
	"fmt"
	"strings"
)

// Edge lists: two labels a line, maybe followed by weights or times, or by a dictionary as networkx writes it. Lines
// that begin with # or % are comments. SNAP states in a comment whether the edges are directed.

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

// valuesOf returns a function that gives each block the number of columns besides two, which the first line has.
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

// listError says what is wrong with the line at i.
func listError(b *block, i int) error {
	switch n, columns := fields(b.data, i), b.state+2; {
	case columns >= 2 && n != columns:
		return b.atLine(i, fmt.Sprintf("want %d columns as in the lines before, found %d", columns, n))
	case columns <= 2:
		return b.atLine(i, "want two vertices, numbers from 0 to 2^64-1")
	}
	return b.atLine(i, fmt.Sprintf("want two vertices, from 0 to 2^64-1, and numbers in %d more columns", b.state))
}
