package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tepsbench/teps/graph"
)

// readOSM reads the roads of OpenStreetMap (https://wiki.openstreetmap.org/wiki/PBF_Format): the ways with a highway
// tag, paths included. Nodes that follow each other in a way are the ends of a tuple; the vertices are the nodes of
// tuples. A way may name a node twice in a row, which is not a road.
func readOSM(in *input) error {
	var labels collected
	err := in.parallel(blocks{split: in.splitOSM, parse: func(b *block, edges []graph.Edge) ([]graph.Edge, error) {
		limit := uint64(0)
		raw, err := decompressBlob(b.data)
		if err == nil {
			edges, err = roads(raw, edges, func(a, z uint64) graph.Edge {
				if max(a, z) >= firstLarge {
					return labels.edge(a, z)
				}
				limit = max(limit, a+1, z+1)
				return graph.MakeEdge(graph.Vertex(a), graph.Vertex(z))
			})
		}
		if err != nil {
			return edges, in.atByte(b.offset, "a block of OpenStreetMap: %v", err)
		}
		labels.saw(limit)
		return edges, nil
	}})
	if err != nil {
		return err
	}
	return in.number(&labels)
}

// The limits of the format.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32 << 20
)

// splitOSM reads blobs, each with a length and a header in front of it. Those that are not data are left out.
func (in *input) splitOSM(ctx context.Context, send func(*block) bool) error {
	for ctx.Err() == nil {
		start := in.offset
		size, err := in.take(4)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return in.truncated(start, err)
		}
		length := int64(binary.BigEndian.Uint32(size))
		if length > maxBlobHeader {
			return in.atByte(start, "not a file of OpenStreetMap: a header of %d bytes, want at most %d", length, maxBlobHeader)
		}
		header, err := in.take(length)
		if err != nil {
			return in.truncated(start, err)
		}
		var kind string
		blobSize := int64(-1)
		err = eachField(header, func(field protowire.Number, number uint64, data []byte) error {
			switch {
			case field == 1 && data != nil:
				kind = string(data)
			case field == 3 && data == nil:
				blobSize = int64(number)
			}
			return nil
		})
		if err != nil || blobSize < 0 || blobSize > maxBlob || kind == "" {
			return in.atByte(start, "not the header of a block of OpenStreetMap")
		}
		blob, err := in.take(blobSize)
		if err != nil {
			return in.truncated(start, err)
		}
		switch {
		case kind == "OSMHeader":
			if err := checkFeatures(blob); err != nil {
				return in.atByte(start, "the header of OpenStreetMap: %v", err)
			}
		case kind == "OSMData" && !send(&block{data: blob, offset: start}):
			return nil
		}
	}
	return nil
}

// take reads n bytes. It returns io.EOF at the end of the file.
func (in *input) take(n int64) ([]byte, error) {
	var data bytes.Buffer // grows with what the file holds
	copied, err := io.CopyN(&data, in.r, n)
	in.offset += copied
	switch {
	case err == io.EOF && copied > 0:
		return nil, io.ErrUnexpectedEOF
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, in.readError(err)
	}
	return data.Bytes(), nil
}

func (in *input) truncated(start int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return in.atByte(start, "the file ends within a block")
	}
	return err
}

// checkFeatures refuses files that need what is not known here.
func checkFeatures(blob []byte) error {
	raw, err := decompressBlob(blob)
	if err != nil {
		return err
	}
	return eachField(raw, func(field protowire.Number, _ uint64, data []byte) error {
		switch feature := string(data); {
		case field != 4, feature == "OsmSchema-V0.6", feature == "DenseNodes", feature == "HistoricalInformation":
			return nil
		default:
			return fmt.Errorf("it requires %q, which is not supported", feature)
		}
	})
}

// decompressBlob returns the contents of a Blob.
func decompressBlob(blob []byte) ([]byte, error) {
	var raw, packed []byte
	size := uint64(0)
	err := eachField(blob, func(field protowire.Number, number uint64, data []byte) error {
		switch field {
		case 1:
			raw = data
		case 2:
			size = number
		case 3:
			packed = data
		default:
			return errors.New("want data that is compressed by zlib or not at all")
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case raw != nil:
		return raw, nil
	case packed == nil || size > maxBlob:
		return nil, fmt.Errorf("want data of at most %d bytes", maxBlob)
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if n, err := io.Copy(&data, io.LimitReader(r, maxBlob+1)); err != nil {
		return nil, err
	} else if uint64(n) != size {
		return nil, fmt.Errorf("%d bytes, want %d", n, size)
	}
	return data.Bytes(), nil
}

// roads appends the tuples of a PrimitiveBlock.
func roads(block []byte, edges []graph.Edge, edge func(a, z uint64) graph.Edge) ([]graph.Edge, error) {
	highway := map[uint64]bool{} // the numbers of the word
	var groups [][]byte
	err := eachField(block, func(field protowire.Number, _ uint64, data []byte) error {
		switch field {
		case 1: // the table of strings
			n := uint64(0)
			return eachField(data, func(field protowire.Number, _ uint64, text []byte) error {
				if field == 1 {
					if string(text) == "highway" {
						highway[n] = true
					}
					n++
				}
				return nil
			})
		case 2:
			groups = append(groups, data)
		}
		return nil
	})
	if err != nil || len(highway) == 0 {
		return edges, err
	}
	for _, group := range groups {
		err := eachField(group, func(field protowire.Number, _ uint64, way []byte) (err error) {
			if field == 3 {
				edges, err = road(way, highway, edges, edge)
			}
			return err
		})
		if err != nil {
			return edges, err
		}
	}
	return edges, nil
}

// road appends the tuples of a Way, if one of its keys is among highway.
func road(way []byte, highway map[uint64]bool, edges []graph.Edge, edge func(a, z uint64) graph.Edge,
) ([]graph.Edge, error) {
	is := false
	var nodes []byte
	err := eachField(way, func(field protowire.Number, number uint64, data []byte) error {
		switch {
		case field == 2 && data != nil: // packed keys
			for len(data) > 0 {
				key, n := protowire.ConsumeVarint(data)
				if n < 0 {
					return protowire.ParseError(n)
				}
				is, data = is || highway[key], data[n:]
			}
		case field == 2:
			is = is || highway[number]
		case field == 8:
			nodes = data
		}
		return nil
	})
	if err != nil || !is {
		return edges, err
	}
	var node, last int64
	for first := true; len(nodes) > 0; first = false {
		delta, n := protowire.ConsumeVarint(nodes)
		if n < 0 {
			return edges, protowire.ParseError(n)
		}
		nodes = nodes[n:]
		last, node = node, node+protowire.DecodeZigZag(delta)
		if node < 0 {
			return edges, fmt.Errorf("node %d: want a number of at least 0", node)
		}
		if !first && node != last {
			edges = append(edges, edge(uint64(last), uint64(node)))
		}
	}
	return edges, nil
}

// eachField calls f with the fields of a message: a number, or data that is not nil.
func eachField(message []byte, f func(field protowire.Number, number uint64, data []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var number uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(message)
			if data == nil {
				data = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if kind == protowire.VarintType || kind == protowire.BytesType {
			if err := f(field, number, data); err != nil {
				return err
			}
		}
	}
	return nil
}
