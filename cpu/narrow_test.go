// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// source returns the tuples of a generator and the number of its labels.
func source(t testing.TB, spec string) (tuples []graph.Edge, vertices int64) {
	t.Helper()
	s, tuples := enginetest.Generated(t, spec)
	return tuples, s.Vertices()
}

// caterpillar is a path of n vertices with legs leaves at each of them.
func caterpillar(n, legs graph.Vertex) (tuples []graph.Edge) {
	for v := range n {
		if v+1 < n {
			tuples = append(tuples, graph.MakeEdge(v, v+1))
		}
		for leg := range legs {
			tuples = append(tuples, graph.MakeEdge(v, n+v*legs+leg))
		}
	}
	return tuples
}

// starsOnPaths is a number of stars with the given leaves whose hubs are joined by paths of the given length.
func starsOnPaths(stars, leaves, length graph.Vertex) (tuples []graph.Edge) {
	next := graph.Vertex(0)
	for star := range stars {
		hub := next
		for leaf := range leaves {
			tuples = append(tuples, graph.MakeEdge(hub, hub+1+leaf))
		}
		next = hub + 1 + leaves
		if star+1 == stars {
			break
		}
		last := hub
		for range length {
			tuples = append(tuples, graph.MakeEdge(last, next))
			last = next
			next++
		}
		tuples = append(tuples, graph.MakeEdge(last, next))
	}
	return tuples
}

// permuted returns the tuples with other labels, so that neighbors are far from each other.
func permuted(tuples []graph.Edge, vertices int64) (other []graph.Edge) {
	const multiplier = 1_000_003 // prime
	for _, e := range tuples {
		u, v := e.Ends()
		u, v = u*multiplier%graph.Vertex(vertices), v*multiplier%graph.Vertex(vertices)
		other = append(other, graph.MakeEdge(u, v))
	}
	return other
}

// Every kind of narrow step, and changes between them and wide steps, on graphs with many levels.
func TestDeepGraphsAgreeWithTheOracle(t *testing.T) {
	grid, gridVertices := source(t, "grid2d:150")
	cube, cubeVertices := source(t, "grid3d:24")
	chords := slices.Clone(cube) // lists of eight neighbors and of more, which do not fit rows of eight
	for v := graph.Vertex(0); v < graph.Vertex(cubeVertices)-9; v += 41 {
		for k := range v%7 + 1 {
			chords = append(chords, graph.MakeEdge(v, v+2+k))
		}
	}
	path, pathVertices := source(t, "path:3000")
	stars := starsOnPaths(3, 5000, 400)
	mixed := kronecker(t, 10)
	for v := graph.Vertex(1 << 10); v < 1<<10+600; v++ {
		mixed = append(mixed, graph.MakeEdge(v-1, v)) // a path that ends in a Kronecker graph
	}
	long := slices.Clone(grid) // its levels are only counted when a search from the end of a path comes to the mesh
	for v := range graph.Vertex(gridVertices) - 151 {
		long = append(long, graph.MakeEdge(v, v+151))
	}
	for v := graph.Vertex(gridVertices); v < graph.Vertex(gridVertices)+maxLevels+9; v++ {
		long = append(long, graph.MakeEdge(v-1, v))
	}
	for i, g := range []struct {
		name     string
		tuples   []graph.Edge
		vertices int64
	}{
		{"long path into a mesh", long, gridVertices + maxLevels + 9},
		{"grid", grid, gridVertices}, {"permuted grid", permuted(grid, gridVertices), gridVertices},
		{"cube", cube, cubeVertices}, {"cube with chords", chords, cubeVertices},
		{"path", path, pathVertices}, {"permuted path", permuted(path, 3001), 3001},
		{"caterpillar", caterpillar(700, 3), 700 * 4}, {"stars on paths", stars, 3*5001 + 2*400},
		{"path into Kronecker", mixed, 1<<10 + 600},
		{"two grids", append(edges(30_000, 30_001), grid...), 30_002},
	} {
		truth := truthOf(t, g.tuples, g.vertices)
		for k, text := range []string{
			"threads=3 sequential=0", "threads=3 sequential=60 adjacency=packed", "threads=2 alpha=1e4 beta=5 sequential=60",
			"direction=topdown hubs=3", "threads=1", "threads=2", "threads=4 sequential=60", "threads=2 adjacency=packed",
			"direction=topdown sequential=0 adjacency=packed",
		} {
			if (i+k)%2 == 1 || testing.Short() && (i+k)%4 != 0 {
				continue // every other set on each graph, and every set on half of the graphs
			}
			t.Run(g.name+" "+text, func(t *testing.T) {
				e := open(t, g.tuples, optionsOf(text, " "))
				for _, root := range []graph.Vertex{0, graph.Vertex(g.vertices / 2), graph.Vertex(g.vertices - 1)} {
					check(t, e, truth, root)
				}
			})
		}
	}
}

