// SPDX-License-Identifier: Apache-2.0

package files

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/tepsbench/teps/graph"
)

type input struct {
	ctx      context.Context
	source   *source
	r        *bufio.Reader // the content: what the file holds, decompressed
	around   io.Reader     // the archive that has the content, decompressed, or nil
	close    func()
	size     int64 // of the file in bytes, or 0
	content  int64 // bytes of the content, or 0 if its size is unknown
	threads  int
	block    int // bytes that are parsed at a time
	progress func(done, size int64)

	line, offset int64 // complete lines and bytes read from r
	info         Info
	memory       func(n int) ([]graph.Edge, error)
	reserve      func(n int64) error
	blocks       [][]graph.Edge
	wantWeights  bool
	weighted     bool // the format has weights, which are wanted
	weights      [][]float32
}

// source is the file as stored. It counts the bytes, and hashes them if hash is not nil.
type source struct {
	ctx  context.Context
	r    io.Reader
	n    atomic.Int64
	hash hash.Hash // or nil
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if s.hash != nil {
		s.hash.Write(p[:n])
	}
	s.n.Add(int64(n))
	return n, err
}

var errFollowed = errors.New("other data follow the compressed data")

// whole explains errors of a decompressor, and keeps the first. io.ErrUnexpectedEOF is the end of the file for a
// reader.
type whole struct {
	r   io.Reader
	err error
}

func (w *whole) Read(p []byte) (n int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	switch n, err = w.r.Read(p); err {
	case io.ErrUnexpectedEOF:
		err = errors.New("the file is cut off")
	case bzip2.StructuralError("bad magic value in continuation file"):
		err = errFollowed
	}
	w.err = err
	return n, err
}

// open starts to read and decompress, or to read Options.member of an archive. The caller closes the input, also after
// an error.
func open(ctx context.Context, r io.Reader, size int64, o Options) (*input, error) {
	if o.Threads < 1 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.block < 1 {
		o.block = blockBytes
	}
	in := &input{ctx: ctx, size: size, threads: o.Threads, block: o.block, progress: o.Progress, close: func() {},
		source: &source{ctx: ctx, r: r}, memory: o.Memory, reserve: o.Reserve, wantWeights: o.Weights}
	if in.memory == nil {
		in.memory = func(n int) ([]graph.Edge, error) { return make([]graph.Edge, n), nil }
	}
	if in.reserve == nil {
		in.reserve = func(int64) error { return nil }
	}
	if o.SHA256 {
		in.source.hash = sha256.New()
	}
	in.r, in.content = bufio.NewReaderSize(in.source, bufferBytes), size
	err := in.decompress()
	packed := o.Format == Packed || o.Format == Packed16 // whose labels may look like an archive
	if err == nil && (!packed || o.member != "") {
		if err = in.enterArchive(r, o.member); err == nil && o.member != "" {
			err = in.decompress()
		}
		if a := (*archive)(nil); errors.As(err, &a) {
			a.path = o.path
		}
	}
	return in, err
}

const (
	bufferBytes = 1 << 18
	maxWindow   = 128 << 20 // of zstd, in bytes: as much as its own program decompresses without an option
	maxXZ       = 64 << 20  // the dictionary of xz, in bytes: as much as xz -9 uses
)

// decompress replaces in.r by a reader of the decompressed content, if the content is compressed.
func (in *input) decompress() (err error) {
	var z io.Reader
	name, raw := "", in.r
	head, err := raw.Peek(zstd.HeaderMaxSize)
	switch {
	case len(head) == 0 && err != io.EOF:
		return err
	case bytes.HasPrefix(head, []byte("\x1f\x8b\x08")):
		name = "gzip"
		z, err = newMembers(raw)
	case bytes.HasPrefix(head, []byte("BZh")):
		name, z, err = "bzip2", bzip2.NewReader(raw), nil
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		name = "xz"
		if err = in.reserve(maxXZ); err == nil {
			z, err = xz.NewReader(raw, maxXZ)
		}
	default:
		var header zstd.Header
		for header.Decode(head) == nil && header.Skippable { // as pzstd writes before each frame
			name = "zstd"
			head = head[min(uint64(len(head)), uint64(header.HeaderSize)+uint64(header.SkippableSize)):]
		}
		if name == "" && !bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")) {
			return nil
		}
		name, err = "zstd", nil
		if header.WindowSize <= maxWindow {
			err = in.reserve(2 * int64(header.WindowSize))
		}
		if err == nil {
			var decoder *zstd.Decoder
			decoder, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(max(2, in.threads)),
				zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
			z, in.close = decoder, decoder.Close
		}
	}
	if err != nil {
		return decompression(name, err)
	}
	in.info.Compression, in.content, in.r = name, 0, bufio.NewReaderSize(&whole{r: z}, bufferBytes)
	return nil
}

