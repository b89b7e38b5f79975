// SPDX-License-Identifier: Apache-2.0

package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/internal/must"
)

// utf16 returns ASCII text in UTF-16.
func utf16(order binary.AppendByteOrder, text string) (data string) {
	for _, c := range text {
		data += string(order.AppendUint16(nil, uint16(c)))
	}
	return data
}

// gbbs returns a binary graph of GBBS, or a part of one.
func gbbs(offsets []uint64, entries ...uint32) string {
	n, m := uint64(len(offsets)-1), uint64(len(entries))
	data := []byte{}
	for _, word := range append([]uint64{n, m, 24 + 8*(n+1) + 4*m}, offsets...) {
		data = binary.LittleEndian.AppendUint64(data, word)
	}
	for _, v := range entries {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return string(data)
}

// TestKindsOfFiles reads what programs and collections write. An empty format is that which the name or the content
// says; want is an error if it is not empty.
func TestKindsOfFiles(t *testing.T) {
	type edges = [][2]int64
	const (
		mm       = "%%MatrixMarket matrix coordinate "
		cr       = ": a carriage return (CR) within a line: "
		noFormat = ": neither the name nor the content says the format of the file"
		utf      = ": text in UTF-16: convert it to UTF-8, with iconv for example"
		bom      = "\ufeff"
		mesh     = "5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n"
	)
	path, three := edges{{0, 1}, {1, 2}}, "0 1\n1 2\n"
	arcs := edges{{0, 1}, {1, 0}, {1, 2}, {2, 1}}
	ring := edges{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}}
	onePercent := mm[1:] + "pattern symmetric\n3 3 2\n2 1\n3 2\n"
	bzipped := unBase64(t, "QlpoOTFBWSZTWZYU5QwAAAvYAAAQQAA+ACAAMQwBD1DajBJg1vLYAWeLuSKcKEhLCnKGAA==")
	lists := "3\n4\n0\n1\n3\n1\n0\n2\n1\n"
	zip3 := func(ext string) string { return zipped(t, ext, three) }
	large := strings.Repeat("7 8\n", detectBytes)
	for _, c := range []struct {
		name, text string
		format     Format
		edges      edges
		want       string
	}{
		// A carriage return ends a line only in front of a newline, and at the end of the file.
		{"a.el", "0 1\r1 2\r", "", nil, "a.el:1" + cr},
		{"a.el", "0 1\n# a\r1 2\n", "", nil, "a.el:2" + cr},
		{"a.el", "0 1\r\n1 2\r", "", path, ""},
		{"a.el", strings.Repeat("0 1\r", 1<<19), "", nil, "a.el:1" + cr},
		{"a", "0 1\r1 2\r", "", nil, "a:1" + cr},
		{"a.wel", "0 1 1\n0 1 2\r1 2 3\n", "", nil, "a.wel:2" + cr},
		{"a.mtx", strings.ReplaceAll(mm+"pattern general\n2 2 1\n1 2\n", "\n", "\r"), "", nil, "a.mtx:1" + cr},
		{"a.mtx", mm + "pattern general\n2 2 1\r1 2\n", "", nil, "a.mtx:2" + cr},
		{"a.graph", strings.ReplaceAll(mesh, "\n", "\r"), "", nil, "a.graph:1" + cr},
		{"a.graph", "2 1\n2\r1\n", "", nil, "a.graph:2" + cr},
		{"a.gr", "p sp 2 1\na 1 2 1\rc\n", "", nil, "a.gr:2" + cr},
		{"a.adj", strings.ReplaceAll("AdjacencyGraph\n"+lists, "\n", "\r"), "", nil, "a.adj:1" + cr},
		{"a.adj", "AdjacencyGraph\r\n" + strings.ReplaceAll(lists, "\n", "\r\n"), "", arcs, ""},

		{"a.el", bom + three, "", path, ""},
		{"a", bom + three, "", path, ""},
		{"a.txt", bom + "# Undirected\n" + three, "", path, ""},
		{"a.mtx", bom + mm + "pattern symmetric\n3 3 2\n2 1\n3 2\n", "", edges{{1, 0}, {2, 1}}, ""},
		{"a.graph", bom + mesh, "", ring, ""},
		{"a.gr", bom + "p sp 2 1\na 1 2 1\n", "", edges{{0, 1}}, ""},
		{"a.el", "\xff\xfe" + utf16(binary.LittleEndian, three), "", nil, "a.el" + utf},
		{"a.el", "\xfe\xff" + utf16(binary.BigEndian, three), "", nil, "a.el" + utf},
		{"a", "\xff\xfe" + utf16(binary.LittleEndian, three), "", nil, "a" + utf},
		{"a", utf16(binary.LittleEndian, three+three+three), "", nil, "a" + utf},
		{"a", utf16(binary.BigEndian, three+three+three), "", nil, "a" + utf},

		// Comments behind blanks.
		{"a.el", "  # a\n0 1\n\t% b\n1 2\n", "", path, ""},
		{"a.mtx", mm + "pattern symmetric\n \t% c\n \n 3 3 2\n  % d\n2 1\n3 2\n", "", edges{{1, 0}, {2, 1}}, ""},
		{"a.graph", " % a\n\t% b\n5 5\n2 5\n  % c 5%\n1 3\n2 4\n\t%\n3 5\n4 1\n % d", "", ring, ""},
		{"a.col", " c a\n p edge 2 1\n  c b\n e 1 2\n", "", edges{{0, 1}}, ""},
		{"a", " c a\np edge 2 1\ne 1 2\n", "", edges{{0, 1}}, ""},

		// Columns after the second.
		{"a.txt", "0 1 friend\n1 2 \n", "", path, ""},
		{"a.txt", "0\t1\t7\t5\n1\t2\t7\t\n", "", path, ""},
		{"a.txt", "0 1 2024-05-01 12:30\n1 2\n", "", path, ""},
		{"a.e", "0 1 0.5\n1 2\n", "", path, ""},
		{"a.edges", "0,1\n1 , 2,0.5\n", "", path, ""},
		{"a.edges", "% sym\n0,1,friend\n1,\t2\n", "", path, ""},
		{"out.a", "% bip unweighted\n% 3 2 3\n1 1\n1 2 5 100\n2 3\n", "", edges{{1, 3}, {1, 4}, {2, 5}}, ""},
		{"a.edges", "% bip\r\n% 2 2 1\r\n1,1\r\n", "", edges{{1, 3}}, ""},
		{"out.a", "% bip\n1 1\n", "", nil, `out.a:1: a bipartite graph, both of whose columns are numbered from 1`},
		{"out.a", "% bip\n% 1 2 3\n3 1\n", "", nil, `out.a:3: want labels from 1, in the first column to 2: "3 1"`},
		{"out.a", "% bip\n% 1 2 3\n1 0\n", "", nil, `out.a:3: want labels from 1, in the first column to 2: "1 0"`},
		{"a", "0,1\n1,2\n", "", path, ""},
		{"a.edges", "0,,1\n", "", nil, `a.edges:1: want two vertices, numbers from 0 to 2^64-1: "0,,1"`},
		{"a.mtx", mm + "pattern general\n2 2 1\n1,2\n", "", nil, `a.mtx:3: want a row and a column: "1,2"`},
		{"a.graph", "2 1\n2,\n1\n", "", nil, `a.graph:2: want numbers: "2,"`},

		// Names.
		{"RING.GRAPH.GZ", zipped(t, ".gz", mesh), "", ring, ""},
		{"a.Graph.Zst", zipped(t, ".gz", mesh), "", ring, ""},
		{"A.MTX", onePercent, "", edges{{1, 0}, {2, 1}}, ""},
		{"out.a", three, "", path, ""},
		{"a.graph.bz2", bzipped, "", ring, ""},
		{"a.graph.xz", unBase64(t, "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAXNSA1CjIgNQoxIDMKMiA0CjMgNQo0IDEKAFvBg21ebR1aAAEw"+
			"GI4brOwftvN9AQAAAAAEWVo="), "", ring, ""},

		// Compressed data, and what follows them.
		{"a.el.zst", "\x50\x2a\x4d\x18\x04\x00\x00\x00\x2a\x00\x00\x00" + zip3(".zst"), "", path, ""},
		{"a.el.zst", zip3(".zst") + "\x5f\x2a\x4d\x18\x01\x00\x00\x00!" + zip3(".zst"), "", append(path, path...), ""},
		{"a.el.gz", zip3(".gz") + zip3(".gz"), "", append(path, path...), ""},
		{"a.el.gz", zip3(".gz") + strings.Repeat("\x00", 1000), "", path, ""},
		{"a.el.gz", zip3(".gz") + "\x00junk", "", nil, "other data follow the compressed data"},
		{"a.el.gz", zip3(".gz") + "junk", "", nil, "other data follow the compressed data"},
		{"a.el.gz", zip3(".gz") + "\x1f\x8b", "", nil, "the file is cut off"},
		{"a.el.zst", zip3(".zst") + "junk", "", nil, "zstd: "},
		{"a.graph.bz2", bzipped + "junk", "", nil, "bzip2: other data follow the compressed data"},

		// What neither the name nor the content says.
		{"a", mesh, "", nil, "a" + noFormat},
		{"a", mesh, METIS, ring, ""},
		{"a.graph", three, EdgeList, path, ""},
		{"a", "1 2 3\n1 3\n1 2\n", "", nil, "a" + noFormat},
		{"a", "40000 2\n" + large, "", nil, "a" + noFormat},
		{"a", "<?xml version='1.0'?>\n<osm/>\n", "", nil, "a" + noFormat},
		{"a", "0 1\nx y\n", "", nil, "a" + noFormat},
		{"a", strings.Repeat("\x00", 48), "", nil, "a" + noFormat},

		// Either triangle, and banners of Network Repository.
		{"a.mtx", mm + "pattern symmetric\n3 3 2\n1 2\n3 2\n", "", edges{{0, 1}, {2, 1}}, ""},
		{"a.mtx", mm + "complex hermitian\n3 3 1\n1 2 1 0\n", "", edges{{0, 1}}, ""},
		{"a.mtx", mm + "real skew-symmetric\n3 3 1\n1 2 1\n", "", edges{{0, 1}}, ""},
		{"a.mtx", mm + "unsigned-integer general\n3 3 1\n1 2 1\n", "", edges{{0, 1}}, ""},
		{"a", onePercent, "", edges{{1, 0}, {2, 1}}, ""},
		{"a.edges", onePercent, "", edges{{1, 0}, {2, 1}}, ""},

		{"a.col", "p edge 3 2\nn 1 5\nd 2 3\nx LB 3\nv 1 2 3\ne 1 2\ne 2 3\n", "", path, ""},
		{"a.gr", "d 2 3\np sp 2 1\nn 1 s\na 1 2 1\n", "", edges{{0, 1}}, ""},

		// Adjacency graphs: each entry is an arc.
		{"a.adj", "AdjacencyGraph\n" + lists, "", arcs, ""},
		{"a", "AdjacencyGraph\n3\n4\n0\n1\n3\n1 0 2 1", "", arcs, ""},
		{"a.adj", "AdjacencyGraph\n3\n2\n0\n1\n1\n1\n1\n", "", edges{{0, 1}, {2, 1}}, ""},
		{"a.adj", "AdjacencyGraph\n1\n1\n0\n0\n", "", edges{{0, 0}}, ""},
		{"a.adj", "WeightedAdjacencyGraph\n" + lists + "5\n-5\n0.5\n7\n", "", arcs, ""},
		{"a.adj", "WeightedAdjacencyGraph\n" + lists, "", nil,
			"a.adj:10: the file has 4 neighbors and weights, but its header announces 8"},
		{"a.adj", "AdjacencyGraph\n" + lists + "1\n", "", nil,
			"a.adj:11: the file has 5 neighbors, but its header announces 4"},
		{"a.adj", "AdjacencyGraph\n3\n4\n0\n1\n3\n1\n0\n3\n1\n", "", nil, `a.adj:9: want neighbors from 0 to 2: "3"`},
		{"a.adj", "AdjacencyGraph\n3\n4\n0\n5\n3\n", "", nil,
			"a.adj: byte 21: offset 5 of vertex 1: want ascending offsets from 0 to 4"},
		{"a.adj", "AdjacencyGraph\n3\n4\n0\n1", "", nil, "a.adj:6: the file ends within its header"},
		{"a.adj", "AdjacencyHypergraph\n", "", nil,
			`a.adj:1: want AdjacencyGraph or WeightedAdjacencyGraph: "AdjacencyHypergraph"`},

		{"a.bin", gbbs([]uint64{0, 1, 3, 4}, 1, 0, 2, 1), "", arcs, ""},
		{"a.bin", gbbs([]uint64{0, 1, 2, 2}, 1, 2), "", path, ""},
		{"a", gbbs([]uint64{0, 1, 2, 2}, 1, 2), "", path, ""},
		{"a.bin", gbbs([]uint64{0, 1, 2, 2}, 1, 2) + gbbs([]uint64{0, 0, 1, 2}, 0, 1), "", path, ""},
		{"a.bin", gbbs([]uint64{0, 1, 2, 2}, 1, 2) + gbbs([]uint64{0, 0, 1, 2}, 0, 0), "", nil,
			"a.bin: byte 128: the inverse has other edges than the graph"},
		{"a.bin", gbbs([]uint64{0, 1, 1}, 1) + gbbs([]uint64{0, 0, 0}), "", nil,
			"a.bin: byte 100: the inverse has other edges than the graph"},
		{"a.bin", gbbs([]uint64{0, 1, 1}, 1)[:50], "", nil,
			"a.bin: byte 50: the file ends, but its header announces 2 bytes more"},
		{"a.bin", three + three + three, "", nil, "a.bin: byte 0: not the header of a graph of GBBS without weights and "},
	} {
		g, err := LoadFrom(t.Context(), strings.NewReader(c.text), c.name, Options{Threads: 2, Format: c.format})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %.40q: %v, want %s", c.name, c.text, err, c.want)
			}
			continue
		}
		var got edges
		if err == nil {
			got = edgesOf(g)
		}
		if diff := cmp.Diff(c.edges, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s %.40q: %v, (-want +got)\n%s", c.name, c.text, err, diff)
		}
	}
}

