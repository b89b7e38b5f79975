// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/team"
)

// World is all ranks.
type World interface {
	comm.Group

	// Await waits until rank 0 calls it. It may take long and does not keep a processor busy.
	Await()

	// System names the running kernel of this rank, and the processes that it sees there.
	System() string
}

// Serve handles requests of the engine on a rank until the engine says quit or is gone. Rank 0 says hello on stdout,
// and then uses the socket if it can connect to it, otherwise stdin and stdout. Other ranks use none of these.
func Serve(world World, socket string, stdin io.Reader, stdout io.Writer) error {
	r := &server{world: world, requests: make(chan received)}
	if world.Rank() == 0 {
		r.wire = newWire(stdin, stdout)
		connection, dialErr := net.Dial("unix", socket)
		if err := r.wire.send(hello{Version, dialErr == nil}); err != nil {
			return err
		}
		if dialErr == nil {
			r.wire = newWire(connection, connection)
		}
		go r.listen()
	}
	for {
		q, err := r.next()
		if err == nil && q.Command != quit {
			err = r.do(q)
		}
		if err != nil || q.Command == quit {
			return err
		}
	}
}

type server struct {
	world    World
	wire     *wire         // rank 0 only
	requests chan received // rank 0 only
	rank     *distributed.Rank
	parent   []graph.Vertex // of the rank's labels
	file     *os.File       // the memory of parent
	reply    []uint32       // the same as sent to an engine on another host
}

// received is a request. On rank 0 it has a context that ends when it is canceled, and the tuples.
type received struct {
	request
	ctx    context.Context
	tuples []uint32
}

// listen reads requests until the engine is gone.
func (r *server) listen() {
	defer close(r.requests)
	end := func() {}
	for {
		var q received
		err := r.wire.receive(&q.request)
		end() // also cancels the previous request if the engine is gone
		if err != nil {
			return
		}
		if q.Command == cancel {
			continue
		}
		if q.Command == construct && q.Recipe == nil {
			if q.tuples, err = r.wire.receiveWords(int(q.Tuples) * edgeWords); err != nil {
				return
			}
		}
		q.ctx, end = context.WithCancel(context.Background())
		r.requests <- q
	}
}

// next returns the next request. Rank 0 passes it on to all others.
func (r *server) next() (q received, err error) {
	var message []uint32
	if r.wire == nil {
		q.ctx = context.Background()
	} else {
		open := false
		if q, open = <-r.requests; !open {
			q.Command = quit
		}
		message = pack(q.request)
	}
	r.world.Await()
	return q, unpack(comm.Allgather(r.world, message)[0], &q.request)
}

// do handles a request together with all other ranks. Rank 0 sends their reports to the engine. It returns an error
// only if the connection fails.
func (r *server) do(q received) (err error) {
	var own report
	switch q.Command {
	case construct:
		err = r.construct(q, &own)
	case search:
		r.wake()
		own.Record, err = r.rank.Search(q.ctx, q.Roots[0], r.parent, 0, 1)
	case repeat:
		own.Searches, err = r.repeat(q)
	}
	if err != nil {
		own.Error = err.Error()
	}
	reports := make([]report, r.world.Size())
	for k, message := range r.collect(pack(own)) {
		if err := unpack(message, &reports[k]); err != nil {
			return err
		}
	}
	var parents [][]uint32
	if q.Parents && err == nil { // on all ranks or on none
		r.reply = slices.Grow(r.reply[:0], len(r.parent))[:len(r.parent)]
		for slot, p := range r.parent {
			r.reply[slot] = uint32(p + 1)
		}
		parents = r.collect(r.reply)
	}
	if r.wire == nil {
		return nil
	}
	return r.wire.send(reports, parents...)
}

// collect sends a message to rank 0, which returns those of all ranks; others return nothing.
func (r *server) collect(message []uint32) [][]uint32 {
	send, messages := make([][]uint32, r.world.Size()), make([][]uint32, r.world.Size())
	send[0] = message
	r.world.Alltoallv(send, messages, nil)
	if r.wire == nil {
		return nil
	}
	return messages
}

func (r *server) construct(q received, result *report) (err error) {
	start := time.Now()
	tuples, position := r.tuples(q)
	result.Generated = time.Since(start)
	result.Host, _ = os.Hostname()
	comm.Allreduce(r.world, nil) // wait for all
	r.rank, result.Construction, err = distributed.NewRank(q.ctx, r.world, q.Configuration,
		team.NewTeams(q.Configuration.Threads), tuples, position)
	if err != nil {
		return err
	}
	n, _, _ := r.rank.Partition.Slots(r.world.Rank())
	result.Construction.Bytes += int64(n) * 8
	// The parents and their file stay until the rank ends.
	if r.parent, result.Parents, r.file = shareMemory[graph.Vertex](r.world.System(), max(n, 1)); r.parent == nil {
		r.parent = make([]graph.Vertex, n)
	}
	r.parent = r.parent[:n]
	return nil
}

// slice returns the range of the tuples that a rank gets.
func (r *server) slice(total int64, rank int) (from, to int64) {
	size := int64(r.world.Size())
	return total * int64(rank) / size, total * int64(rank+1) / size
}

// tuples returns the rank's slice of the tuples and its position: generated, or from rank 0. If the context ends, the
// slice is incomplete, and NewRank returns the error of the context.
func (r *server) tuples(q received) (list []graph.Edge, position int64) {
	if q.Recipe != nil {
		from, to := r.slice(q.Recipe.Tuples(), r.world.Rank())
		list = make([]graph.Edge, to-from)
		_ = q.Recipe.Generate(q.ctx, list, from, 1) // fails only if the context ends
		return list, from
	}
	send, messages := make([][]uint32, r.world.Size()), make([][]uint32, r.world.Size())
	if r.wire != nil {
		for k := range send {
			from, to := r.slice(q.Tuples, k)
			send[k] = q.tuples[from*edgeWords : to*edgeWords]
		}
	}
	from, _ := r.slice(q.Tuples, r.world.Rank())
	r.world.Split(0, r.world.Rank()).Alltoallv(send, messages, nil)
	return edgesOf(messages[0]), from
}

// wake keeps all ranks busy until they run undisturbed: the thread that watches over a Go process takes a processor
// every 20 us after it has slept, and more rarely after a millisecond.
func (r *server) wake() {
	const wakeTime = 2 * time.Millisecond
	r.rank.Wake()
	for start := time.Now(); !r.isOver(start, wakeTime); {
	}
}

// isOver waits for all ranks, and reports whether a time since start has passed on the clock of rank 0.
func (r *server) isOver(start time.Time, limit time.Duration) bool {
	over := []int64{0}
	if r.wire != nil && time.Since(start) >= limit {
		over[0] = 1
	}
	comm.Allreduce(r.world, over)
	return over[0] != 0
}

// repeat searches for a duration. Every search begins on all ranks at the same time, as a timed one does.
func (r *server) repeat(q received) (searches int64, err error) {
	r.rank.Wake()
	for start := time.Now(); err == nil && !r.isOver(start, q.Duration); {
		if _, err = r.rank.Search(q.ctx, q.Roots[searches%int64(len(q.Roots))], r.parent, 0, 1); err == nil {
			searches++
		}
	}
	return searches, err
}
