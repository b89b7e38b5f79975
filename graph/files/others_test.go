// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

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

// testdata/gapbs has what the converter of GAPBS (commit b5e3e19) made of small.el, a list of random tuples:
//
//	converter -f small.el    -b directed.sg      converter -f small.el -w    -b directed.wsg
//	converter -f small.el -s -b undirected.sg    converter -f small.el -w -s -b undirected.wsg
//	converter -f directed.sg -e directed.el      converter -f directed.wsg -w -e directed.wel
func TestFilesOfGAPBS(t *testing.T) {
	// GAPBS drops self-loops and duplicates.
	directed, undirected := map[[2]int64]bool{}, map[[2]int64]bool{}
	text := must.Get(os.ReadFile("testdata/gapbs/small.el"))
	for line := range strings.Lines(string(text)) {
		var u, v int64
		must.Get(fmt.Sscan(line, &u, &v))
		if u != v {
			directed[[2]int64{u, v}] = true
			undirected[[2]int64{min(u, v), max(u, v)}] = true
		}
	}
	for name, want := range map[string]map[[2]int64]bool{
		"directed.sg": directed, "directed.wsg": directed, "directed.el": directed, "directed.wel": directed,
		"undirected.sg": undirected, "undirected.wsg": undirected,
	} {
		g, err := Load(context.Background(), filepath.Join("testdata", "gapbs", name), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		got := map[[2]int64]bool{}
		for _, e := range edgesOf(g) {
			got[e] = true
		}
		isDirected := strings.HasPrefix(name, "directed")
		if !maps.Equal(got, want) || g.Vertices() != 64 || g.Tuples() != int64(len(want)) ||
			g.Info.Symmetrized != isDirected {
			t.Errorf("%s: %+v, %d different edges, want %d", name, g.Info, len(got), len(want))
		}
	}
}

// The undirected .sg that teps writes is the one of GAPBS, byte for byte, for graphs without self-loops and duplicates.
func TestWriteSGAsGAPBSDoes(t *testing.T) {
	want := "testdata/gapbs/undirected.sg"
	g := must.Get(Load(context.Background(), want, Options{}))
	name := filepath.Join(t.TempDir(), "a.sg")
	must.Do(Write(context.Background(), name, g, 2, 3, nil))
	a, errA := os.ReadFile(want)
	b, errB := os.ReadFile(name)
	if errA != nil || errB != nil || !slices.Equal(a, b) {
		t.Error("the files differ", errA, errB)
	}
}

var export = flag.String("files.export", "", "directory for edge lists of the graphs in testdata/levels.txt")

// meshes is where the package libmetis-doc of Debian has the samples of METIS.
const meshes = "/usr/share/doc/libmetis-dev/examples/graphs/"

// TestLevelsOfRealGraphs searches roads, meshes and dependencies of packages. .ci/graphs compares the numbers in
// testdata/levels.txt with those of networkx.
func TestLevelsOfRealGraphs(t *testing.T) {
	file := must.Get(os.Open("testdata/levels.txt"))
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var name string
		var vertices, tuples, reached, levels int64
		var root uint64
		must.Get(fmt.Sscan(lines.Text(), &name, &vertices, &tuples, &root, &reached, &levels))
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			switch {
			case testing.Short():
				t.Skip("takes long; left out with -short")
			case strings.HasSuffix(name, ".pbf"):
				path = delaware()
			case strings.HasSuffix(name, ".graph"):
				path = meshes + name
				if _, err := os.Stat(path); err != nil {
					t.Skip("needs libmetis-doc of Debian")
				}
			}
			g := must.Get(Load(context.Background(), path, Options{}))
			if g.Vertices() != vertices || g.Tuples() != tuples {
				t.Errorf("%d vertices and %d tuples, want %d and %d", g.Vertices(), g.Tuples(), vertices, tuples)
			}
			v := graph.Vertex(0)
			for g.Info.Label(v) != root {
				v++
			}
			var gotReached, gotLevels int64
			for _, l := range levelsFrom(t, g, v) {
				if l >= 0 {
					gotReached++
				}
				gotLevels = max(gotLevels, l+1)
			}
			if gotReached != reached || gotLevels != levels {
				t.Errorf("%d vertices in %d levels from %d, want %d in %d", gotReached, gotLevels, root, reached, levels)
			}
			if *export != "" {
				must.Do(Write(context.Background(), filepath.Join(*export, name+".el"), g, 2, 3, nil))
			}
		})
	}
}

// levelsFrom returns the level of each vertex in a search from a root.
func levelsFrom(t *testing.T, g *Graph, root graph.Vertex) []int64 {
	t.Helper()
	csr := must.Get(graph.NewCSR(slices.Concat(g.blocks...), g.Vertices()))
	_, levels := must.Get2(csr.Search(root))
	return levels
}

// delaware is the name of the roads of Delaware, which the module paulmach/osm ships (data of OpenStreetMap, ODbL).
var delaware = sync.OnceValue(func() string {
	dir := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/paulmach/osm").Output())
	return filepath.Join(strings.TrimSpace(string(dir)), "testdata", "delaware-latest.osm.pbf")
})

func TestRoadsOfDelaware(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long; left out with -short")
	}
	name := delaware()
	g := must.Get(Load(context.Background(), name, Options{}))
	if g.Vertices() != 361058 || g.Tuples() != 387589 {
		t.Errorf("%d vertices, %d tuples", g.Vertices(), g.Tuples())
	}

	// The reader of another author.
	file := must.Get(os.Open(name))
	defer file.Close()
	var want, got [][2]uint64
	scanner := osmpbf.New(context.Background(), file, 2)
	defer scanner.Close()
	scanner.SkipNodes, scanner.SkipRelations = true, true
	for scanner.Scan() {
		way := scanner.Object().(*osm.Way)
		if !way.Tags.HasTag("highway") {
			continue
		}
		for i := 1; i < len(way.Nodes); i++ {
			if a, z := way.Nodes[i-1].ID, way.Nodes[i].ID; a != z {
				want = append(want, [2]uint64{uint64(a), uint64(z)})
			}
		}
	}
	must.Do(scanner.Err())
	for _, e := range edgesOf(g) {
		got = append(got, [2]uint64{g.Info.Label(graph.Vertex(e[0])), g.Info.Label(graph.Vertex(e[1]))})
	}
	if !slices.Equal(want, got) {
		t.Errorf("the other reader has %d edges, or different ones", len(want))
	}
}
