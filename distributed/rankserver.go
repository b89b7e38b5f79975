package distributed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// ServeRank is the life of a rank that is a process of its own: it does what the engine at the other end of in and out
// asks for, until that asks to quit or is gone. Only rank 0 uses in and out; it tells the others.
func ServeRank(world Comm, in io.Reader, out io.Writer) error {
	r := &rank{world: world}
	if world.Rank() == 0 {
		return r.lead(newWire(in, out))
	}
	for {
		var q request
		if err := decode(world.Receive(0), &q); err != nil {
			return err
		}
		if q.Kind == requestQuit {
			return nil
		}
		_ = r.do(context.Background(), q, nil, nil) // rank 0 answers for all
	}
}

// rank is what one process holds.
type rank struct {
	world  Comm
	search *search // nil: no graph
	out    []graph.Vertex
}

// lead is the life of rank 0.
func (r *rank) lead(w *wire) error {
	if err := w.say(answer{Version: protocolVersion}); err != nil {
		return err
	}
	requests, taken := make(chan asked), make(chan struct{})
	go listen(w, requests, taken)
	for q := range requests {
		if q.Kind == requestQuit {
			break
		}
		r.tell(q.request)
		if err := r.do(q.ctx, q.request, w, func() { taken <- struct{}{} }); err != nil {
			return err
		}
	}
	r.tell(request{Kind: requestQuit})
	return nil
}

// asked is a request, and a context that ends when it is cancelled.
type asked struct {
	request
	ctx context.Context
}

// listen reads requests. The tuples behind one are read by whoever does it; listen goes on when they are taken. A cancel
// ends the context of the request before it.
func listen(w *wire, requests chan<- asked, taken <-chan struct{}) {
	defer close(requests)
	cancel := func() {}
	for {
		var q request
		if err := w.from.Decode(&q); err != nil {
			cancel() // the engine is gone
			return
		}
		cancel()
		if q.Kind == requestCancel {
			continue
		}
		a := asked{request: q}
		a.ctx, cancel = context.WithCancel(context.Background())
		requests <- a
		if q.Kind == requestConstruct {
			<-taken
		}
	}
}

// tell gives a request to the other ranks.
func (r *rank) tell(q request) {
	message := encode(q)
	for k := 1; k < r.world.Size(); k++ {
		r.world.Send(k, message)
	}
}

// do does a request with all other ranks. w is nil but on rank 0; its errors are those of w.
func (r *rank) do(ctx context.Context, q request, w *wire, taken func()) error {
	if q.Kind == requestConstruct {
		return r.construct(ctx, q, w, taken)
	}
	return r.traverse(ctx, q, w)
}

// tuples gets the rank's share: it generates them, or receives them from rank 0, which reads them from the engine.
func (r *rank) tuples(ctx context.Context, q request, w *wire) (list []graph.Edge, position int64, err error) {
	total, size := q.Tuples, int64(r.world.Size())
	if q.Recipe != nil {
		total = q.Recipe.Tuples()
	}
	bounds := func(k int64) (from, to int64) { return total * k / size, total * (k + 1) / size }
	from, to := bounds(int64(r.world.Rank()))
	if q.Recipe != nil {
		list = make([]graph.Edge, to-from)
		return list, from, q.Recipe.Generate(ctx, list, from, 1)
	}
	if w == nil {
		return edges(r.world.Receive(0)), from, nil
	}
	for k := range size {
		low, high := bounds(k)
		words := make([]uint32, (high-low)*edgeWords)
		if err := readWords(w.in, words); err != nil {
			return nil, 0, err
		}
		if k == 0 {
			list = edges(words)
		} else {
			r.world.Send(int(k), words)
		}
	}
	return list, from, nil
}

