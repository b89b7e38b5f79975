// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files/internal/osmpb"
	"github.com/tepsbench/teps/internal/must"
)

// FuzzFormats reads any bytes in a format, or detects it: in blocks of the usual size, and in small ones on several
// threads, which must make no difference. What is accepted keeps the promises of Info.
func FuzzFormats(f *testing.F) {
	kinds := []struct {
		format Format
		seeds  []string
	}{
		{"", []string{"1 2\n", bannerMM + " matrix coordinate pattern general\n1 1 1\n1 1\n", "p sp 1 1\na 1 1 1\n",
			roadsFile("DenseNodes", "highway", []int64{1, 2}),
			"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x33\x54\x30\xe2\x02\x00\x3c\xd9\x4e\x34\x04\x00\x00\x00",
			"\x28\xb5\x2f\xfd\x04\x00\x21\x00\x00\x31\x20\x32\x0a\x00\x00\x00\x00"}},
		{EdgeList, []string{"# Undirected\r\n1\t2\r\n\r\n3 4\n", "1 2 5\n% x\r3 4 6.5e3",
			"\ufeff1,2\n 3 , 4,x\n", "18446744073709551615 0\n"}},
		{Packed, []string{strings.Repeat("\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x01\x00", 5)}},
		{Packed16, []string{strings.Repeat("\x01\x00\x00\x00\x00\x00\x00\x00", 4), strings.Repeat("\xff", 16)}},
		{WeightedList, []string{"0 1 -3\n1 2 .5\n1 1 inf\n"}},
		{MatrixMarket, []string{bannerMM + " matrix coordinate real general\n% c\n3 3 2\n1 1 1e-5\n2 3 -1\n",
			bannerMM + " matrix coordinate complex hermitian\r\n2 2 1\r\n2 1 0 1\r\n",
			bannerMM + " matrix coordinate pattern symmetric\n2 2 1\n2 1"}},
		{METIS, []string{" % c\n3 2\n2 3\n1\n1\n", "2 1 111 2\n1 2 3 2 9\n1 2 3 1 9", "3 0\n\n\n\n"}},
		{DIMACS, []string{"c x\np sp 3 2\na 1 2 5\nc\na 3 1 1\n", "p edge 2 1\nn 1 3\ne 1 2"}},
		{SG, []string{sg(0, 2, 2, []int64{0, 1, 2}, []int32{1, 0}), sg(0, 4, 1, []int64{0, 4}, []int32{0, 0, 0, 0}),
			sg(1, 1, 2, []int64{0, 1, 1}, []int32{1}) + sg(0, 0, 0, []int64{0, 1}, []int32{0})[9:]}},
		{WSG, []string{sg(0, 2, 2, []int64{0, 1, 2}, []int32{1, 9, 0, 9})}},
		{Adjacency, []string{"AdjacencyGraph\n2\n2\n0\n1\n1\n0\n", "WeightedAdjacencyGraph\r\n1\n1\n0\n0\n.5\n"}},
		{GBBS, []string{gbbs([]uint64{0, 1, 1}, 1) + gbbs([]uint64{0, 0, 1}, 0)}},
		{OSM, []string{roadsFile("DenseNodes", "highway", []int64{1, 2, 2, 6}, []int64{6, 1 << 50})}},
	}
	for i, kind := range kinds {
		for _, seed := range kind.seeds {
			f.Add(byte(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		format := kinds[int(kind)%len(kinds)].format
		read := func(o Options) (*Graph, []graph.Edge, error) {
			g, err := LoadFrom(context.Background(), bytes.NewReader(data), "a", o)
			if err != nil {
				return nil, nil, err
			}
			return g, slices.Concat(g.blocks...), nil
		}
		g, edges, err := read(Options{Format: format, Threads: 1, block: 1 << 12})
		_, others, otherErr := read(Options{Format: format, Threads: 3, block: 16})
		switch {
		case err != nil:
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "a:") {
				t.Errorf("not one line with the name: %v", err)
			}
			if otherErr == nil || err.Error() != otherErr.Error() {
				t.Errorf("in one block: %v; in small ones: %v", err, otherErr)
			}
			return
		case otherErr != nil || !slices.Equal(edges, others):
			t.Fatalf("in one block: %v; in small ones: %v, %v", edges, others, otherErr)
		}
		for _, e := range edges {
			if u, v := e.Ends(); int64(max(u, v)) >= g.Vertices() {
				t.Fatalf("tuple %v of %d vertices", e, g.Vertices())
			}
		}
		if labels := g.Info.Labels; labels != nil && (!slices.IsSorted(labels) || int64(len(labels)) != g.Vertices()) {
			t.Errorf("labels %v of %d vertices", labels, g.Vertices())
		}
		if in := bytes.HasPrefix(data, []byte("\x1f\x8b")) || bytes.HasPrefix(data, []byte("\x28\xb5")); !in &&
			g.Tuples() > int64(len(data)) {
			t.Errorf("%d tuples of %d bytes", g.Tuples(), len(data))
		}
	})
}

// roadsFile returns a file of one block with ways of the given nodes, each with the keys "name" and key. The header
// requires a feature.
func roadsFile(feature, key string, ways ...[]int64) string {
	data := &osmpb.PrimitiveBlock{Stringtable: &osmpb.StringTable{S: [][]byte{nil, []byte("name"), []byte(key)}}}
	group := &osmpb.PrimitiveGroup{}
	for _, nodes := range ways {
		way, last := &osmpb.Way{Keys: []uint32{1, 2}}, int64(0)
		for _, n := range nodes {
			way.Refs, last = append(way.Refs, n-last), n
		}
		group.Ways = append(group.Ways, way)
	}
	data.Primitivegroup = append(data.Primitivegroup, group)
	raw := marshal(data)
	return osmBlob("OSMHeader", &osmpb.Blob{Raw: marshal(&osmpb.HeaderBlock{RequiredFeatures: []string{feature}})}) +
		osmBlob("OSMData", &osmpb.Blob{Raw: raw, RawSize: proto.Int32(int32(len(raw)))})
}

func osmBlob(kind string, blob *osmpb.Blob) string {
	data := marshal(blob)
	header := marshal(&osmpb.BlobHeader{Type: kind, Datasize: proto.Int32(int32(len(data)))})
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(header)))) + string(header) + string(data)
}

