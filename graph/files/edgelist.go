package files

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// Edge lists: two labels a line, maybe followed by weights or times, or by a dictionary as networkx writes it. Lines
// that begin with # or % are comments. SNAP states in a comment whether the edges are directed.

func readEdgeList(in *input) error { return in.readList(0) }

func readWeightedList(in *input) error { return in.readList(3) }

// readList reads lines of a number of columns, at least 2, or 0 for as many as the first line has.
func (in *input) readList(columns int64) error {
	in.info.Symmetrised = !in.saysUndirected()
	var labels collected
	lines := pairs{comments: listComments, limit: firstLarge, below: anyOrder, end: '{', labels: &labels, wrong: listError,
		other: func(_ *block, _ int, u, v uint64) (graph.Edge, error) { return labels.edge(u, v), nil }}
	if in.known != nil {
		lines.limit = 0
		lines.other = func(b *block, start int, u, v uint64) (graph.Edge, error) {
			a, okA := in.known.vertex(u)
			z, okZ := in.known.vertex(v)
			if !okA || !okZ {
				return graph.Edge{}, b.atLine(start, "a vertex that the list of vertices does not have")
			}
			return graph.MakeEdge(a, z), nil
		}
	}
	if err := in.parallel(blocks{limit: -1, next: valuesOf(columns), parse: lines.parse}); err != nil {
		return err
	}
	if in.known != nil {
		in.info.Vertices, in.info.Labels = int64(len(in.known.labels)), in.known.labels
		return nil
	}
	return in.number(&labels)
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