// decompression returns an error of reading compressed data, with what helps.
func decompression(name string, err error) error {
	advice := ""
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, xz.ErrMemlimit) || errors.Is(err, zip.ErrAlgorithm) {
		advice = "; decompress the file first"
	}
	return fmt.Errorf("%s: %s%s", name, strings.TrimPrefix(err.Error(), name+": "), advice)
}

// members reads all members of a gzip file. Only zeros may follow them, as for gzip(1).
type members struct {
	z   *gzip.Reader
	raw *bufio.Reader
}

func newMembers(raw *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(raw)
	if err == nil {
		z.Multistream(false)
	}
	return &members{z, raw}, err
}

func (m *members) Read(p []byte) (n int, err error) {
	if n, err = m.z.Read(p); err != io.EOF {
		return n, err
	} else if n > 0 {
		return n, nil
	}
	head, _ := m.raw.Peek(2)
	if string(head) == "\x1f\x8b" {
		if err = m.z.Reset(m.raw); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		m.z.Multistream(false)
		return 0, err
	}
	for head, err = m.raw.Peek(1); err == nil && head[0] == 0; head, err = m.raw.Peek(1) {
		_, _ = m.raw.Discard(1)
	}
	return 0, cmp.Or(err, errFollowed)
}

// skipByteOrderMark skips the mark of UTF-8 at the beginning of text.
func (in *input) skipByteOrderMark() error {
	head, err := in.r.Peek(64)
	if len(head) == 0 && err != nil {
		return in.readError(err)
	}
	if isUTF16(head) {
		return errUTF16
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		n, _ := in.r.Discard(len(byteOrderMark))
		in.offset += int64(n)
	}
	return nil
}

// finish checks that nothing follows the graph, and completes in.info.
func (in *input) finish() error {
	if _, err := in.r.Peek(1); err == nil {
		return in.atByte(in.offset, "the file continues after the end of the graph")
	} else if err != io.EOF {
		return in.readError(err)
	}
	if in.around != nil { // with the checksum of its compression
		if _, err := io.Copy(io.Discard, in.around); err != nil {
			return in.readError(err)
		}
	}
	if in.source.hash != nil { // of the whole file, also if it is an archive
		if _, err := io.Copy(io.Discard, in.source); err != nil {
			return err
		}
	}
	in.info.Bytes = max(in.size, in.source.n.Load())
	if in.source.hash != nil {
		in.info.SHA256 = hex.EncodeToString(in.source.hash.Sum(nil))
	}
	return nil
}

// room returns memory for n more tuples.
func (in *input) room(n int) ([]graph.Edge, error) {
	if err := in.reserve(int64(n) * graph.EdgeBytes); err != nil {
		return nil, err
	}
	room, err := in.memory(n)
	if err == nil && n > 0 {
		in.blocks = append(in.blocks, room)
		in.info.Tuples += int64(n)
	}
	return room, err
}

func (in *input) add(edges []graph.Edge) error {
	room, err := in.room(len(edges))
	copy(room, edges)
	return err
}

// readError returns an error with the position at which reading failed.
func (in *input) readError(err error) error {
	switch {
	case err == nil, err == io.EOF, in.ctx.Err() != nil:
		return in.ctx.Err()
	case in.info.Compression != "":
		return &contentError{fmt.Sprintf(": before byte %d: %v", in.source.n.Load(), decompression(in.info.Compression, err))}
	}
	return err
}

// contentError is an error about the content. Its text begins with the position.
type contentError struct{ text string }

func (e *contentError) Error() string { return e.text }

// named puts the name of the file before an error, unless an error of the system has the name.
func named(name string, err error) error {
	var content *contentError
	switch {
	case errors.As(err, &content):
		return &contentError{name + content.text}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), err == nil:
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func atLine(line int64, format string, args ...any) error {
	return &contentError{fmt.Sprintf(":%d: ", line) + fmt.Sprintf(format, args...)}
}

func (in *input) atByte(offset int64, format string, args ...any) error {
	where := ""
	if in.info.Compression != "" {
		where = " of the decompressed data"
	}
	return &contentError{fmt.Sprintf(": byte %d%s: ", offset, where) + fmt.Sprintf(format, args...)}
}