func marshal(m proto.Message) []byte {
	data := must.Get(proto.Marshal(m))
	return data
}

func FuzzLDBC(f *testing.F) {
	f.Add("1\n2\n3\n", "1 2\n2 3\n", "graph.a.directed = false\n")
	f.Add("5\r\n70000000000 \n", "5 70000000000 1.5\n", "")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, vertices, edges, properties string) {
		saved(t, dir, "a.e", edges)
		saved(t, dir, "a.properties", properties)
		g, err := Load(context.Background(), saved(t, dir, "a.v", vertices), Options{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), dir) {
				t.Errorf("not one line with the name: %v", err)
			}
			return
		}
		for _, e := range edgesOf(g) {
			if max(e[0], e[1]) >= g.Vertices() {
				t.Fatalf("tuple %v of %d vertices", e, g.Vertices())
			}
		}
		if int64(len(strings.Fields(vertices))) != g.Vertices() {
			t.Errorf("%d vertices, want %d", g.Vertices(), len(strings.Fields(vertices)))
		}
	})
}

func TestWaysThatAreRoads(t *testing.T) {
	large := zipped(t, ".zlib", string(make([]byte, maxBlob+1)))
	unpacked := []byte{2 << 3, 2, 8 << 3, 10, 8 << 3, 4} // a way with key 2 and the nodes 5 and 7, as bare fields
	group := append([]byte{2<<3 | 2, byte(len(unpacked) + 2), 3<<3 | 2, byte(len(unpacked))}, unpacked...)
	table := marshal(&osmpb.PrimitiveBlock{Stringtable: &osmpb.StringTable{S: [][]byte{nil, nil, []byte("highway")}}})
	for name, c := range map[string]struct {
		text string
		want [][2]int64
		err  string
	}{
		// A node that is there twice in a row does not count, nor does a way of a single node.
		"roads": {roadsFile("DenseNodes", "highway", []int64{5, 7, 7, 5}, []int64{9}, []int64{7, 11}),
			[][2]int64{{5, 7}, {7, 5}, {7, 11}}, ""},
		"a river":            {roadsFile("DenseNodes", "waterway", []int64{5, 7}), nil, ""},
		"refs not packed":    {osmBlob("OSMData", &osmpb.Blob{Raw: append(table, group...)}), [][2]int64{{5, 7}}, ""},
		"another type":       {osmBlob("Index", &osmpb.Blob{}), nil, ""},
		"a key of no string": {osmBlob("OSMData", &osmpb.Blob{Raw: group}), nil, ""},
		"an unknown feature": {roadsFile("WideNodes!", ""), nil,
			`0: the header of OpenStreetMap: it requires "WideNodes!", which is not supported`},
		"a history": {roadsFile("HistoricalInformation", ""), nil,
			"0: the header of OpenStreetMap: the file has a history of each way; " +
				"extract one moment, with osmium time-filter for example"},
		"a negative node": {roadsFile("DenseNodes", "highway", []int64{3, -3}), nil,
			"31: a block of OpenStreetMap: node -3: want a number of at least 0"},
		"data of other sizes": {osmBlob("OSMData", &osmpb.Blob{Raw: []byte{}, RawSize: proto.Int32(1)}), nil,
			"0: a block of OpenStreetMap: 0 bytes, want 1"},
		"data of any size": {osmBlob("OSMData", &osmpb.Blob{ZlibData: []byte(large)}), nil,
			"0: a block of OpenStreetMap: want data of at most 33554432 bytes"},
	} {
		got, _, err := tuples("a.osm.pbf", c.text)
		if c.err != "" {
			if want := "a.osm.pbf: byte " + c.err; err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		} else if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v, (-want +got)\n%s", name, err, diff)
		}
	}
}