func (r *rank) construct(ctx context.Context, q request, w *wire, taken func()) error {
	r.search, r.out = nil, nil
	start := time.Now()
	tuples, position, err := r.tuples(ctx, q, w)
	if w != nil {
		taken()
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	generated := time.Since(start)
	r.world.Allreduce(Sum, []int64{0}) // all begin at the same time
	start = time.Now()
	part, phases, err := buildPart(ctx, r.world, q.Configuration, tuples, position)
	if err == nil {
		r.search = newSearch(part, r.world, q.Configuration)
		n, _, _ := part.partition.Slots(r.world.Rank())
		r.out = make([]graph.Vertex, n)
	}
	elapsed := time.Since(start)
	failures := r.collect([]byte(failureText(err)))
	if err != nil {
		if w == nil {
			return nil
		}
		return w.say(refusal(err, failures))
	}
	sums := []int64{r.search.part.bytes() + r.search.bytes() + int64(8*len(r.out)), int64(len(part.up.targets))}
	r.world.Allreduce(Sum, sums)
	longest := []int64{int64(elapsed), int64(generated)}
	r.world.Allreduce(Max, longest)
	host, _ := os.Hostname()
	told := r.collect(mustGob(toldOf{phases, host}))
	if w == nil {
		return nil
	}
	b := &built{Labels: part.partition.Labels, Bytes: sums[0], Entries: sums[1], Elapsed: time.Duration(longest[0]), Generated: time.Duration(longest[1])}
	for _, data := range told {
		var t toldOf
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&t); err != nil {
			return err
		}
		b.Phases = append(b.Phases, t.Phases)
		b.Hosts = append(b.Hosts, t.Host)
	}
	return w.say(answer{Built: b})
}

// toldOf is what rank 0 asks every rank after kernel 1.
type toldOf struct {
	Phases []timed
	Host   string
}

func (r *rank) traverse(ctx context.Context, q request, w *wire) error {
	if r.search == nil {
		if w == nil {
			return nil
		}
		return w.say(answer{Failure: "no graph"})
	}
	r.world.Allreduce(Sum, []int64{0}) // clocks start together
	record, err := r.search.run(ctx, graph.Vertex(q.Root), r.out, 0, 1)
	longest := []int64{0}
	if err == nil {
		longest[0] = int64(record.Elapsed)
	}
	r.world.Allreduce(Max, longest) // the clock has stopped; the rest brings parents and records together
	if err != nil {
		if w == nil {
			return nil
		}
		return w.say(refusal(err, nil))
	}
	records := r.collect(mustGob(*record))
	parents := make([]uint32, len(r.out))
	for slot, p := range r.out {
		parents[slot] = uint32(p + 1)
	}
	if w == nil {
		r.world.Send(0, parents)
		return nil
	}
	a := answer{Elapsed: time.Duration(longest[0]), Records: make([]SearchRecord, len(records))}
	for k, data := range records {
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&a.Records[k]); err != nil {
			return err
		}
	}
	return w.say(a, func(out io.Writer) error {
		for k := range r.world.Size() {
			if k > 0 {
				parents = r.world.Receive(k)
			}
			if err := writeWords(out, parents); err != nil {
				return err
			}
		}
		return nil
	})
}

// collect brings some bytes of every rank to rank 0.
func (r *rank) collect(data []byte) [][]byte {
	message := pack(data)
	if r.world.Rank() != 0 {
		r.world.Send(0, message)
		return nil
	}
	all := [][]byte{data}
	for k := 1; k < r.world.Size(); k++ {
		all = append(all, unpack(r.world.Receive(k)))
	}
	return all
}

func failureText(err error) string {
	if err == nil || errors.Is(err, errElsewhere) {
		return ""
	}
	return err.Error()
}

// refusal makes an answer of a failure; others are the words of all ranks.
func refusal(err error, others [][]byte) answer {
	a := answer{Failure: err.Error()}
	if errors.Is(err, errElsewhere) {
		for _, words := range others {
			if len(words) > 0 {
				a.Failure = string(words)
			}
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		a.Kind = failureCancelled
	case errors.Is(err, plugins.ErrTuples), bytes.Contains([]byte(a.Failure), []byte(plugins.ErrTuples.Error())):
		a.Kind = failureTuples
	case errors.Is(err, plugins.ErrMemory), bytes.Contains([]byte(a.Failure), []byte(plugins.ErrMemory.Error())):
		a.Kind = failureMemory
	}
	return a
}

// mustGob encodes what cannot fail to be encoded.
func mustGob(what any) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(what); err != nil {
		panic(fmt.Sprintf("distributed: encode %T: %v", what, err))
	}
	return b.Bytes()
}

func encode(q request) []uint32 { return pack(mustGob(q)) }

func decode(message []uint32, q *request) error {
	return gob.NewDecoder(bytes.NewReader(unpack(message))).Decode(q)
}

// pack makes words of bytes: their number, and four to a word.
func pack(data []byte) []uint32 {
	padded := append(append([]byte{}, data...), 0, 0, 0)
	words := []uint32{uint32(len(data))}
	for k := 0; k+4 <= len(padded); k += 4 {
		words = append(words, binary.LittleEndian.Uint32(padded[k:]))
	}
	return words
}

func unpack(words []uint32) []byte {
	var data []byte
	for _, w := range words[1:] {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	return data[:words[0]]
}
