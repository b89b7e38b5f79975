// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/tepsbench/teps/graph/files/internal/osmpb"
	"github.com/tepsbench/teps/internal/must"
)

// zipped returns parts as one compressed file. That of .window needs more memory than readers give it.
func zipped(t *testing.T, compression string, parts ...string) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch compression {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zlib":
		w = zlib.NewWriter(&out)
	case ".zst":
		w, _ = zstd.NewWriter(&out)
	case ".window":
		w, _ = zstd.NewWriter(&out, zstd.WithWindowSize(256<<20))
	}
	for _, part := range parts {
		must.Get(io.WriteString(w, part))
	}
	must.Do(w.Close())
	return out.String()
}

// Files whose contents take far more memory than the files end with one line, before they have taken it.
func TestBombs(t *testing.T) {
	const limit = 6 << 20
	full := errors.New("full")
	var sparse, sparseVertices, huge strings.Builder
	for i := range uint64(1 << 17) {
		fmt.Fprintf(&sparseVertices, "%d\n", i<<6)
		if i < 1<<16 {
			fmt.Fprintf(&sparse, "%d %d\n", i<<20, i<<20+64)
			fmt.Fprintf(&huge, "%d %d\n", 1<<62+i<<10, 1<<62+i<<10+64)
		}
	}
	long := strings.Repeat("1 ", 1<<20)
	empty := strings.Repeat("\x1a\x00", 1<<20) // two bytes a way, in a group
	group := string(binary.AppendUvarint([]byte{2<<3 | 2}, uint64(len(empty)))) + empty
	header := sg(0, 0, 1<<31-1, nil, nil)
	dir := t.TempDir()
	saved(t, dir, "vertices.e", "0 64\n")
	for name, c := range map[string]struct{ text, want string }{
		"line.el":          {long, ":1: the line is longer than 1048576 bytes"},
		"comment.el.gz":    {zipped(t, ".gz", "1 2\n#", long), ":2: the line is longer than 1048576 bytes"},
		"konect.tsv":       {"% asym unweighted\n% " + long, ":2: the line is longer than 1048576 bytes"},
		"last.gr":          {"p sp 2 1\na 1 2 3\nc" + long, ":3: the line is longer than 1048576 bytes"},
		"neighbors.graph":  {"3 2\n" + long, ": full"},
		"banner.mtx":       {bannerMM + long, ":1: the line is longer than 1048576 bytes"},
		"window.el.zst":    {zipped(t, ".window", strings.Repeat("1 2\n", 1<<19)), ": before byte"},
		"tuples.el.gz":     {zipped(t, ".gz", strings.Repeat("1 2\n", 1<<20)), ": full"},
		"tuples.tuples.gz": {zipped(t, ".gz", strings.Repeat("\x00", 9<<20)), ": full"},
		"offsets.sg.gz":    {zipped(t, ".gz", header, strings.Repeat("\x00", 10<<20)), ": full"},
		"sparse.el":        {sparse.String(), ": full"},
		"huge.el":          {huge.String(), ": full"},
		"vertices.v":       {sparseVertices.String(), ": full"},
		"ways.pbf":         {osmBlob("OSMData", &osmpb.Blob{ZlibData: []byte(zipped(t, ".zlib", group))}), ": full"},
		"stated.pbf":       {osmBlob("OSMData", &osmpb.Blob{Raw: []byte(group)}), ": full"},
		"features.pbf": {osmBlob("OSMHeader", &osmpb.Blob{ZlibData: []byte(zipped(t, ".zlib", group))}),
			": byte 0: the header of OpenStreetMap: want data of at most 1048576 bytes"},
	} {
		path := saved(t, dir, name, c.text)
		reserved := make(chan int64, 1)
		reserved <- 0
		_, err := Load(t.Context(), path, Options{Threads: 2, Reserve: func(n int64) error {
			sum := <-reserved + n
			reserved <- sum
			if sum > limit {
				return full
			}
			return nil
		}})
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
