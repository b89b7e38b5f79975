package distributed

import (
	"context"
	"io"

	"github.com/tepsbench/teps/graph"
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
		if q.Kind == requestConstruct && q.Recipe == nil {
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
	switch q.Kind {
	case requestConstruct:
		return r.construct(ctx, q, w, taken)
	case requestRepeat:
		return r.repeat(ctx, q, w)
	}
	return r.traverse(ctx, q, w)
}
