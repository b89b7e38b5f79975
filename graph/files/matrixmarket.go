// SPDX-License-Identifier: Apache-2.0

package files

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// bannerMM begins a MatrixMarket file (Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", 1996). Files of
// Network Repository have one percent sign.
const bannerMM = "%%MatrixMarket"

var matrixBanner = regexp.MustCompile(`^(?i)%%?[ \t]*MatrixMarket[ \t]`)

// readMatrixMarket reads a sparse matrix. Entry (i, j) is the tuple {i-1, j-1}, even if its value is 0. One of a
// symmetric matrix may be in either triangle.
func readMatrixMarket(in *input) error {
	banner, err := in.readLine()
	if err != nil && err != io.EOF {
		return err
	}
	words := strings.Fields(strings.TrimLeft(strings.ToLower(string(banner)), "% \t"))
	if !matrixBanner.Match(banner) || len(words) != 5 || words[1] != "matrix" {
		return atLine(1, "want %s matrix coordinate FIELD SYMMETRY: %q", bannerMM, truncate(banner))
	}
	if words[2] != "coordinate" {
		return atLine(1, "a dense matrix is not a graph: want a matrix in coordinate form: %q", truncate(banner))
	}
	values, ok := map[string]int{"pattern": 0, "integer": 1, "unsigned-integer": 1, "real": 1,
		"double": 1, "complex": 2}[words[3]]
	if !ok {
		return atLine(1, "want pattern, integer, real or complex values, not %q", words[3])
	}
	if !slices.Contains([]string{"general", "symmetric", "hermitian", "skew-symmetric"}, words[4]) {
		return atLine(1, "want general, symmetric, skew-symmetric or hermitian, not %q", words[4])
	}
	in.info.Symmetrized = words[4] == "general"

	_, sizes, err := in.sizes("%", 0, 3, 3, "the numbers of rows, columns and entries")
	if err != nil {
		return err
	}
	n, entries := sizes[0], sizes[2]
	if n != sizes[1] {
		return atLine(in.line, "%d rows and %d columns: a graph needs a square matrix", n, sizes[1])
	}

	lines := pairs{comments: "%", values: values, first: 1, limit: uint64(n), loopless: words[4] == "skew-symmetric",
		wrong: func(b *block, start int) error {
			return b.atLine(start, [...]string{"want a row and a column", "want a row, a column and a value",
				"want a row, a column and two values"}[values])
		},
		other: func(b *block, start int, u, v uint64) (graph.Edge, error) {
			if max(u, v) >= uint64(n) {
				return graph.Edge{}, b.atLine(start, "want a row and a column from 1 to "+strconv.FormatInt(n, 10))
			}
			return graph.Edge{}, b.atLine(start, "an entry on the diagonal of a skew-symmetric matrix")
		}}
	in.readsWeights(&lines)
	if err := in.parallel(blocks{limit: -1, parse: lines.plain}); err != nil {
		return err
	}
	return in.checkCount("entries", entries, in.info.Tuples)
}

func (in *input) checkCount(what string, want, got int64) error {
	if want != got {
		return atLine(in.line, "the file has %d %s, but its header announces %d", got, what, want)
	}
	return nil
}

// headerLine returns the next line that is not blank, and whose first character behind blanks begins no comment.
func (in *input) headerLine(comments string) ([]byte, error) {
	for {
		line, err := in.readLine()
		switch {
		case err == io.EOF:
			return nil, atLine(in.line+1, "the file ends within its header")
		case err != nil:
			return nil, err
		case !skipped(line, comments):
			return line, nil
		}
	}
}

// sizes reads the header line that states the sizes of a graph whose vertices count from 1: words and n numbers,
// beginning with the number of vertices. The line has at most limit fields. The text want describes it in errors.
func (in *input) sizes(comments string, words, n, limit int, want string) (all []string, sizes []int64, err error) {
	line, err := in.headerLine(comments)
	if err != nil {
		return nil, nil, err
	}
	all = strings.Fields(string(line))
	for _, w := range all[min(words, len(all)):min(words+n, len(all))] {
		if size, err := strconv.ParseUint(w, 10, 63); err == nil {
			sizes = append(sizes, int64(size))
		}
	}
	switch {
	case len(sizes) < n || len(all) > limit:
		return nil, nil, atLine(in.line, "want %s: %q", want, truncate(line))
	case sizes[0] > int64(graph.MaxVertex)+1:
		return nil, nil, atLine(in.line, "%d vertices: want at most 2^%d", sizes[0], graph.VertexBits)
	}
	in.info.Vertices, in.info.FirstLabel = sizes[0], 1
	return all, sizes, nil
}

func truncate(line []byte) []byte { return line[:min(len(line), 60)] }
