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
	kind, values, comments := byte('e'), int64(0), "cn" // n: the weight of a vertex
	switch words[1] {
	case "sp":
		kind, values, comments = 'a', 1, "c"
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

	parse := func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		lines := pairs{comments: comments, word: kind, values: values, first: 1, limit: uint64(n), below: anyOrder,
			wrong: func(start int) error { return b.atLine(start, "want "+form) },
			other: func(start int, _, _ uint64) (graph.Edge, error) {
				return graph.Edge{}, b.atLine(start, "want vertices from 1 to "+strconv.FormatInt(n, 10))
			}}
		edges, _, err := lines.parse(b, edges)
		return edges, err
	}
	if err := in.parallel(blocks{limit: -1, parse: parse}); err != nil {
		return err
	}
	return in.checkCount(map[byte]string{'a': "arcs", 'e': "edges"}[kind], sizes[1], in.info.Tuples)
}
