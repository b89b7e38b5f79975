// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

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
