package files

import (
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// bannerMM begins a MatrixMarket file (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", 1996).
const bannerMM = "%%MatrixMarket"

// readMatrixMarket reads a sparse matrix. Entry (i, j) is the tuple {i-1, j-1}, also if its value is 0.
func readMatrixMarket(in *input) error {
	banner, err := in.readLine()
	if err != nil && err != io.EOF {
		return err
	}
	words := strings.Fields(strings.ToLower(string(banner)))
	if len(words) != 5 || words[0] != strings.ToLower(bannerMM) || words[1] != "matrix" {
		return atLine(1, "want %s matrix coordinate FIELD SYMMETRY: %q", bannerMM, truncate(banner))
	}
	if words[2] != "coordinate" {
		return atLine(1, "a dense matrix is not a graph: want a matrix in coordinate form: %q", truncate(banner))
	}
	values, ok := map[string]int64{"pattern": 0, "integer": 1, "real": 1, "double": 1, "complex": 2}[words[3]]
	if !ok {
		return atLine(1, "want pattern, integer, real or complex values, not %q", words[3])
	}
	// A half of the matrix has rows i and columns j with j <= i + half.
	half := int64(math.MaxInt64)
	switch words[4] {
	case "general":
		in.info.Symmetrised = true
	case "symmetric", "hermitian":
		half = 0
	case "skew-symmetric":
		half = -1
	default:
		return atLine(1, "want general, symmetric, skew-symmetric or hermitian, not %q", words[4])
	}

	size, err := in.headerLine('%')
	if err != nil {
		return err
	}
	numbers, ok := parseInts(size, 3)
	if !ok {
		return atLine(in.line, "want the numbers of rows, columns and entries: %q", truncate(size))
	}
	n, entries := numbers[0], numbers[2]
	if n != numbers[1] {
		return atLine(in.line, "%d rows and %d columns: a graph needs a square matrix", n, numbers[1])
	}
	if n > int64(graph.MaxVertex)+1 {
		return atLine(in.line, "%d vertices: want at most 2^%d", n, graph.VertexBits)
	}
	in.info.Vertices, in.info.FirstLabel = n, 1

	parse := func(_ int, b *block, edges []graph.Edge) ([]graph.Edge, error) {
		text := b.data
		for i := 0; i < len(text); {
			start := i
			if i = skipBlanks(text, i); i == len(text) {
				break
			}
			if text[i] == '\n' {
				i++
				continue
			}
			if text[i] == '%' {
				i = skipLine(text, i)
				continue
			}
			u, next := number(text, i)
			if next == i {
				return edges, b.entryError(start, values)
			}
			i = skipBlanks(text, next)
			v, next := number(text, i)
			if next == i {
				return edges, b.entryError(start, values)
			}
			i = next
			for range values {
				i = skipBlanks(text, i)
				if next = value(text, i); next == i {
					return edges, b.entryError(start, values)
				}
				i = next
			}
			if i = skipBlanks(text, i); i < len(text) && text[i] != '\n' {
				return edges, b.entryError(start, values)
			}
			i++
			if u-1 >= uint64(n) || v-1 >= uint64(n) {
				return edges, b.atLine(start, "want a row and a column from 1 to "+strconv.FormatInt(n, 10))
			}
			if half <= 0 && int64(v) > int64(u)+half {
				return edges, b.atLine(start, "an entry that is not in the lower triangle of a "+words[4]+" matrix")
			}
			edges = append(edges, graph.MakeEdge(graph.Vertex(u-1), graph.Vertex(v-1)))
		}
		return edges, nil
	}
	if err := in.parallel(blocks{limit: -1, parse: parse, emit: in.emit}); err != nil {
		return err
	}
	return in.checkCount("entries", entries, in.info.Tuples)
}

// entryError says what is wrong with the entry at i.
func (b *block) entryError(i int, values int64) error {
	return b.atLine(i, [...]string{
		"want a row and a column", "want a row, a column and a value", "want a row, a column and two values",
	}[values])
}

// checkCount compares what the header announces with what there is.
func (in *input) checkCount(what string, want, got int64) error {
	if want != got {
		return atLine(in.line, "the file has %d %s, but its header announces %d", got, what, want)
	}
	return nil
}

// headerLine returns the next line that is not empty and does not begin with comment.
func (in *input) headerLine(comment byte) ([]byte, error) {
	for {
		line, err := in.readLine()
		switch {
		case err == io.EOF:
			return nil, atLine(in.line+1, "the file ends within its header")
		case err != nil:
			return nil, err
		case len(line) > 0 && line[0] != comment:
			return line, nil
		}
	}
}

// parseInts reads a line of exactly n numbers that fit an int64.
func parseInts(line []byte, n int) ([]int64, bool) {
	words := strings.Fields(string(line))
	if len(words) != n {
		return nil, false
	}
	numbers := make([]int64, n)
	for i, w := range words {
		u, err := strconv.ParseUint(w, 10, 63)
		if err != nil {
			return nil, false
		}
		numbers[i] = int64(u)
	}
	return numbers, true
}

// truncate shortens a line that is quoted.
func truncate(line []byte) []byte { return line[:min(len(line), 60)] }
