// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/tepsbench/teps/graph"
)

const blockBytes = 1 << 20 // parsed at a time: fits in the cache of a core, and takes a few milliseconds

type block struct {
	data   []byte
	line   int64 // lines of the file before the block
	offset int64 // bytes of the file before the block
	state  int64 // set by blocks.next, in the order of the file
	tuples int   // estimate, or the exact number if each record is a tuple
	room   []graph.Edge
	weight []float32 // of its tuples, if they are wanted
	result chan result
}

type result struct {
	edges []graph.Edge
	err   error
}

// blocks says how to parse the rest of a file.
type blocks struct {
	record int   // bytes of a record; 0: lines
	exact  bool  // each record is a tuple
	limit  int64 // bytes to read, or -1 for all; the file must have that many
	line   int   // bytes of a line; 0: maxLine
	// split replaces input.split, unless it is nil.
	split func(ctx context.Context, send func(*block) bool) error
	// next, unless nil, is called for each block in the order of the file and returns its state.
	next func(b *block) int64
	// parse appends the tuples of a block to edges. Several blocks are parsed at the same time.
	parse func(b *block, edges []graph.Edge) ([]graph.Edge, error)
}

// parallel reads and parses blocks, adds their tuples in the order of the file, and returns the first error in it.
func (in *input) parallel(b blocks) error {
	ctx, cancel := context.WithCancel(in.ctx)
	defer cancel()
	var (
		inFlight = 2*in.threads + 2 // enough to keep all threads busy
		order    = make(chan *block, inFlight)
		free     = make(chan []byte, inFlight)
		parsed   = make(chan []graph.Edge, inFlight) // arrays to parse into
		threads  = make(chan struct{}, in.threads)   // slots of parsing threads
		readErr  error
	)
	parse := func(block *block) {
		edges := block.room
		if !b.exact {
			edges = reuse(parsed, block.tuples)
		}
		data, lone := block.data, error(nil)
		if at := loneCR(data); at >= 0 && b.record == 0 && b.split == nil { // after an error of an earlier line
			block.data = data[:bytes.LastIndexByte(data[:at], '\n')+1]
			lone = errCR(block.line + 1 + int64(bytes.Count(block.data, newline)))
		}
		edges, err := b.parse(block, edges[:0])
		err = cmp.Or(err, lone)
		recycle(free, data)
		<-threads
		block.result <- result{edges, err}
	}
	go func() {
		defer close(order)
		split := b.split
		if split == nil {
			split = func(ctx context.Context, send func(*block) bool) error { return in.split(ctx, b, free, send) }
		}
		readErr = split(ctx, func(block *block) bool {
			block.result = make(chan result, 1)
			select {
			case order <- block:
			case <-ctx.Done():
				return false
			}
			threads <- struct{}{}
			go parse(block)
			return true
		})
	}()

	var err error
	for block := range order {
		r := <-block.result
		if err != nil {
			continue // until the reading goroutines have noticed
		}
		if err = r.err; err == nil && !b.exact {
			if len(block.weight) > 0 {
				in.weights = append(in.weights, block.weight)
				err = in.reserve(4 * int64(len(block.weight)))
			}
			err = cmp.Or(err, in.add(r.edges))
			recycle(parsed, r.edges)
		}
		if err != nil {
			cancel()
		} else if in.progress != nil {
			in.progress(in.source.n.Load(), in.size)
		}
	}
	return cmp.Or(in.ctx.Err(), err, readErr)
}

func recycle[T any](to chan<- []T, array []T) {
	select {
	case to <- array:
	default:
	}
}

// reuse returns an empty array with room for n elements.
func reuse[T any](from <-chan []T, n int) []T {
	select {
	case array := <-from:
		if cap(array) >= n {
			return array[:0]
		}
	default:
	}
	return make([]T, 0, n+n/8) // the next one may be a little larger
}

// split reads the blocks that b describes. It returns nil after the last one, and when send returns false.
func (in *input) split(ctx context.Context, b blocks, free <-chan []byte, send func(*block) bool) error {
	limit := cmp.Or(b.line, maxLine)
	var rest []byte // the beginning of a line or of a record
	for ctx.Err() == nil {
		if b.record == 0 && len(rest) > limit {
			return tooLong(in.line+1, rest, limit)
		}
		if len(rest) > maxLine { // text, a copy of it, and tuples
			if err := in.reserve(32 * int64(len(rest))); err != nil {
				return err
			}
		}
		data := reuse(free, 2*len(rest)+in.block)
		used := copy(data[:cap(data)], rest)
		space := cap(data)
		if b.limit >= 0 {
			space = int(min(int64(space), int64(used)+b.limit))
		}
		n, err := io.ReadFull(in.r, data[used:space])
		if b.limit >= 0 {
			b.limit -= int64(n)
		}
		data = data[:used+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF || b.limit == 0
		var failure error // after what has been read
		if err != nil && !end {
			failure = in.readError(err)
		}
		cut := len(data)
		if b.record > 0 {
			cut -= cut % b.record
		} else if !end {
			cut = bytes.LastIndexByte(data, '\n') + 1
		}
		if first := bytes.IndexByte(data, '\n'); b.record == 0 && (first > limit || first < 0 && len(data) > limit) {
			return tooLong(in.line+1, data, limit)
		}
		if cut == 0 && !end && failure == nil { // a long line
			rest = data
			continue
		}
		rest = append([]byte(nil), data[cut:]...)
		if data = data[:cut]; cut > 0 {
			block := &block{data: data, line: in.line, offset: in.offset}
			if b.next != nil {
				block.state = b.next(block)
			}
			in.offset += int64(cut)
			if b.record == 0 {
				block.tuples = bytes.Count(data, newline)
				in.line += int64(block.tuples)
			} else {
				block.tuples = cut / b.record
			}
			if b.exact {
				if block.room, err = in.room(block.tuples); err != nil {
					return err
				}
			}
			if !send(block) {
				return nil
			}
		}
		if failure != nil {
			return failure
		}
		if end {
			switch {
			case b.limit > 0:
				return in.atByte(in.offset+int64(len(rest)), "the file ends, but its header announces %d bytes more", b.limit)
			case len(rest) > 0:
				return in.atByte(in.offset, "the file ends within a record of %d bytes", b.record)
			}
			return nil
		}
	}
	return nil
}

var newline = []byte{'\n'}

// readLine returns the next line of the file without its end, or io.EOF. It is for headers.
func (in *input) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := in.r.ReadSlice('\n')
		in.offset += int64(len(part))
		line = append(line, part...)
		switch {
		case err == nil, err == io.EOF && len(line) > 0:
			if in.line++; loneCR(line) >= 0 {
				return nil, errCR(in.line)
			}
			return bytes.TrimRight(line, "\r\n \t"), nil
		case err == io.EOF:
			return nil, io.EOF
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > maxLine {
				return nil, tooLong(in.line+1, line, maxLine)
			}
		default:
			return nil, in.readError(err)
		}
	}
}

const maxLine = 1 << 20 // bytes of a line, unless the format lists neighbors in lines

// tooLong is the error of a line with more bytes than limit, which begins with text.
func tooLong(line int64, text []byte, limit int) error {
	if loneCR(text) >= 0 {
		return errCR(line)
	}
	return atLine(line, "the line is longer than %d bytes", limit)
}
