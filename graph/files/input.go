// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tepsbench/teps/graph"
)

type input struct {
	ctx      context.Context
	source   *source
	r        *bufio.Reader // what the file holds, decompressed
	close    func()
	size     int64 // of the file, or 0
	threads  int
	block    int // bytes that are parsed at a time
	progress func(done, size int64)

	line, offset int64 // complete lines and bytes read from r
	info         Info
	memory       func(n int) ([]graph.Edge, error)
	reserve      func(n int64) error
	blocks       [][]graph.Edge
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

// whole replaces io.ErrUnexpectedEOF of a decompressor, which is the end of the file for a reader.
type whole struct{ r io.Reader }

func (w whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err == io.ErrUnexpectedEOF {
		err = errors.New("the file is cut off")
	}
	return n, err
}

// open starts to read and decompress. The caller closes the input, also after an error.
func open(ctx context.Context, r io.Reader, size int64, o Options) (*input, error) {
	if o.Threads < 1 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.block < 1 {
		o.block = blockBytes
	}
	in := &input{ctx: ctx, size: size, threads: o.Threads, block: o.block, progress: o.Progress, close: func() {},
		source: &source{ctx: ctx, r: r}, memory: o.Memory, reserve: o.Reserve}
	if in.memory == nil {
		in.memory = func(n int) ([]graph.Edge, error) { return make([]graph.Edge, n), nil }
	}
	if in.reserve == nil {
		in.reserve = func(int64) error { return nil }
	}
	if o.SHA256 {
		in.source.hash = sha256.New()
	}
	raw := bufio.NewReaderSize(in.source, 1<<18)
	in.r = raw
	head, err := raw.Peek(6)
	if err != nil && err != io.EOF {
		return in, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(raw)
		if err != nil {
			return in, fmt.Errorf("gzip: %w", err)
		}
		in.info.Compression, in.r = "gzip", bufio.NewReaderSize(whole{z}, 1<<18)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		var header zstd.Header
		head, _ = raw.Peek(zstd.HeaderMaxSize)
		if header.Decode(head) == nil && header.WindowSize <= maxWindow {
			err = in.reserve(2 * int64(header.WindowSize))
		}
		if err != nil && err != io.EOF {
			return in, err
		}
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(max(2, o.Threads)), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return in, fmt.Errorf("zstd: %w", err)
		}
		in.close = z.Close
		in.info.Compression, in.r = "zstd", bufio.NewReaderSize(whole{z}, 1<<18)
	case bytes.HasPrefix(head, []byte("BZh")), bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return in, errors.New("compressed by bzip2 or xz: decompress it, or compress it by gzip or zstd")
	}
	return in, nil
}

const maxWindow = 128 << 20 // of zstd, in bytes: as much as its own program decompresses without an option

// finish checks that nothing follows the graph, and completes in.info.
func (in *input) finish() error {
	if _, err := in.r.Peek(1); err == nil {
		return in.atByte(in.offset, "the file continues after the end of the graph")
	} else if err != io.EOF {
		return in.readError(err)
	}
	in.info.Bytes = in.source.n.Load()
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
		return &contentError{fmt.Sprintf(": before byte %d: %s: %v", in.source.n.Load(), in.info.Compression, err)}
	}
	return err
}

// contentError is an error about the content. Its text begins with the position.
type contentError struct{ text string }

func (e *contentError) Error() string { return e.text }

// named puts the name of the file in front of an error, unless the error of the system has it.
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
