// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// testdata/others has what scipy and networkx wrote, see make.py there: one directed and one undirected graph.
func TestFilesOfScipyAndNetworkx(t *testing.T) {
	arcs := [][2]graph.Vertex{{0, 1}, {0, 1}, {1, 2}, {1, 3}, {2, 3}, {3, 5}, {4, 4}}
	edges := [][2]graph.Vertex{{0, 1}, {1, 2}, {1, 3}, {2, 3}}
	names, err := filepath.Glob("testdata/others/*")
	if err != nil || len(names) != 16 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".py") {
			continue
		}
		g, err := Load(context.Background(), name, Options{})
		if strings.Contains(name, "array") {
			want := name + `:1: a dense matrix is not a graph: want a matrix in coordinate form: ` +
				`"%%MatrixMarket matrix array integer general"`
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		want, vertices := edges, int64(7)
		directed := strings.Contains(name, "general") || strings.Contains(name, "networkx")
		if directed {
			want = arcs
		}
		if strings.Contains(name, "networkx") {
			vertices = 6 // an edge list does not have the last one
		}
		if diff := cmp.Diff(want, sorted(t, g)); diff != "" || g.Vertices() != vertices || g.Info.Symmetrized != directed {
			t.Errorf("%s: %+v, (-want +got)\n%s", name, g.Info, diff)
		}
	}
}

// The example of LDBC Graphalytics (specification 1.0.5, figure 1; example-undirected in the repository
// ldbc/ldbc_graphalytics) with the levels from vertex 2 that come with it.
func TestExampleOfLDBC(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"example.V.Gz": zipped(t, ".gz", "2\n3\n4\n5\n6\n7\n8\n9\n10\n"),
		"example.e": "2 3 0.9\n2 4 0.69\n3 4 0.13\n3 5 0.5\n3 8 0.32\n5 6 0.63\n5 8 0.12\n6 7 0.53\n6 8 0.64\n6 9 0.23\n" +
			"6 10 0.63\n7 9 0.36\n",
		"example.properties": "graph.example.directed = false\ngraph.example.edge-properties.names = weight\n",
	} {
		saved(t, dir, name, text)
	}
	g := must.Get(Load(context.Background(), filepath.Join(dir, "example.V.Gz"), Options{}))
	got := map[uint64]int64{}
	for v, level := range levelsFrom(t, g, 0) {
		got[g.Info.Label(graph.Vertex(v))] = level
	}
	want := map[uint64]int64{2: 0, 3: 1, 4: 1, 5: 2, 6: 3, 7: 4, 8: 2, 9: 4, 10: 4}
	if diff := cmp.Diff(want, got); diff != "" || g.Info.Symmetrized {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
