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
	Adjacency    Format = "adj"      // PBBS, Ligra and GBBS, adjacency graph
	GBBS         Format = "gbbs"     // GBBS, binary
	SG           Format = "sg"       // GAPBS, serialized graph
	WSG          Format = "wsg"      // GAPBS, serialized graph with weights
	OSM          Format = "osm"      // OpenStreetMap, its roads
)

// codec is a format with its extensions, the usual one first, its reader and its writer. Load itself reads the several
// files of LDBC.
type codec struct {
	format     Format
	extensions []string
	text       bool
	read       func(in *input) error
	write      func(out *output, name string) error // nil: it is read only
}

func formats() []codec {
	return []codec{
		{Packed, []string{".tuples"}, false, readPacked, writePacked},
		{Packed16, []string{".tuples16"}, false, readPacked16, writePacked16},
		{EdgeList, []string{".el", ".txt", ".edges", ".snap"}, true, readEdgeList, writeEdgeList},
		{WeightedList, []string{".wel"}, true, readWeightedList, writeWeightedList},
		{MatrixMarket, []string{".mtx"}, true, readMatrixMarket, writeMatrixMarket},
		{METIS, []string{".graph", ".metis"}, true, readMETIS, writeMETIS},
		{DIMACS, []string{".gr", ".col", ".edge"}, true, readDIMACS, writeDIMACS},
		{LDBC, []string{".e", ".v"}, true, readEdgesLDBC, writeLDBC},
		{Adjacency, []string{".adj"}, true, readAdjacency, nil},
		{GBBS, []string{".bin"}, false, readGBBS, nil},
		{SG, []string{".sg"}, false, readSG, writeSG},
		{WSG, []string{".wsg"}, false, readWSG, nil},
		{OSM, []string{".pbf"}, false, readOSM, nil},
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

// Formats returns the names of all formats.
func Formats() (names []string) {
	for _, f := range formats() {
		names = append(names, string(f.format))
	}
	return names
}

func compressions() []string { return []string{".gz", ".zst", ".zstd", ".bz2", ".xz"} }

// splitCompression splits a name such as a.mtx.GZ into a.mtx and .GZ.
func splitCompression(name string) (stem, compression string) {
	ext := filepath.Ext(name)
	if slices.Contains(compressions(), strings.ToLower(ext)) {
		return strings.TrimSuffix(name, ext), ext
	}
	return name, ""
}

// extension returns the extension of a name in lower case, without that of a compression.
func extension(name string) string {
	stem, _ := splitCompression(name)
	return strings.ToLower(filepath.Ext(stem))
}

// formatOfName returns the format of a name, or nothing. KONECT publishes edge lists as out.NAME.
func formatOfName(name string) Format {
	for _, f := range formats() {
		if slices.Contains(f.extensions, extension(name)) {
			return f.format
		}
	}
	if strings.HasPrefix(filepath.Base(name), "out.") {
		return EdgeList
	}
	return ""
}

// ErrUnknownFormat is the error of a file that needs Options.Format.
var ErrUnknownFormat = errors.New("neither the name nor the content says the format of the file")

// detect determines the format from the first bytes of the content. It does not recognize METIS, because such a file
// may also be an edge list.
func (in *input) detect() (Format, error) {
	head, err := in.r.Peek(detectBytes)
	if len(head) == 0 && err != nil {
		return EdgeList, in.readError(err)
	}
	text := bytes.TrimPrefix(head, []byte(byteOrderMark))
	switch {
	case matrixBanner.Match(text):
		return MatrixMarket, nil
	case adjacencyTitle.Match(text):
		return Adjacency, nil
	case len(head) > 15 && bytes.HasPrefix(head[4:], []byte("\x0a\x09OSMHeader")):
		return OSM, nil
	case isUTF16(head):
		return "", errUTF16
	case !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' && c != '\n' && !blank(c) || c == 0x7f }):
		return in.detectText(text, len(head) < detectBytes)
	case len(bytes.Trim(head, "\x00")) == 0:
		return "", ErrUnknownFormat
	case isGBBS(head):
		return GBBS, nil
	case isSG(head, in.content):
		return SG, nil
	case isPacked16(head):
		return Packed16, nil
	case len(head)%12 == 0 && hasSmallLabels(head):
		return Packed, nil
	}
	return "", ErrUnknownFormat
}

const detectBytes = 48 << 10 // needed by detect; a multiple of 12 and 16

// detectText determines the format of lines: DIMACS, or an edge list whose lines have as many columns as the first one.
// The text is the whole file, or its first lines and a part of one.
func (in *input) detectText(text []byte, whole bool) (Format, error) {
	if dimacsLine.Match(text) {
		return DIMACS, nil
	}
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	if at := loneCR(text); at >= 0 {
		return "", errCR(int64(1 + bytes.Count(text[:at], newline)))
	}
	columns := 0
	for line := range bytes.Lines(text) {
		line, _, _ = bytes.Cut(line, []byte("{")) // a dictionary of networkx
		fields := bytes.FieldsFunc(line, func(r rune) bool { return r == '\n' || r == ',' || r < ' ' || r == ' ' })
		if len(fields) == 0 || strings.IndexByte(listComments, fields[0][0]) >= 0 {
			continue
		}
		if columns == 0 {
			columns = len(fields)
		}
		if len(fields) != columns {
			return "", ErrUnknownFormat
		}
	}
	if !in.accepts(text, readEdgeList) || columns > 0 && in.accepts(text, func(trial *input) error {
		complete, err := trial.readNeighbors()
		if err == nil && whole {
			err = complete()
		}
		return err
	}) {
		return "", ErrUnknownFormat
	}
	return EdgeList, nil
}

// accepts reports whether a reader takes the text.
func (in *input) accepts(text []byte, read func(*input) error) bool {
	trial, err := open(in.ctx, bytes.NewReader(text), 0, Options{Threads: 1})
	defer trial.close()
	return err == nil && read(trial) == nil
}

// dimacsLine is the first line of a DIMACS file: sizes or a comment.
var dimacsLine = regexp.MustCompile(`^[ \t\r\n]*(p[ \t]+[a-z]|c([ \t\r\n]|$))`)

const byteOrderMark = "\ufeff" // in UTF-8

var errUTF16 = errors.New("text in UTF-16: convert it to UTF-8, with iconv for example")

// isUTF16 reports whether text begins with the byte order mark of UTF-16, or with two characters of ASCII in UTF-16.
func isUTF16(head []byte) bool {
	ascii := func(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || blank(c) }
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || len(head) >= 4 &&
		(head[1]|head[3] == 0 && ascii(head[0]) && ascii(head[2]) || head[0]|head[2] == 0 && ascii(head[1]) && ascii(head[3]))
}

// isSG reports whether the header of a GAPBS graph without weights explains the size of the content, 0 if unknown.
func isSG(head []byte, size int64) bool {
	if len(head) < sgHeader || head[0] > 1 || size == 0 {
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

// hasSmallLabels reports whether all labels of packed tuples are below 2^40.
func hasSmallLabels(head []byte) bool {
	for i := 8; i+4 <= len(head); i += 12 {
		if word := binary.LittleEndian.Uint32(head[i:]); word&0xff00ff00 != 0 {
			return false
		}
	}
	return true
}
