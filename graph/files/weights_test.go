// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

func TestWeightsOfFiles(t *testing.T) {
	const banner = "%%MatrixMarket matrix coordinate "
	var long strings.Builder // whose blocks several threads parse
	var inOrder []float32
	for i := range 5000 {
		fmt.Fprintln(&long, i, i+1, i)
		inOrder = append(inOrder, float32(i))
	}
	for name, c := range map[string]struct {
		text string
		want []float32 // nil: the file has none
		err  string
	}{
		"a.wel":         {"0 1 0.5\n1 2 3\n7 7 1e-42\n", []float32{0.5, 3, 1e-42}, ""},
		"gaps.wel":      {"9000000 1 0.25\n1 70000000 18446744073709551616\n", []float32{0.25, 1 << 64}, ""},
		"zero.wel":      {"0 1 -0\n", []float32{0}, ""},
		"negative.wel":  {"0 1 1\n0 1 -1\n", nil, ":2: want a weight from 0 to 2^64"},
		"infinite.wel":  {"0 1 inf\n", nil, ":1: want a weight"},
		"large.wel":     {"0 1 1e30\n", nil, ":1: want a weight"},
		"nan.wel":       {"0 1 nan\n", nil, ":1: want a weight"},
		"a.gr":          {"p sp 3 2\na 1 2 803\na 2 3 158\n", []float32{803, 158}, ""},
		"a.col":         {"p edge 3 2\ne 1 2\ne 2 3\n", nil, ""},
		"real.mtx":      {banner + "real symmetric\n3 3 2\n2 1 1.5d0\n3 2 2\n", []float32{1.5, 2}, ""},
		"integer.mtx":   {banner + "integer general\n3 3 1\n2 1 16777217\n", []float32{16777216}, ""},
		"negative.mtx":  {banner + "real symmetric\n3 3 1\n2 1 -1.5\n", nil, ":3: want a weight"},
		"pattern.mtx":   {banner + "pattern general\n3 3 1\n2 1\n", nil, ""},
		"complex.mtx":   {banner + "complex general\n3 3 1\n2 1 1 1\n", nil, ""},
		"a.el":          {"0 1 0.5\n", nil, ""}, // the third column may be anything
		"weighted.e":    {"5 6 0.5\n6 7 0.125\n", []float32{0.5, 0.125}, ""},
		"unweighted.e":  {"5 6\n6 7\n", nil, ""},
		"incomplete.e":  {"5 6 1\n6 7\n", nil, ":2: want two vertices"},
		"long.wel":      {long.String(), inOrder, ""},
		"different.wel": {"0 1 1\n0 1\n", nil, ":2: want two vertices"},
		"late.e":        {"5 6\n6 7 1\n", nil, ":2: want two vertices"},
		"under.wel":     {"0 1 1_0\n", nil, ":1: want two vertices"},
		"hex.wel":       {"0 1 0xdp0\n", nil, ":1: want two vertices"},
		"comment.e":     {"# from 5\n\n5 6 0.5\n", []float32{0.5}, ""},
		"a.TGZ/a.wel":   {"0 1 0.5\n", []float32{0.5}, ""},
		"b.tgz/d/a.e":   {"5 6 0.5\n6 7 0.125\n", []float32{0.5, 0.125}, ""},
		"c.tgz/a.gr":    {"p sp 2 1\na 1 2 803\n", []float32{803}, ""},
		"d.zip/a.mtx":   {banner + "real symmetric\n2 2 1\n2 1 1.5\n", []float32{1.5}, ""},
	} {
		text, dir := c.text, t.TempDir()
		archive, member, _ := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(archive, ".zip"):
			text = zipOf("page.html", "<p>", member, text)
		case member != "":
			text = zipped(t, ".gz", tarOf("README", "?", member, text))
		}
		saved(t, dir, archive, text)
		path := filepath.Join(dir, name)
		g, err := Load(t.Context(), path, Options{Weights: true, Threads: 3, block: 64})
		if c.err != "" {
			must.Fail(t, err, c.err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := make([]float32, g.Tuples())
		if has := g.Weights(got, 0); has != (c.want != nil) || has && !slices.Equal(got, c.want) {
			t.Errorf("%s: has weights: %v, got %v, want %v", name, has, got[:min(9, len(got))], c.want[:min(9, len(c.want))])
		}
		if g, err = Load(t.Context(), path, Options{}); err != nil || g.Weights(got, 0) {
			t.Errorf("%s, without Options.Weights: %v", name, err)
		}
	}
}

// Files keep the weights of a file, bit for bit; .wel and .gr get those of kernel 3 where there are none.
func TestWeightsAreWritten(t *testing.T) {
	dir, n := t.TempDir(), int64(1)<<12 // more than two parts of text
	kron := graph.Kronecker{Scale: 8, EdgeFactor: 16, Seed1: 2, Seed2: 3}
	want := make([]float32, n)
	must.Do(graph.Weights(t.Context(), kron, 2, 3, want, 0, 1))
	var source graph.Source = kron
	for _, name := range []string{"a.wel", "b.gr.gz", "c.mtx", "d.e.zst", "e.wel", "f.gr"} { // each from the one before
		path := filepath.Join(dir, name)
		must.Do(Write(t.Context(), path, source, 2, 3, nil))
		got, g := make([]float32, n), must.Get(Load(t.Context(), path, Options{Weights: true}))
		if source = g; !g.Weights(got, 0) || !slices.Equal(got, want) || !KeepsWeights(name) {
			t.Errorf("%s has other weights: %v, want %v", name, got[:4], want[:4])
		}
		if part := got[:100]; g.Weights(part, n-100) && !slices.Equal(part, want[n-100:]) {
			t.Errorf("%s: its last weights are %v, want %v", name, part, want[n-100:])
		}
	}
	edge := fromEdges(2, []graph.Edge{graph.MakeEdge(0, 1)})
	must.Do(graph.Weights(t.Context(), edge, 5, 6, want[:1], 0, 1))
	for name, text := range map[string]string{"a.wel": fmt.Sprintf("0 1 %v\n", want[0]), "a.el": "0 1\n", "a.e": "0 1\n"} {
		path := filepath.Join(dir, name)
		must.Do(Write(t.Context(), path, edge, 5, 6, nil))
		if got := string(must.Get(os.ReadFile(path))); got != text {
			t.Errorf("%s: got %q, want %q", name, got, text)
		}
	}
}
