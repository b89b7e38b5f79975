package distributed

import (
	"bytes"
	"context"
	"encoding/gob"
	"io"
	"os"
	"time"

	"github.com/tepsbench/teps/graph"
)

// What a rank does for a request, and how its answer comes together at rank 0.

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
		if q.Recipe == nil {
			taken()
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	generated := time.Since(start)
	// Under MPI a group keeps room for its longest messages, and none are as long as those of kernel 1: it gets a group of its own.
	own := r.world.Split(0, r.world.Rank())
	r.world.Allreduce(Sum, []int64{0}) // all begin at the same time
	start = time.Now()
	part, phases, err := buildPart(ctx, own, q.Configuration, tuples, position)
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
