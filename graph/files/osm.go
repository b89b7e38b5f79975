// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"
	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files/internal/osmpb"
)

// The generated code needs protoc 3.21.12 and protoc-gen-go v1.36.12.
//
//go:generate sh -c "cd internal/osmpb && protoc --go_out=. --go_opt=paths=source_relative osm.proto"

// readOSM reads the roads of OpenStreetMap (https://wiki.openstreetmap.org/wiki/PBF_Format): the ways with a highway
// tag, paths included. Two different consecutive nodes of a way are a tuple; the vertices are the nodes of tuples.
func readOSM(in *input) error {
	var large sync.Mutex // held while a large block is decoded
	return in.labeled(blocks{split: in.splitOSM}, func(b *block, edges []graph.Edge, seen *seen) ([]graph.Edge, error) {
		raw, err := inflate(b.data)
		if err == nil && len(raw) > usualBlob {
			large.Lock()
			defer large.Unlock()
			if err := in.reserve(maxExpansion * int64(len(raw))); err != nil {
				return edges, err
			}
		}
		var data osmpb.PrimitiveBlock
		if err == nil {
			err = skipUnknown.Unmarshal(raw, &data)
		}
		if err == nil {
			edges, err = roads(&data, edges, seen)
		}
		if err != nil {
			return edges, in.atByte(b.offset, "a block of OpenStreetMap: %v", err)
		}
		return edges, nil
	})
}

const (
	maxBlobHeader = 64 << 10 // of the format
	maxBlob       = 32 << 20

	// A block has up to 8,000 entities, some hundred kilobytes. Larger ones are decoded one at a time, because an empty
	// way of two bytes becomes more than a hundred in memory.
	usualBlob    = 1 << 20
	maxExpansion = 128
)

// splitOSM reads blobs, each after its length and header. It skips blobs of unknown types.
func (in *input) splitOSM(ctx context.Context, send func(*block) bool) error {
	for ctx.Err() == nil {
		start := in.offset
		if _, err := in.r.Peek(1); err == io.EOF {
			return nil
		}
		size, err := in.take(start, 4)
		if err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint32(size))
		if length > maxBlobHeader {
			return in.atByte(start, "not a file of OpenStreetMap: a header of %d bytes, want at most %d", length, maxBlobHeader)
		}
		text, err := in.take(start, length)
		if err != nil {
			return err
		}
		var header osmpb.BlobHeader
		if err := proto.Unmarshal(text, &header); err != nil || header.Datasize == nil || header.Type == "" ||
			*header.Datasize < 0 || *header.Datasize > maxBlob {
			return in.atByte(start, "not the header of a block of OpenStreetMap")
		}
		if err := in.reserve(int64(*header.Datasize)); err != nil {
			return err
		}
		blob, err := in.take(start, int64(*header.Datasize))
		switch {
		case err != nil:
			return err
		case header.Type == "OSMHeader":
			if err := checkFeatures(blob); err != nil {
				return in.atByte(start, "the header of OpenStreetMap: %v", err)
			}
		case header.Type == "OSMData" && !send(&block{data: blob, offset: start}):
			return nil
		}
	}
	return nil
}

// take reads n bytes of the blob that begins at start. It allocates memory only for data that the file contains.
func (in *input) take(start, n int64) ([]byte, error) {
	var data bytes.Buffer
	copied, err := io.CopyN(&data, in.r, n)
	in.offset += copied
	switch {
	case err == io.EOF:
		return nil, in.atByte(start, "the file ends within a block")
	case err != nil:
		return nil, in.readError(err)
	}
	return data.Bytes(), nil
}

// checkFeatures rejects files with features that change the meaning of the ways, such as all versions of each way.
func checkFeatures(data []byte) error {
	var header osmpb.HeaderBlock
	raw, err := inflate(data)
	if err == nil && len(raw) > usualBlob {
		err = fmt.Errorf("want data of at most %d bytes", usualBlob)
	}
	if err == nil {
		err = skipUnknown.Unmarshal(raw, &header)
	}
	if err != nil {
		return err
	}
	for _, feature := range header.RequiredFeatures {
		if feature == "HistoricalInformation" {
			return errors.New("the file has a history of each way; extract one moment, with osmium time-filter for example")
		}
		if feature != "OsmSchema-V0.6" && feature != "DenseNodes" {
			return fmt.Errorf("it requires %q, which is not supported", feature)
		}
	}
	return nil
}

var skipUnknown = proto.UnmarshalOptions{DiscardUnknown: true}

// inflate returns the decompressed message of a blob.
func inflate(data []byte) (raw []byte, err error) {
	var blob osmpb.Blob
	if err := skipUnknown.Unmarshal(data, &blob); err != nil {
		return nil, err
	}
	switch raw = blob.Raw; {
	case raw == nil && blob.ZlibData == nil:
		return nil, errors.New("want data that is compressed by zlib or not at all")
	case raw == nil:
		r, err := zlib.NewReader(bytes.NewReader(blob.ZlibData))
		if err != nil {
			return nil, err
		}
		if raw, err = io.ReadAll(io.LimitReader(r, maxBlob+1)); err != nil {
			return nil, err
		}
	}
	if len(raw) > maxBlob {
		return nil, fmt.Errorf("want data of at most %d bytes", maxBlob)
	}
	if blob.RawSize != nil && len(raw) != int(*blob.RawSize) {
		return nil, fmt.Errorf("%d bytes, want %d", len(raw), *blob.RawSize)
	}
	return raw, nil
}

func roads(data *osmpb.PrimitiveBlock, edges []graph.Edge, seen *seen) ([]graph.Edge, error) {
	isHighway := func(key uint32) bool {
		words := data.Stringtable.GetS()
		return uint64(key) < uint64(len(words)) && string(words[key]) == "highway"
	}
	for _, group := range data.Primitivegroup {
		for _, way := range group.Ways {
			if !slices.ContainsFunc(way.Keys, isHighway) {
				continue
			}
			var node int64
			for i, delta := range way.Refs {
				last := node
				if node += delta; node < 0 {
					return edges, fmt.Errorf("node %d: want a number of at least 0", node)
				}
				if i > 0 && node != last {
					edges = append(edges, seen.edge(uint64(last), uint64(node)))
				}
			}
		}
	}
	return edges, nil
}
