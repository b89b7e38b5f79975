// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// sorted returns the tuples of a graph with the smaller end first, ascending.
func sorted(t *testing.T, g graph.Source) [][2]graph.Vertex {
	t.Helper()
	edges := make([]graph.Edge, g.Tuples())
	must.Do(g.Generate(context.Background(), edges, 0, 2))
	var all [][2]graph.Vertex
	for _, e := range edges {
		u, v := e.Ends()
		all = append(all, [2]graph.Vertex{min(u, v), max(u, v)})
	}
	slices.SortFunc(all, func(a, b [2]graph.Vertex) int { return slices.Compare(a[:], b[:]) })
	return all
}

// random is a graph of n vertices with self-loops and duplicates. The last vertex has a tuple.
func random(n int64, tuples int) *Graph {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	edges := []graph.Edge{graph.MakeEdge(graph.Vertex(n-1), 0)}
	for len(edges) < tuples {
		u, v := graph.Vertex(r.Int64N(n)), graph.Vertex(r.Int64N(n))
		if r.IntN(8) == 0 {
			u = v
		}
		edges = append(edges, graph.MakeEdge(u, v), graph.MakeEdge(v, u))
	}
	return fromEdges(n, edges[:tuples])
}

func fromEdges(n int64, edges []graph.Edge) *Graph {
	return &Graph{
		Info: Info{Vertices: n, Tuples: int64(len(edges))}, name: "test",
		blocks: [][]graph.Edge{edges[:len(edges)/3], edges[len(edges)/3:]},
		first:  []int64{0, int64(len(edges) / 3), int64(len(edges))},
	}
}

func TestWriteAndReadBack(t *testing.T) {
	dir := t.TempDir()
	for _, g := range []*Graph{random(1, 3), random(5, 40), random(17_000, 20_000)} {
		want := sorted(t, g)
		if lists := 8 * (g.Vertices() + g.Tuples()); WriteBytes(METIS, g) != lists || WriteBytes(EdgeList, g) != 0 {
			t.Errorf("%d bytes for lists, want %d", WriteBytes(METIS, g), lists)
		}
		for _, ext := range append(Writable(), ".txt", ".edge") {
			for _, compression := range []string{"", ".gz", ".zst"} {
				name := filepath.Join(dir, "graph"+ext+compression)
				must.Do(Write(context.Background(), name, g, 2, 3, nil))
				got := must.Get(Load(context.Background(), name, Options{}))
				if !slices.Equal(want, sorted(t, got)) || got.Vertices() != g.Vertices() {
					t.Errorf("%s: %d vertices of %d, %d tuples of %d, or others", name, got.Vertices(), g.Vertices(),
						got.Tuples(), g.Tuples())
				}
			}
		}
	}
}

func TestWriteKeepsTheLabelsOfTheFile(t *testing.T) {
	g := must.Get(LoadFrom(context.Background(), strings.NewReader("7000000000 3\n5 7000000000\n"), "a.el", Options{}))
	dir := t.TempDir()
	for name, want := range map[string]string{
		"a.el": "7000000000 3\n5 7000000000\n", "a.mtx": bannerMM + " matrix coordinate pattern symmetric\n3 3 2\n3 1\n3 2\n",
		"a.e": "7000000000 3\n5 7000000000\n",
	} {
		must.Do(Write(context.Background(), filepath.Join(dir, name), g, 2, 3, nil))
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.v")); string(got) != "3\n5\n7000000000\n" {
		t.Errorf("a.v: %q", got)
	}
}