// Levels are those of the oracle, whichever step makes them: their frontiers, and the entries that top-down steps look
// at, which are all of their vertices without duplicates.
func TestLevelsAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		vertices := rapid.IntRange(2, 400).Draw(r, "vertices")
		spread := rapid.IntRange(1, vertices).Draw(r, "spread") // of the ends of a tuple: small for a deep graph
		var tuples []graph.Edge
		for range rapid.IntRange(1, 2*vertices).Draw(r, "tuples") {
			u := rapid.IntRange(0, vertices-1).Draw(r, "u")
			v := (u + rapid.IntRange(0, spread).Draw(r, "distance")) % vertices
			tuples = append(tuples, graph.MakeEdge(graph.Vertex(u), graph.Vertex(v)))
		}
		root := graph.Vertex(rapid.IntRange(0, vertices-1).Draw(r, "root"))
		set := map[string]string{
			"threads":    rapid.SampledFrom([]string{"1", "3"}).Draw(r, "threads"),
			"adjacency":  rapid.SampledFrom([]string{"csr", "packed"}).Draw(r, "adjacency"),
			"sequential": rapid.SampledFrom([]string{"0", "20", "4096"}).Draw(r, "sequential"),
			"hubs":       rapid.SampledFrom([]string{"0", "2", "400"}).Draw(r, "hubs"),
			"direction":  rapid.SampledFrom([]string{"auto", "topdown", "bottomup"}).Draw(r, "direction"),
		}
		oracle, err := graph.NewCSR(tuples, int64(vertices))
		if err != nil {
			r.Fatal(err)
		}
		_, level, err := oracle.Search(root)
		if err != nil {
			r.Fatal(err)
		}
		var frontiers, entries []int64
		for v, k := range level {
			if k < 0 {
				continue
			}
			for int64(len(frontiers)) <= k {
				frontiers, entries = append(frontiers, 0), append(entries, 0)
			}
			frontiers[k]++
			distinct := map[graph.Vertex]bool{}
			for _, u := range oracle.Neighbors(graph.Vertex(v)) {
				if u != graph.Vertex(v) {
					distinct[u] = true
				}
			}
			entries[k] += int64(len(distinct))
		}
		e := open(r, tuples, set)
		found, err := e.Search(context.Background(), root, plugins.Output{Parent: make([]graph.Vertex, vertices)})
		if err != nil {
			r.Fatal(err)
		}
		if len(found.Levels) == 0 && len(frontiers) == 1 { // a root beyond the labels of the tuples
			return
		}
		if len(found.Levels) != len(frontiers) {
			r.Fatalf("%d levels, want %d", len(found.Levels), len(frontiers))
		}
		for k, l := range found.Levels {
			looked, known := l.Edges.Get()
			if got := strings.ReplaceAll(l.Direction.String(), "-", ""); got != set["direction"] && set["direction"] != "auto" {
				r.Fatalf("level %d is %v", k, got)
			}
			if l.Frontier != frontiers[k] || known != (l.Direction == graph.TopDown) || looked > entries[k] {
				r.Fatalf("level %d: frontier %d, looked at %d entries (%v, %v); want %d and at most %d",
					k, l.Frontier, looked, known, l.Direction, frontiers[k], entries[k])
			}
		}
	})
}

func TestTopDownStepsLookAtEveryEntry(t *testing.T) {
	for _, g := range []struct {
		spec string
		want int64
	}{
		{"grid2d:100", 4 * 100 * 99},
		{"path:2000", 2 * 1999},
	} {
		tuples, vertices := source(t, g.spec)
		for _, set := range []map[string]string{
			{"direction": "topdown"}, {"direction": "topdown", "sequential": "0"},
			{"direction": "topdown", "adjacency": "packed"},
		} {
			e := open(t, tuples, set)
			found := must.Get(e.Search(context.Background(), 0, plugins.Output{Parent: make([]graph.Vertex, vertices)}))
			sum, times := int64(0), int64(0)
			for _, l := range found.Levels {
				n, _ := l.Edges.Get()
				sum += n
				times += int64(l.Elapsed)
			}
			if sum != g.want || times > int64(found.Elapsed) {
				t.Errorf("%s %v: %d entries, want %d; levels take %d ns of %d", g.spec, set, sum, g.want, times, found.Elapsed)
			}
		}
	}
}
