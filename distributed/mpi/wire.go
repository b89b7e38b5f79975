// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/graph"
)

// The protocol between the engine and rank 0, in lines of JSON. Rank 0 says hello on its standard output, and answers
// every request with the reports of all ranks. Tuples follow a request to construct, as 32-bit numbers. If any rank is
// on another host, parents follow the reports of a search; otherwise the engine reads them in shared memory.

// Version changes with the protocol. A rank of another version is refused.
const Version = "mpi-rank/13"

// hello is the first message of rank 0.
type hello struct {
	Version string
	Socket  bool // the engine's socket is used instead of standard input and output
}

type command int

const (
	construct command = iota + 1
	search
	repeat
	cancel // the previous request; it has no answer
	quit
)

// request is a command of the engine to the ranks.
type request struct {
	Command       command
	Configuration distributed.Configuration
	Recipe        *graph.Kronecker // the ranks generate the tuples; nil: Tuples of them follow
	Tuples        int64
	Roots         []graph.Vertex // one for search
	Parents       bool           // those of search follow
	Duration      time.Duration  // of repeat
}

// address is that of memory of a process that others may read.
type address struct{ System, Path string }

// report is the result of a request on one rank. If parents follow, they are those of the rank's labels, by slot:
// label + 1, or 0.
type report struct {
	Error string

	// Of construct.
	Host         string
	Generated    time.Duration // the tuples
	Construction distributed.Construction
	Parents      address // of the rank's labels, by slot: graph.Vertex, or graph.Unreached

	Record   *distributed.Record // of search
	Searches int64               // of repeat
}

// wire is one end of the connection.
type wire struct {
	in  *bufio.Reader
	out *bufio.Writer
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)}
}

const blockWords = 1 << 14 // encoding/binary allocates a buffer for a whole slice

// send sends a line and the numbers that follow it.
func (w *wire) send(message any, follow ...[]uint32) error {
	if err := json.NewEncoder(w.out).Encode(message); err != nil {
		return err
	}
	for _, words := range follow {
		for block := range slices.Chunk(words, blockWords) {
			if err := binary.Write(w.out, binary.LittleEndian, block); err != nil {
				return err
			}
		}
	}
	return w.out.Flush()
}

func (w *wire) receive(message any) error {
	line, err := w.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, message)
}

func (w *wire) receiveWords(n int) ([]uint32, error) {
	words := make([]uint32, n)
	for block := range slices.Chunk(words, blockWords) {
		if err := binary.Read(w.in, binary.LittleEndian, block); err != nil {
			return nil, err
		}
	}
	return words, nil
}

const edgeWords = graph.EdgeBytes / 4

// wordsOf returns the memory of tuples as numbers, edgesOf the memory of numbers as tuples.
func wordsOf(edges []graph.Edge) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(edges))), len(edges)*edgeWords)
}

func edgesOf(words []uint32) []graph.Edge {
	return unsafe.Slice((*graph.Edge)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/edgeWords)
}

// pack encodes a value as a message between ranks: JSON with blanks up to whole words.
func pack(value any) []uint32 {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("mpi: encode %T: %v", value, err)) // a type that JSON cannot encode
	}
	words := make([]uint32, (len(data)+3)/4)
	_, _ = binary.Decode(append(data, "   "...), binary.LittleEndian, words) // long enough
	return words
}

func unpack(words []uint32, value any) error {
	data, err := binary.Append(nil, binary.LittleEndian, words)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}
