package files

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// Edge lists: two labels a line, maybe followed by weights or times. Lines that begin with # or % are comments. SNAP
// states in a comment whether the edges are directed.

func readEdgeList(in *input) error { return in.readList(0) }

func readWeightedList(in *input) error { return in.readList(3) }

// readList reads lines of a number of columns, at least 2, or 0 for as many as the first line has.
func (in *input) readList(columns int64) error {
	in.info.Symmetrised = !in.saysUndirected()
	if in.known != nil {
		in.info.Vertices, in.info.Labels = int64(len(in.known.labels)), in.known.labels
		p := listParser{known: in.known}
		return in.parallel(blocks{limit: -1, next: columnsOf(columns), parse: p.parse, emit: in.emit})
	}
	p := listParser{collected: newCollected(in.threads)}
	err := in.parallel(blocks{limit: -1, next: columnsOf(columns), parse: p.parse, emit: p.collected.add})
	if err != nil {
		return err
	}
	return in.emitCollected(p.collected)
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

// columnsOf returns a function that gives each block the number of columns, which the first line has.
func columnsOf(columns int64) func(b *block) (int64, error) {
	return func(b *block) (int64, error) {
		for i := 0; columns == 0 && i < len(b.data); i = skipLine(b.data, i) {
			if c := b.data[i]; c != '#' && c != '%' {
				columns = fields(b.data, i)
			}
		}
		return columns, nil
	}
}

// listParser parses lines, with labels that are known, or that it collects.
type listParser struct {
	known     *numbering
	collected *collected
}

func (p *listParser) parse(thread int, b *block, edges []graph.Edge) ([]graph.Edge, error) {
	text, columns := b.data, b.state
	var limit uint64
	for i := 0; i < len(text); {
		start := i
		if c := text[i]; c == '#' || c == '%' {
			i = skipLine(text, i)
			continue
		}
		if i = skipBlanks(text, i); i == len(text) {
			break
		}
		if text[i] == '\n' {
			i++
			continue
		}
		u, next := number(text, i)
		if next == i {
			return edges, b.listError(i, columns)
		}
		i = skipBlanks(text, next)
		v, next := number(text, i)
		if next == i {
			return edges, b.listError(start, columns)
		}
		i = next
		for range columns - 2 {
			i = skipBlanks(text, i)
			if next = value(text, i); next == i {
				return edges, b.listError(start, columns)
			}
			i = next
		}
		if i = skipBlanks(text, i); i < len(text) {
			if text[i] != '\n' {
				return edges, b.listError(start, columns)
			}
			i++
		}
		switch {
		case p.known != nil:
			a, okA := p.known.vertex(u)
			z, okZ := p.known.vertex(v)
			if !okA || !okZ {
				return edges, b.atLine(start, "a vertex that the list of vertices does not have")
			}
			edges = append(edges, graph.MakeEdge(a, z))
		case max(u, v) < firstLarge:
			limit = max(limit, u+1, v+1)
			edges = append(edges, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v)))
		default:
			edges = append(edges, p.collected.edge(u, v))
		}
	}
	if p.collected != nil {
		p.collected.threads[thread].limit = max(p.collected.threads[thread].limit, limit)
	}
	return edges, nil
}

// listError says what is wrong with the line at i.
func (b *block) listError(i int, columns int64) error {
	switch n := fields(b.data, bytes.LastIndexByte(b.data[:i], '\n')+1); {
	case columns < 2:
		return b.atLine(i, "want two vertices, numbers from 0 to 2^64-1")
	case n != columns:
		return b.atLine(i, fmt.Sprintf("want %d columns as in the lines before, found %d", columns, n))
	case columns == 2:
		return b.atLine(i, "want two vertices, numbers from 0 to 2^64-1")
	}
	return b.atLine(i, fmt.Sprintf("want two vertices, from 0 to 2^64-1, and numbers in %d more columns", columns-2))
}
