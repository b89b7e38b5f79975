// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Format is a format of files.
type Format string

// The formats.
const (
	Packed       Format = "packed"   // Graph500, 12 bytes per tuple, see graph.Edge
	Packed16     Format = "packed16" // Graph500, two 64-bit numbers a tuple, little endian
	EdgeList     Format = "el"       // two numbers per line, and columns that are ignored; # and % begin comments
	WeightedList Format = "wel"      // two numbers and a weight per line
	MatrixMarket Format = "mtx"      // coordinate MatrixMarket
	METIS        Format = "metis"    // one vertex per line
	DIMACS       Format = "dimacs"   // one arc or edge per line
	LDBC         Format = "ldbc"     // LDBC Graphalytics, two files and properties
	SG           Format = "sg"       // GAPBS, serialized graph
	WSG          Format = "wsg"      // GAPBS, serialized graph with weights
	OSM          Format = "osm"      // OpenStreetMap, its roads
)

// codec is a format with its extensions, the usual one first, its reader and its writer. Load itself reads LDBC.
type codec struct {
	format     Format
	extensions []string
	read       func(in *input) error
	write      func(out *output, name string) error // nil: it is read only
}

func formats() []codec {
	return []codec{
		{Packed, []string{".tuples"}, readPacked, writePacked},
		{Packed16, []string{".tuples16"}, readPacked16, writePacked16},
		{EdgeList, []string{".el", ".txt", ".edges", ".snap"}, readEdgeList, writeEdgeList},
		{WeightedList, []string{".wel"}, readWeightedList, writeWeightedList},
		{MatrixMarket, []string{".mtx"}, readMatrixMarket, writeMatrixMarket},
		{METIS, []string{".graph", ".metis"}, readMETIS, writeMETIS},
		{DIMACS, []string{".gr", ".col", ".edge"}, readDIMACS, writeDIMACS},
		{LDBC, []string{".e", ".v"}, nil, writeLDBC},
		{SG, []string{".sg"}, readSG, writeSG},
		{WSG, []string{".wsg"}, readWSG, nil},
		{OSM, []string{".pbf"}, readOSM, nil},
	}
}

func formatOf(name Format) codec {
	for _, f := range formats() {
		if f.format == name {
			return f
		}
	}
	return codec{}
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f.format))
	}
	return strings.Join(names, ", ")
}

func splitCompression(name string) (stem, compression string) {
	switch ext := filepath.Ext(name); ext {
	case ".gz", ".zst", ".zstd":
		return strings.TrimSuffix(name, ext), ext
	}
	return name, ""
}

func formatOfName(name string) Format {
	stem, _ := splitCompression(name)
	ext := strings.ToLower(filepath.Ext(stem))
	for _, f := range formats() {
		if slices.Contains(f.extensions, ext) {
			return f.format
		}
	}
	return ""
}

// detect determines the format from the first bytes. It never returns METIS, whose lines look like an edge list.
func (in *input) detect() (Format, error) {
	head, err := in.r.Peek(detectBytes)
	if len(head) == 0 && err != nil {
		return EdgeList, in.readError(err)
	}
	switch {
	case len(head) >= len(bannerMM) && strings.EqualFold(string(head[:len(bannerMM)]), bannerMM):
		return MatrixMarket, nil
	case len(head) > 15 && bytes.HasPrefix(head[4:], []byte("\x0a\x09OSMHeader")):
		return OSM, nil
	case !slices.ContainsFunc(head, func(c byte) bool { return c < ' ' && c != '\n' && !blank(c) || c == 0x7f }):
		if dimacsLine.Match(head) {
			return DIMACS, nil
		}
		return EdgeList, nil
	case isSG(head, in.size, in.info.Compression != ""):
		return SG, nil
	case isPacked16(head):
		return Packed16, nil
	case isPacked(head):
		return Packed, nil
	}
	return "", errors.New("unknown content; give the file the extension of its format, such as .mtx or .graph")
}

const detectBytes = 48 << 10 // needed by detect; a multiple of 12 and 16

// dimacsLine is the first line of a DIMACS file: sizes or a comment.
var dimacsLine = regexp.MustCompile(`^(p .*\S|c([ \r\n]|$))`)

// isSG reports whether the header of a GAPBS graph without weights explains the size of the file.
func isSG(head []byte, size int64, compressed bool) bool {
	if len(head) < sgHeader || head[0] > 1 || size == 0 || compressed {
		return false
	}
	entries, vertices := binary.LittleEndian.Uint64(head[1:]), binary.LittleEndian.Uint64(head[9:])
	const limit = 1 << 48
	if entries > limit || vertices > limit {
		return false
	}
	arrays := (vertices+1)*8 + entries*4
	return sgHeader+arrays<<head[0] == uint64(size)
}

// isPacked16 reports whether the upper 16 bits of all 64-bit numbers are 0, and head is not a packed list.
func isPacked16(head []byte) bool {
	if len(head)%16 != 0 {
		return false
	}
	zero := true // the upper words
	for i := 4; i < len(head); i += 8 {
		word := binary.LittleEndian.Uint32(head[i:])
		if word>>16 != 0 {
			return false
		}
		zero = zero && word == 0
	}
	return zero || !hasSmallLabels(head)
}

func isPacked(head []byte) bool { return len(head)%12 == 0 && hasSmallLabels(head) }

// hasSmallLabels reports whether all labels of packed tuples are below 2^40.
func hasSmallLabels(head []byte) bool {
	for i := 8; i+4 <= len(head); i += 12 {
		if word := binary.LittleEndian.Uint32(head[i:]); word&0xff00ff00 != 0 {
			return false
		}
	}
	return true
}