func unBase64(t *testing.T, text string) string {
	t.Helper()
	data := must.Get(base64.StdEncoding.DecodeString(text))
	return string(data)
}

// tarOf is an archive of files, given by names and contents.
func tarOf(files ...string) string {
	var data bytes.Buffer
	w := tar.NewWriter(&data)
	for i := 0; i < len(files); i += 2 {
		_ = w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o600, Size: int64(len(files[i+1]))})
		_, _ = io.WriteString(w, files[i+1])
	}
	_ = w.Close()
	return data.String()
}

func zipOf(files ...string) string {
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for i := 0; i < len(files); i += 2 {
		f, _ := w.Create(files[i])
		_, _ = io.WriteString(f, files[i+1])
	}
	_ = w.Close()
	return data.String()
}

// TestArchives reads graphs from archives in the forms of four collections.
func TestArchives(t *testing.T) {
	const matrix = bannerMM + " matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"
	dir := t.TempDir()
	write := func(name, data string) string { return saved(t, dir, name, data) }
	zst := zipped(t, ".zst", tarOf("example/example.e", "7 9\n9 12\n", "example/example-BFS", "7 0\n", "example/example.v",
		"7\n9\n12\n13\n", "example/example.properties", "graph.example.directed = false\n"))
	suiteSparse := write("HB.tar.gz", zipped(t, ".gz", tarOf("HB/HB_b.mtx",
		bannerMM+" matrix array real general\n1 1\n1\n", "HB/HB.mtx", matrix)))
	graphalytics := write("graphalytics.tar.zst", zst)
	network := write("soc-a.zip", zipOf("readme.html", "<p>", "soc-a.edges", "1,2\n2,3\n", "README.txt", "x"))
	konect := write("konect.tar", tarOf("./a/README.a", "x", "./a/meta.a", "x", "./a/out.a", "% asym\n1 2\n2 3\n"))
	two := write("two.zip", zipOf("a.el", "1 2\n", "b.el", "1 2\n", "c.el.gz", zipped(t, ".gz", "1 2\n2 3\n")))
	none := write("none.zip", zipOf("a.exe", "MZ"))
	corrupt := []byte(zipped(t, ".gz", tarOf("a.el", "1 2\n", "b.el", "1 2\n")))
	corrupt[len(corrupt)-8]++ // the checksum
	broken := write("broken.zip", zipOf("a.el", "1 2\n")[:60])

	for _, c := range []struct {
		name     string
		vertices int64
		err      string
	}{
		{suiteSparse, 0, "an archive: unpack it, or name the graph in it as " + suiteSparse + "/HB/HB.mtx"},
		{suiteSparse + "/HB/HB.mtx", 3, ""},
		{suiteSparse + "/HB/HB_b.mtx", 0, suiteSparse + "/HB/HB_b.mtx:1: a dense matrix is not a graph"},
		{suiteSparse + "/HB.mtx", 0, `not an archive that has the file "HB.mtx"`},
		{graphalytics, 0, "an archive: unpack it, or name the graph in it as " + graphalytics + "/example/example.e"},
		{graphalytics + "/example/example.e", 4, ""},
		{graphalytics + "/example/example.v", 4, ""},
		{network, 0, "an archive: unpack it, or name the graph in it as " + network + "/soc-a.edges"},
		{network + "/soc-a.edges", 4, ""},
		{konect, 0, "an archive: unpack it, or name the graph in it as " + konect + "/a/out.a"},
		{konect + "/a/out.a", 4, ""},
		{dir + "/./konect.tar//./a/../a/out.a", 4, ""},
		{two, 0, two + ": an archive: unpack it, or name the graph in it as " + two + "/a.el"},
		{two + "/c.el.gz", 4, ""},
		{none, 0, none + ": an archive: unpack it, or name the graph in it as " + none + "/FILE"},
		{broken, 0, broken + ": zip: "},
		{write("a.tar.gz", string(corrupt)) + "/a.el", 0, "gzip: invalid checksum"},
		{write("a.rar", "Rar!\x1a\x07\x00"), 0, "packed by RAR, which teps cannot unpack: unpack it"},
		{write("a.el.lz4", "\x04\x22\x4d\x18"), 0, "packed by lz4, which teps cannot unpack: unpack it"},
		{write("a.el", "1 2\n") + "/a.el", 0, `not an archive that has the file "a.el"`},
		{filepath.Join(dir, "a.el/a.v"), 0, `not an archive that has the file "a.v"`},
	} {
		g, err := Load(t.Context(), c.name, Options{SHA256: true})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil || g.Vertices() != c.vertices || g.Tuples() != 2 {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		file, _ := SplitArchive(c.name)
		data, err := os.ReadFile(file)
		if sum := sha256.Sum256(data); err != nil || g.Info.Bytes != int64(len(data)) ||
			g.Info.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %v, %d bytes, SHA-256 %s", c.name, err, g.Info.Bytes, g.Info.SHA256)
		}
		if ldbc := strings.Contains(c.name, "example"); ldbc == g.Info.Symmetrized && !strings.HasSuffix(c.name, ".mtx") {
			t.Errorf("%s: symmetrized %v", c.name, g.Info.Symmetrized)
		}
	}
	if _, err := LoadFrom(t.Context(), strings.NewReader(zst), "standard input", Options{}); err == nil ||
		err.Error() != "standard input: an archive: unpack it" {
		t.Error(err)
	}
}