// Labels of up to 48 bits survive files of text, and are read from the packed tuples of the reference.
func TestLabelsOf48BitsAreWrittenAndRead(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 47))
	for round := range 20 {
		n := min(int64(1)<<47+r.Int64N(1<<47), int64(graph.MaxVertex)+1)
		var text, packed []byte
		var want [][2]graph.Vertex
		for range 1 + r.IntN(50) {
			u, v := graph.Vertex(n-1-r.Int64N(1<<(1+r.IntN(47)))), graph.Vertex(n-1-r.Int64N(9))
			want = append(want, [2]graph.Vertex{min(u, v), max(u, v)})
			text = fmt.Appendf(text, "%d %d\n", u, v)
			packed = binary.LittleEndian.AppendUint32(packed, uint32(u))
			packed = binary.LittleEndian.AppendUint32(packed, uint32(v))
			packed = binary.LittleEndian.AppendUint32(packed, uint32(u>>32)|uint32(v>>32)<<16)
		}
		slices.SortFunc(want, func(a, b [2]graph.Vertex) int { return slices.Compare(a[:], b[:]) })
		for name, data := range map[string][]byte{"a.el": text, "a.tuples": packed} {
			name = filepath.Join(dir, name)
			must.Do(os.WriteFile(name, data, 0o600))
			g := must.Get(Load(t.Context(), name, Options{}))
			again := filepath.Join(dir, "again.el")
			must.Do(Write(t.Context(), again, g, 2, 3, nil))
			for _, g := range []*Graph{g, must.Get(Load(t.Context(), again, Options{}))} {
				got, info := sorted(t, g), &g.Info
				for k := range got {
					for i, v := range got[k] {
						got[k][i] = graph.Vertex(info.Label(v))
					}
				}
				if !slices.Equal(want, got) {
					t.Fatalf("round %d, %s: got %v, want %v", round, name, got, want)
				}
			}
		}
	}
}

func TestWriteFollowsLinksAndKeepsModes(t *testing.T) {
	dir, g := t.TempDir(), fromEdges(2, []graph.Edge{graph.MakeEdge(0, 1)})
	at := func(name string) string { return filepath.Join(dir, name) }
	must.Do(os.Mkdir(at("scratch"), 0o700), os.Symlink("scratch/second", at("first.el")),
		os.Symlink("../target.el", at("scratch/second")), os.Symlink("loop.el", at("loop.el")),
		os.WriteFile(at("old.el"), nil, 0o600), os.Chmod(at("old.el"), 0o640))
	for range 2 { // the target is missing, and then is there
		must.Do(Write(t.Context(), at("first.el"), g, 2, 3, nil))
		if got, err := os.ReadFile(at("target.el")); string(got) != "0 1\n" {
			t.Errorf("%q, %v", got, err)
		}
		if link, err := os.Readlink(at("first.el")); link != "scratch/second" {
			t.Errorf("%s, %v", link, err)
		}
	}
	must.Do(Write(t.Context(), at("old.el"), g, 2, 3, nil))
	if info, err := os.Stat(at("old.el")); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	must.Is(t, Write(t.Context(), at("loop.el"), g, 2, 3, nil), syscall.ELOOP)
	for name, gzipped := range map[string]bool{"A.EL.GZ": true, "B.Tuples": false} {
		must.Do(Write(t.Context(), at(name), g, 2, 3, nil))
		if data, err := os.ReadFile(at(name)); err != nil || strings.HasPrefix(string(data), "\x1f\x8b") != gzipped {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	must.Fail(t, Write(t.Context(), at("a.el.xz"), g, 2, 3, nil), "want a name")
}

// failing is a source that fails half-way.
type failing struct{ *Graph }

func (failing) Generate(context.Context, []graph.Edge, int64, int) error {
	return errors.New("no more")
}

func TestWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command("true")
	must.Do(dead.Run())
	must.Do(os.Mkdir(filepath.Join(dir, fmt.Sprintf(".teps-out-%d-1", dead.Process.Pid)), 0o700))
	g := random(100, 1000)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, ext := range Writable() {
		if err := Write(context.Background(), filepath.Join(dir, "a"+ext), failing{g}, 2, 3, nil); err == nil {
			t.Errorf("%s: no error", ext)
		}
		must.Is(t, Write(canceled, filepath.Join(dir, "a"+ext), g, 2, 3, nil), context.Canceled)
	}
	for _, name := range []string{"a.v", "a.pbf", "a", "a.xyz.gz", "missing/a.el"} {
		name = filepath.Join(dir, name)
		if err := Write(context.Background(), name, g, 2, 3, nil); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: got %v, want an error that begins with the name", name, err)
		}
	}
	must.Do(os.Mkdir(filepath.Join(dir, "d.el"), 0o700))
	if err := Write(context.Background(), filepath.Join(dir, "d.el"), g, 2, 3, nil); err == nil {
		t.Error("wrote over a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := Write(context.Background(), filepath.Join(dir, "a.sg"), fromEdges(1<<31, nil), 2, 3, nil); err == nil {
		t.Error("wrote too many vertices for .sg")
	}
}
