// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

// sg returns a serialized graph with the numbers given: any header, offsets and entries.
func sg(directed byte, entries, vertices int64, offsets []int64, targets []int32) string {
	text := []byte{directed}
	for _, n := range append([]int64{entries, vertices}, offsets...) {
		text = binary.LittleEndian.AppendUint64(text, uint64(n))
	}
	for _, v := range targets {
		text = binary.LittleEndian.AppendUint32(text, uint32(v))
	}
	return string(text)
}

func TestMalformedFiles(t *testing.T) {
	const mm = "%%MatrixMarket matrix coordinate "
	many := strings.Repeat("1 2\n", 1<<19)
	half := zipped(t, ".gz", many)
	half = half[:len(half)/2]
	for _, c := range []struct{ name, text, want string }{
		{"a.el", "0 1\n\n2 x\n", `a.el:3: want two vertices, numbers from 0 to 2^64-1: "2 x"`},
		{"a.el", "0 1\n-2 1\n", `a.el:2: want two vertices, numbers from 0 to 2^64-1: "-2 1"`},
		{"a.el", "0 1\n2\n", `a.el:2: want two vertices, numbers from 0 to 2^64-1: "2"`},
		{"a.el", "7\n", `a.el:1: want two vertices, numbers from 0 to 2^64-1: "7"`},
		{"a.el", "18446744073709551616 1\n", `a.el:1: want two vertices, numbers from 0 to 2^64-1: ` +
			`"18446744073709551616 1"`},
		{"a.el", "1.0 1\n", `a.el:1: want two vertices, numbers from 0 to 2^64-1: "1.0 1"`},
		{"a.el", many + many + "1;2 3\n", `a.el:1048577: want two vertices, numbers from 0 to 2^64-1: "1;2 3"`},
		{"a.el", many + strings.Repeat("9", 100), `a.el:524289: want two vertices, numbers from 0 to 2^64-1: "` +
			strings.Repeat("9", 60) + `"...`},
		{"a.wel", "1 2 3\n1 2\n", `a.wel:2: want two vertices, numbers from 0 to 2^64-1, and a weight: "1 2"`},
		{"a.wel", "1 2 x\n", `a.wel:1: want two vertices, numbers from 0 to 2^64-1, and a weight: "1 2 x"`},

		{"a.mtx", "", "a.mtx:1: want %%MatrixMarket matrix coordinate FIELD SYMMETRY: \"\""},
		{"a.mtx", "1 2\n", "a.mtx:1: want %%MatrixMarket matrix coordinate FIELD SYMMETRY: \"1 2\""},
		{"a.mtx", "%%MatrixMarket matrix array real general\n", "a.mtx:1: a dense matrix is not a graph: " +
			`want a matrix in coordinate form: "%%MatrixMarket matrix array real general"`},
		{"a.mtx", mm + "quaternion general\n", `a.mtx:1: want pattern, integer, real or complex values, not "quaternion"`},
		{"a.mtx", mm + "real odd\n", `a.mtx:1: want general, symmetric, skew-symmetric or hermitian, not "odd"`},
		{"a.mtx", mm + "real general\n% only comments\n", "a.mtx:3: the file ends within its header"},
		{"a.mtx", mm + "real general\n3 3\n", `a.mtx:2: want the numbers of rows, columns and entries: "3 3"`},
		{"a.mtx", mm + "real general\n3 -3 1\n", `a.mtx:2: want the numbers of rows, columns and entries: "3 -3 1"`},
		{"a.mtx", mm + "real general\n3 4 1\n", "a.mtx:2: 3 rows and 4 columns: a graph needs a square matrix"},
		{"a.mtx", mm + "real general\n281474976710657 281474976710657 0\n",
			"a.mtx:2: 281474976710657 vertices: want at most 2^48"},
		{"a.mtx", mm + "pattern general\n3 3 1\n0 1\n", `a.mtx:3: want a row and a column from 1 to 3: "0 1"`},
		{"a.mtx", mm + "pattern general\n3 3 1\n4 1\n", `a.mtx:3: want a row and a column from 1 to 3: "4 1"`},
		{"a.mtx", mm + "real general\n3 3 1\n1 1\n", `a.mtx:3: want a row, a column and a value: "1 1"`},
		{"a.mtx", mm + "real general\n3 3 1\n1 1 x\n", `a.mtx:3: want a row, a column and a value: "1 1 x"`},
		{"a.mtx", mm + "complex general\n3 3 1\n1 1 1\n", `a.mtx:3: want a row, a column and two values: "1 1 1"`},
		{"a.mtx", mm + "pattern general\n3 3 1\n1 1 1\n", `a.mtx:3: want a row and a column: "1 1 1"`},
		{"a.mtx", mm + "real skew-symmetric\n3 3 1\n2 2 1\n",
			`a.mtx:3: an entry on the diagonal of a skew-symmetric matrix: "2 2 1"`},
		{"a.mtx", mm + "pattern general\n3 3 2\n1 2\n", "a.mtx:3: the file has 1 entries, but its header announces 2"},
		{"a.mtx", mm + "pattern general\n3 3 1\n1 2\n1 3\n", "a.mtx:4: the file has 2 entries, but its header announces 1"},
		{"a.mtx", mm + "pattern general\n3 3 9223372036854775807\n",
			"a.mtx:2: the file has 0 entries, but its header announces 9223372036854775807"},

		{"a.graph", "", "a.graph:1: the file ends within its header"},
		{"a.graph", "3\n", `a.graph:1: want the numbers of vertices and edges, and maybe fmt and ncon: "3"`},
		{"a.graph", "3 1 2\n", `a.graph:1: want a fmt of three digits 0 or 1, not "2"`},
		{"a.graph", "3 1 010 0\n", `a.graph:1: want a number of weights from 1 on, not "0"`},
		{"a.graph", "2 1\n2\n", "a.graph:2: the file has lines for 1 vertices, but its header announces 2"},
		{"a.graph", "2 1\n2\n1\n1\n", `a.graph:4: a line after that of the last vertex, 2: "1"`},
		{"a.graph", "2 1\n3\n1\n", `a.graph:2: want neighbors from 1 to 2: "3"`},
		{"a.graph", "2 1\n0\n1\n", `a.graph:2: want neighbors from 1 to 2: "0"`},
		{"a.graph", "2 1\n2 a\n1\n", `a.graph:2: want numbers: "2 a"`},
		{"a.graph", "2 2\n2\n1\n", "a.graph:3: the file has 1 edges, but its header announces 2"},
		{"a.graph", "2 1 1\n2 5\n1\n", `a.graph:3: want a weight after each neighbor: "1"`},
		{"a.graph", "2 1 10 2\n1 1 2\n1\n", `a.graph:3: want 2 sizes or weights of the vertex: "1"`},
		{"a.graph", "3 2\n2\n3\n1\n", "a.graph:4: the lists are not symmetric: 2 neighbors are larger than their " +
			"vertex, 1 smaller, and each edge must be in the lists of both its ends"},

		{"a.gr", "c\n", "a.gr:2: the file ends within its header"},
		{"a.gr", "a 1 2 3\n", `a.gr:1: want a line such as p sp VERTICES ARCS: "a 1 2 3"`},
		{"a.gr", "p max 1 2\n", `a.gr:1: want p sp, p edge or p col: "p max 1 2"`},
		{"a.gr", "p sp 2 1\na 1 2\n", `a.gr:2: want a U V WEIGHT: "a 1 2"`},
		{"a.gr", "p sp 2 1\ne 1 2\n", `a.gr:2: want a U V WEIGHT: "e 1 2"`},
		{"a.gr", "p sp 2 1\na 1 3 1\n", `a.gr:2: want vertices from 1 to 2: "a 1 3 1"`},
		{"a.gr", "p sp 2 2\na 1 2 1\n", "a.gr:2: the file has 1 arcs, but its header announces 2"},

		{"a.tuples", "12345", "a.tuples: byte 0: the file ends within a record of 12 bytes"},
		{"a.tuples16", strings.Repeat("\x00", 20), "a.tuples16: byte 16: the file ends within a record of 16 bytes"},

		{"a.sg", "\x00", "a.sg: byte 1: the file ends within its header"},
		{"a.sg", sg(2, 0, 0, nil, nil),
			"a.sg: byte 0: not the header of a graph of GAPBS: directed 2, 0 entries, 0 vertices"},
		{"a.sg", sg(0, -1, 1, nil, nil),
			"a.sg: byte 0: not the header of a graph of GAPBS: directed 0, -1 entries, 1 vertices"},
		{"a.sg", sg(0, 1<<50, 1<<30, nil, nil), "a.sg: byte 17: the file ends within its offsets: 1073741825 are missing"},
		{"a.sg", sg(0, 2, 2, []int64{0, 2, 1}, nil),
			"a.sg: byte 33: offset 1 of vertex 2: want ascending offsets from 0 to 2"},
		{"a.sg", sg(0, 2, 2, []int64{0, 1, 1}, nil),
			"a.sg: byte 33: offset 1 of vertex 2: want ascending offsets from 0 to 2"},
		{"a.sg", sg(0, 2, 2, []int64{0, 1, 2}, []int32{1}),
			"a.sg: byte 45: the file ends, but its header announces 4 bytes more"},
		{"a.sg", sg(0, 2, 2, []int64{0, 1, 2}, []int32{1, -1}),
			"a.sg: byte 45: neighbor -1 of vertex 1: want a vertex below 2"},
		{"a.sg", sg(0, 2, 3, []int64{0, 1, 2, 2}, []int32{1, 2}),
			"a.sg: byte 57: the lists of an undirected graph are not " +
				"symmetric: 2 entries are larger than their vertex, 0 smaller"},
		{"a.sg", sg(0, 2, 2, []int64{0, 1, 2}, []int32{1, 0, 7}),
			"a.sg: byte 49: the file continues after the end of the graph"},
		{"a.sg", sg(1, 1, 2, []int64{0, 1, 1}, []int32{1}) + sg(0, 0, 0, []int64{0, 1}, nil)[9:],
			"a.sg: byte 69: the file ends, but its header announces 4 bytes more"},
		{"a.sg", sg(1, 1, 2, []int64{0, 1, 1}, []int32{1}) + sg(0, 0, 0, []int64{0, 1}, []int32{1})[9:],
			"a.sg: byte 73: the inverse has other edges than the graph"},

		{"a.pbf", "12", "a.pbf: byte 0: the file ends within a block"},
		{"a.pbf", "\x7f\x00\x00\x00", "a.pbf: byte 0: not a file of OpenStreetMap: a header of 2130706432 bytes, " +
			"want at most 65536"},
		{"a.pbf", "\x00\x00\x00\x01x", "a.pbf: byte 0: not the header of a block of OpenStreetMap"},
		{"a.pbf", "\x00\x00\x00\x05\x0a\x01x\x18\x7f", "a.pbf: byte 0: the file ends within a block"},
		{"a.pbf", "\x00\x00\x00\x0b\x0a\x07OSMData\x18\x00", "a.pbf: byte 0: a block of OpenStreetMap: " +
			"want data that is compressed by zlib or not at all"},

		{"a.el.gz", half, fmt.Sprintf("a.el.gz: before byte %d: gzip: the file is cut off", len(half))},
		{"a.el.gz", "\x1f\x8b\x08\x02\x00\x00\x00\x00\x00\x00\x00\x00", "a.el.gz: gzip: "},
		{"a.el.zst", "\x28\xb5\x2f\xfdxxxxxxxx", "a.el.zst: before byte 12: zstd: "},
		{"a.el.bz2", "BZh91AY", "a.el.bz2: before byte 7: bzip2: the file is cut off"},
		{"a.el.xz", "\xfd7zXZ\x00\x00\x04", "a.el.xz: xz: "},
		{"a", "\x01\x02\x03", "a: neither the name nor the content says the format of the file"},
	} {
		_, _, err := tuples(c.name, c.text)
		partial := strings.HasSuffix(c.want, " ") // the rest is the text of a library
		switch {
		case err == nil:
			t.Errorf("no error, want %s", c.want)
		case err.Error() != c.want && !(partial && strings.HasPrefix(err.Error(), c.want)),
			strings.Contains(err.Error(), "\n"):
			t.Errorf("got  %s\nwant %s", err, c.want)
		}
	}
}

