// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// tuples reads text as a file of a name.
func tuples(name, text string) ([][2]int64, Info, error) {
	g, err := LoadFrom(context.Background(), strings.NewReader(text), name, Options{Threads: 3})
	if err != nil {
		return nil, Info{}, err
	}
	return edgesOf(g), g.Info, nil
}

// edgesOf returns the tuples of a graph in their order.
func edgesOf(g *Graph) (all [][2]int64) {
	for _, block := range g.blocks {
		for _, e := range block {
			u, v := e.Ends()
			all = append(all, [2]int64{int64(u), int64(v)})
		}
	}
	return all
}

// saved writes a file in a directory and returns its path.
func saved(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// packed returns tuples in the packed form.
func packed(t *testing.T, all ...[2]int64) string {
	t.Helper()
	var text strings.Builder
	for _, e := range all {
		must.Do(graph.WriteEdges(&text, []graph.Edge{graph.MakeEdge(graph.Vertex(e[0]), graph.Vertex(e[1]))}))
	}
	return text.String()
}

func TestReadText(t *testing.T) {
	type edges = [][2]int64
	const mm = "%%MatrixMarket matrix coordinate "
	for _, c := range []struct {
		about, name, text string
		want              edges
		info              Info
	}{
		{"edge list", "a.el", "0 1\n1 2\n", edges{{0, 1}, {1, 2}}, Info{Format: EdgeList, Vertices: 3, Symmetrized: true}},
		{"no last newline", "a.el", "0 1\n1 2", edges{{0, 1}, {1, 2}},
			Info{Format: EdgeList, Vertices: 3, Symmetrized: true}},
		{"CRLF, tabs, empty lines", "a.txt", "# x\r\n0\t1\r\n\r\n  1 \t 2 \r\n% y\r\n", edges{{0, 1}, {1, 2}},
			Info{Format: EdgeList, Vertices: 3, Symmetrized: true}},
		{"SNAP, undirected", "a.txt", "# Undirected graph: ../../a.txt\n# FromNodeId ToNodeId\n3\t1\n", edges{{3, 1}},
			Info{Format: EdgeList, Vertices: 4}},
		{"SNAP, directed", "a.txt", "# Directed graph (each unordered pair of nodes is saved once): a.txt\n1 3\n3 1\n",
			edges{{1, 3}, {3, 1}}, Info{Format: EdgeList, Vertices: 4, Symmetrized: true}},
		{"times", "a.txt", "1 2 1254192988\n3 3 1254194656\n", edges{{1, 2}, {3, 3}},
			Info{Format: EdgeList, Vertices: 4, Symmetrized: true}},
		{"empty", "a.el", "", nil, Info{Format: EdgeList, Symmetrized: true}},
		{"empty, of unknown format", "a", "", nil, Info{Format: EdgeList, Symmetrized: true}},
		{"comments only", "a", "# nothing\n", nil, Info{Format: EdgeList, Symmetrized: true}},
		{"self-loops and duplicates", "a", "2 2\n2 2\n0 1\n1 0\n0 1", edges{{2, 2}, {2, 2}, {0, 1}, {1, 0}, {0, 1}},
			Info{Format: EdgeList, Vertices: 3, Symmetrized: true}},
		{"gaps", "a.el", "5000000 7\n9 5000000\n", edges{{2, 0}, {1, 2}},
			Info{Format: EdgeList, Vertices: 3, Symmetrized: true, Labels: []uint64{7, 9, 5000000}}},
		{"64-bit labels", "a.el", "18446744073709551615 140737488355328\n0 18446744073709551615\n", edges{{2, 1}, {0, 2}},
			Info{Format: EdgeList, Vertices: 3, Symmetrized: true, Labels: []uint64{0, 1 << 47, 1<<64 - 1}}},
		{"weights", "a.wel", "0 1 7\n1 2 -1.5e3\n", edges{{0, 1}, {1, 2}},
			Info{Format: WeightedList, Vertices: 3, Symmetrized: true}},

		{"matrix, symmetric pattern", "a.mtx", mm + "pattern symmetric\n% c\n\n3 3 3\n1 1\n2 1\n3 2\n",
			edges{{0, 0}, {1, 0}, {2, 1}}, Info{Format: MatrixMarket, Vertices: 3, FirstLabel: 1}},
		{"matrix, general integer, by content", "a", mm + "integer general\n4 4 2\n1 3 5\n3 1 -5\n", edges{{0, 2}, {2, 0}},
			Info{Format: MatrixMarket, Vertices: 4, FirstLabel: 1, Symmetrized: true}},
		{"matrix, real, CRLF", "a.mtx", mm + "real general\r\n2 2 2\r\n1 2 1.0E-3\r\n2\t2  nan\r\n", edges{{0, 1}, {1, 1}},
			Info{Format: MatrixMarket, Vertices: 2, FirstLabel: 1, Symmetrized: true}},
		{"matrix without entries", "a.mtx", mm + "real general\n7 7 0\n", nil,
			Info{Format: MatrixMarket, Vertices: 7, FirstLabel: 1, Symmetrized: true}},

		{"METIS manual, figure 2a", "a.graph",
			"% comment\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n% another\n1 3 6\n5 4 7\n6 4\n",
			edges{{0, 4}, {0, 2}, {0, 1}, {1, 2}, {1, 3}, {2, 4}, {2, 3}, {3, 5}, {3, 6}, {4, 5}, {5, 6}},
			Info{Format: METIS, Vertices: 7, FirstLabel: 1}},
		{"METIS, weights of edges", "a.graph", "3 2 001\n2 1 3 9\n1 1\n1 9\n", edges{{0, 1}, {0, 2}},
			Info{Format: METIS, Vertices: 3, FirstLabel: 1}},
		{"METIS, sizes and three weights a vertex", "a.graph", "2 1 111 3\n9 1 2 3 2 5\n9 1 2 3 1 5\n", edges{{0, 1}},
			Info{Format: METIS, Vertices: 2, FirstLabel: 1}},
		{"METIS, vertices without neighbors", "a.graph", "4 1\r\n\r\n3\r\n2\r\n\r\n", edges{{1, 2}},
			Info{Format: METIS, Vertices: 4, FirstLabel: 1}},
		{"METIS, self-loop, no last newline", "a.graph", "2 2\n1 2\n1", edges{{0, 0}, {0, 1}},
			Info{Format: METIS, Vertices: 2, FirstLabel: 1}},

		{"DIMACS, roads", "a.gr", "c 9th DIMACS\nc\np sp 3 2\nc arcs\na 1 2 803\na 2 1 803\n", edges{{0, 1}, {1, 0}},
			Info{Format: DIMACS, Vertices: 3, FirstLabel: 1, Symmetrized: true}},
		{"DIMACS, colors, by content", "a", "c x\np edge 3 1\nn 1 4\ne 3 2\n", edges{{2, 1}},
			Info{Format: DIMACS, Vertices: 3, FirstLabel: 1}},

		{"packed", "a.tuples", packed(t, [2]int64{3, 4}, [2]int64{65537, 4}), edges{{0, 1}, {2, 1}},
			Info{Format: Packed, Vertices: 3, Labels: []uint64{3, 4, 65537}}},
	} {
		c.info.Tuples, c.info.Bytes = int64(len(c.want)), int64(len(c.text))
		got, info, err := tuples(c.name, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		info.SHA256 = ""
		if diff := cmp.Diff(c.want, got) + cmp.Diff(c.info, info); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.about, diff)
		}
	}
}

