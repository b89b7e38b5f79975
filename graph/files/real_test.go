// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

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