// A header that announces too much does not allocate memory.
func TestHeadersThatLieTakeNoMemory(t *testing.T) {
	for name, text := range map[string]string{
		"a.sg":    sg(0, 1<<40, 1<<31-1, nil, nil),
		"a.mtx":   bannerMM + " matrix coordinate pattern general\n281474976710656 281474976710656 9223372036854775807\n",
		"a.graph": "281474976710656 9223372036854775807\n",
		"a.gr":    "p sp 281474976710656 9223372036854775807\n",
		"a.pbf":   "\x00\x00\x00\x0e\x0a\x07OSMData\x18\xff\xff\xff\x0f",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := LoadFrom(context.Background(), strings.NewReader(text), name, Options{Threads: 1})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 16<<20 {
			t.Errorf("%s: %d bytes, %v", name, took, err)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "missing.el"), dir, dir + "/a.v", "/dev/zero"} {
		must.Fail(t, must.Err(Load(context.Background(), name, Options{})), name)
	}
	saved(t, dir, "a.v", "1\n")
	_, err := Load(context.Background(), dir+"/a.v", Options{})
	if want := dir + "/a.v: want the edges next to it, in " + dir + "/a.e"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Load(context.Background(), dir+"/a.v", Options{Format: "xml"}); err == nil ||
		!strings.HasSuffix(err.Error(), `unknown graph format "xml"; the formats are `+strings.Join(Formats(), ", ")) {
		t.Errorf("%v", err)
	}
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	dir, text := t.TempDir(), bannerMM+" matrix coordinate pattern general\n2 2 1\n1 2\n"
	for _, change := range []string{"", "2 1\n"} {
		name := saved(t, dir, "a.mtx", text)
		_, err := Load(context.Background(), name, Options{Memory: func(n int) ([]graph.Edge, error) {
			file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil && change != "" {
				_, err = file.WriteString(change)
			}
			return make([]graph.Edge, n), errors.Join(err, file.Close())
		}})
		if (err == nil) != (change == "") || err != nil && err.Error() != name+": the file changed while it was read" {
			t.Errorf("%q was appended: %v", change, err)
		}
	}
}