// number agrees with strconv on fields of every length, whatever follows them and wherever the text ends.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	check := func(text []byte) {
		t.Helper()
		end := bytes.IndexAny(text, " \t\r\n,")
		if end < 0 {
			end = len(text)
		}
		want, err := strconv.ParseUint(string(text[:end]), 10, 64)
		if err != nil {
			want, end = 0, 0
		}
		if n, next := number(text, 0); n != want || next != end {
			t.Errorf("number(%q) is %d and ends at %d, want %d and %d", text, n, next, want, end)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := strconv.AppendUint(nil, random.Uint64()>>random.IntN(64), 10)
		text = append(bytes.Repeat([]byte("0"), random.IntN(3)), text...)
		follow := [...]string{"", " ", "\n", "\t7", ",7", "\r\n12345678", ".", "/", ":", "x", "\x80", "\xb0", "9999999999"}
		check(append(text, follow[random.IntN(len(follow))]...))
	}
	for _, text := range []string{"", "+1", "-1", "18446744073709551615", "18446744073709551616", "99999999999999999999",
		"00000000000000000000000000000000000007 "} {
		check([]byte(text))
	}
	for c := range 256 {
		for digits := range 9 {
			check(append(bytes.Repeat([]byte("8"), digits), byte(c), '1', '2'))
		}
	}
}
