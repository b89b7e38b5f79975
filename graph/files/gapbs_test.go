// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

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
