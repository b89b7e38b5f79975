package files

import (
	"math"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// pairs says how to parse lines of two vertices and maybe of values that do not matter: edge lists, MatrixMarket and
// DIMACS.
type pairs struct {
	comments string // the bytes that begin one
	word     byte   // in front of the vertices, or 0
	values   int64  // numbers after the vertices, besides as many as the state of a block says
	end      byte   // what follows it in a line is ignored; 0: nothing is
	first    uint64 // the number of vertex 0
	limit    uint64 // vertices below it become tuples as they are
	below    int64  // the second vertex is at most the first one plus below; anyOrder: no such limit
	// other returns the tuple of other vertices, or an error; start is that of the line.
	other func(b *block, start int, u, v uint64) (graph.Edge, error)
	// wrong returns the error of a line that has another form.
	wrong func(b *block, start int) error
}

const anyOrder = math.MaxInt64

// plain is parse for vertices.
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
