package distributed

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"time"

	"github.com/tepsbench/teps/graph"
)

// What the engine and rank 0 say to each other over the standard input and output of mpirun, which carries them to
// wherever rank 0 runs: requests and answers as gob, tuples and parents as plain numbers behind them.

// protocolVersion changes with every change of what follows: a teps-rank of another build is refused.
const protocolVersion = "teps-rank/2"

type requestKind int

const (
	requestConstruct requestKind = iota + 1
	requestSearch
	requestRepeat
	requestCancel // of the request before; it has no answer of its own
	requestQuit
)

// request is what the engine asks of the ranks.
type request struct {
	Kind          requestKind
	Configuration Configuration
	Recipe        *graph.Kronecker // the ranks generate the tuples; nil: Tuples of them follow
	Tuples        int64
	Root          int64
	Roots         []int64       // to repeat from
	Duration      time.Duration // to repeat for
}

// answer is what the ranks make of a request. The first answer comes without a request.
type answer struct {
	Version string
	Failure string // empty: it worked
	Kind    failureKind
	Built   *built
	Records []SearchRecord // by rank; Labels parents follow, as 32-bit label + 1, rank by rank and slot by slot
	Elapsed time.Duration
	// Searches is how many were repeated.
	Searches int64
}

// built is what kernel 1 has made.
type built struct {
	Labels    int64
	Bytes     int64
	Entries   int64
	Elapsed   time.Duration
	Phases    [][]timed // by rank
	Hosts     []string  // by rank
	Generated time.Duration
}

// failureKind keeps the identity of an error.
type failureKind int

const (
	failureOther failureKind = iota
	failureCancelled
	failureTuples
	failureMemory
)

// wire is one end of the conversation.
type wire struct {
	in   *bufio.Reader
	out  *bufio.Writer
	from *gob.Decoder
	to   *gob.Encoder
	both io.Closer // nil: in and out are closed by others
}

func newWire(in io.Reader, out io.Writer) *wire {
	w := &wire{in: bufio.NewReaderSize(in, 1<<16), out: bufio.NewWriterSize(out, 1<<16)}
	w.from, w.to = gob.NewDecoder(w.in), gob.NewEncoder(w.out)
	return w
}

// say sends a request or an answer, and what follows it.
func (w *wire) say(what any, follow ...func(io.Writer) error) error {
	if err := w.to.Encode(what); err != nil {
		return err
	}
	for _, f := range follow {
		if err := f(w.out); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

const edgeWords = graph.EdgeBytes / 4

// readWords fills words with numbers of 32 bits.
func readWords(r io.Reader, words []uint32) error {
	var block [1 << 14]byte
	for len(words) > 0 {
		n := min(len(words), len(block)/4)
		if _, err := io.ReadFull(r, block[:4*n]); err != nil {
			return fmt.Errorf("read %d numbers: %w", n, err)
		}
		for k := range n {
			words[k] = binary.LittleEndian.Uint32(block[4*k:])
		}
		words = words[n:]
	}
	return nil
}

func writeWords(w io.Writer, words []uint32) error {
	var block [1 << 14]byte
	for len(words) > 0 {
		n := min(len(words), len(block)/4)
		for k, word := range words[:n] {
			binary.LittleEndian.PutUint32(block[4*k:], word)
		}
		if _, err := w.Write(block[:4*n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}

// edges makes tuples of their packed words, three each.
func edges(words []uint32) []graph.Edge {
	list := make([]graph.Edge, len(words)/edgeWords)
	for k := range list {
		u, v, high := words[3*k], words[3*k+1], words[3*k+2]
		list[k] = graph.MakeEdge(graph.Vertex(u)|graph.Vertex(high&0xffff)<<32, graph.Vertex(v)|graph.Vertex(high>>16)<<32)
	}
	return list
}
