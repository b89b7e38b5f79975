// SPDX-License-Identifier: Apache-2.0

package files

import (
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// readDIMACS reads the formats of the ninth DIMACS challenge (p sp, arcs "a U V WEIGHT") and of graph coloring (p edge
// or p col, edges "e U V"). Vertices count from 1. Each arc is a tuple, even if the opposite arc exists.
func readDIMACS(in *input) error {
	// Descriptors of vertices and parameters (n, d, v, x) have no edges ("Clique and Coloring Problems Graph Format").
	const comments = "cndvx"
	words, sizes, err := in.sizes(comments, 2, 2, 4, "a line such as p sp VERTICES ARCS")
	if err != nil {
		return err
	}
	if words[0] != "p" {
		return atLine(in.line, "want a line such as p sp VERTICES ARCS: %q", strings.Join(words, " "))
	}
	form, what, n := "e U V", "edges", sizes[0]
	lines := pairs{comments: comments, word: 'e', first: 1, limit: uint64(n),
		wrong: func(b *block, start int) error { return b.atLine(start, "want "+form) },
		other: func(b *block, start int, _, _ uint64) (graph.Edge, error) {
			return graph.Edge{}, b.atLine(start, "want vertices from 1 to "+strconv.FormatInt(n, 10))
		}}
	switch words[1] {
	case "sp":
		lines.word, lines.values = 'a', 1
		form, what, in.info.Symmetrized = "a U V WEIGHT", "arcs", true
	case "edge", "edges", "col":
	default:
		return atLine(in.line, "want p sp, p edge or p col: %q", strings.Join(words, " "))
	}
	in.readsWeights(&lines)
	if err := in.parallel(blocks{limit: -1, parse: lines.plain}); err != nil {
		return err
	}
	return in.checkCount(what, sizes[1], in.info.Tuples)
}
