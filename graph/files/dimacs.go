package files

import (
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// readDIMACS reads the formats of the ninth DIMACS challenge (p sp, arcs "a U V WEIGHT") and of graph colouring (p edge
// or p col, edges "e U V"). Vertices count from 1. An arc is a tuple, also if the opposite arc is there.
func readDIMACS(in *input) error {
	header, err := in.headerLine('c')
	if err != nil {
		return err
	}
	words := strings.Fields(string(header))
	if len(words) != 4 || words[0] != "p" {
		return atLine(in.line, "want a line such as p sp VERTICES ARCS: %q", truncate(header))
	}
	kind, columns := byte('e'), 0
	switch words[1] {
	case "sp":
		kind, columns = 'a', 1
		in.info.Symmetrised = true
	case "edge", "col":
	default:
		return atLine(in.line, "want p sp, p edge or p col: %q", truncate(header))
	}
	sizes, ok := parseInts([]byte(words[2]+" "+words[3]), 2)
	if !ok || sizes[0] > int64(graph.MaxVertex)+1 {
		return atLine(in.line, "want a line such as p sp VERTICES ARCS: %q", truncate(header))
	}
	n := sizes[0]
	in.info.Vertices, in.info.FirstLabel = n, 1
	form := map[byte]string{'a': "a U V WEIGHT", 'e': "e U V"}[kind]

	parse := func(_ int, b *block, edges []graph.Edge) ([]graph.Edge, error) {
		text := b.data
		for i := 0; i < len(text); {
			start := i
			if i = skipBlanks(text, i); i == len(text) {
				break
			}
			switch c := text[i]; {
			case c == '\n':
				i++
				continue
			case c == 'c', c == 'n' && kind == 'e': // a comment, the weight of a vertex
				i = skipLine(text, i)
				continue
			case c != kind:
				return edges, b.atLine(start, "want "+form)
			}
			i = skipBlanks(text, i+1)
			u, next := number(text, i)
			if next == i {
				return edges, b.atLine(start, "want "+form)
			}
			i = skipBlanks(text, next)
			v, next := number(text, i)
			if next == i {
				return edges, b.atLine(start, "want "+form)
			}
			i = next
			for range columns {
				i = skipBlanks(text, i)
				if next = value(text, i); next == i {
					return edges, b.atLine(start, "want "+form)
				}
				i = next
			}
			if i = skipBlanks(text, i); i < len(text) && text[i] != '\n' {
				return edges, b.atLine(start, "want "+form)
			}
			i++
			if u-1 >= uint64(n) || v-1 >= uint64(n) {
				return edges, b.atLine(start, "want vertices from 1 to "+strconv.FormatInt(n, 10))
			}
			edges = append(edges, graph.MakeEdge(graph.Vertex(u-1), graph.Vertex(v-1)))
		}
		return edges, nil
	}
	if err := in.parallel(blocks{limit: -1, parse: parse, emit: in.emit}); err != nil {
		return err
	}
	return in.checkCount(map[byte]string{'a': "arcs", 'e': "edges"}[kind], sizes[1], in.info.Tuples)
}