// endless is a list without an end.
type endless struct{ cancel func() }

func (e endless) Read(p []byte) (int, error) {
	e.cancel()
	return copy(p, bytes.Repeat([]byte("1 2\n"), len(p)/4)), nil
}

func TestCancelAndErrorsOfTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	must.Is(t, must.Err(LoadFrom(ctx, endless{cancel}, "a.el", Options{})), context.Canceled)
	full := errors.New("full")
	text := bannerMM + " matrix coordinate pattern general\n9 9 1048576\n" + strings.Repeat("1 2\n", 1<<20)
	for _, name := range []string{"a.mtx", "a.el"} {
		if name == "a.el" {
			text = text[strings.Index(text, "1 2\n"):]
		}
		calls := 0
		_, err := LoadFrom(context.Background(), strings.NewReader(text), name,
			Options{Memory: func(int) ([]graph.Edge, error) { calls++; return nil, full }})
		if !errors.Is(err, full) || !strings.HasPrefix(err.Error(), name) || calls != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
	}
	broken := io.MultiReader(strings.NewReader("1 2\n"), errorReader{})
	if _, err := LoadFrom(context.Background(), broken, "a.el", Options{}); err == nil ||
		err.Error() != "a.el: the disk is broken" {
		t.Errorf("%v", err)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the disk is broken") }

func TestDetectContent(t *testing.T) {
	edges := [][2]int64{{0, 1}, {5, 300}, {1 << 20, 7}, {70000, 70001}}
	small := packed(t, edges...)
	wide := packed(t, [2]int64{0, 1<<36 + 1}, [2]int64{1<<36 + 1, 5})
	var words, wideWords []byte
	for _, e := range edges {
		words = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(words, uint64(e[0])), uint64(e[1]))
		wideWords = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(wideWords, uint64(e[0])+1<<33),
			uint64(e[1])*0x10001)
	}
	g := random(50, 100)
	dir := t.TempDir()
	must.Do(Write(context.Background(), dir+"/a.sg", g, 2, 3, nil))
	serialized := must.Get(os.ReadFile(dir + "/a.sg"))
	for _, c := range []struct {
		text string
		want Format
	}{
		{small, Packed}, {wide, Packed}, {string(words), Packed16}, {string(wideWords), Packed16},
		{string(serialized), SG}, {roadsFile("DenseNodes", "highway", []int64{1, 2}), OSM},
		{"%%matrixmarket matrix coordinate pattern general\n1 1 0\n", MatrixMarket},
		{"% comment\n1 2\n", EdgeList}, {"c comment\np sp 1 0\n", DIMACS}, {"p edge 1 0\n", DIMACS},
	} {
		for _, text := range []string{c.text, zipped(t, ".zst", c.text)} {
			if c.want == SG && text != c.text {
				continue // the size of the contents is not known
			}
			g, err := Load(context.Background(), saved(t, dir, "a", text), Options{})
			if err != nil || g.Info.Format != c.want {
				t.Errorf("%.20q: %v, want %s", c.text, err, c.want)
			}
		}
	}
}
