// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/internal/team"
)

// group is a group of MPI processes. One goroutine on one thread makes all calls of a process. If a call fails, the
// rank ends the whole job.
//
// Ranks on one host exchange messages through shared memory (share.go), ranks on several through MPI.
type group struct {
	mpi        *mpi.Comm
	system     string
	rank, size int
	out, in    [][]byte   // [size] messages of MPI
	packed     []uint32   // a message of Allgather
	shifted    [][]uint32 // [size] messages of Shift
	received   [][]uint32 // [size] and those received
	shared     shared
	yielded    *time.Time // when the process last yielded
	idle       team.Idler // of WhileIdle, until it has no more to do
}

// yieldInterval is the time between yields to Go's scheduler. A goroutine that calls MPI again and again never yields,
// and after 10 ms the scheduler takes away its processor in every call that waits. Where ranks outnumber cores, a level
// then takes two to three times as long.
const yieldInterval = 5 * time.Millisecond

func (g *group) yield() {
	if now := time.Now(); now.Sub(*g.yielded) >= yieldInterval {
		runtime.Gosched()
		*g.yielded = now
	}
}

func newGroup(c *mpi.Comm, system string, yielded *time.Time) *group {
	g := &group{mpi: c, system: system, rank: c.Rank(), size: c.Size(), yielded: yielded}
	g.out, g.in = make([][]byte, g.size), make([][]byte, g.size)
	g.shifted, g.received = make([][]uint32, g.size), make([][]uint32, g.size)
	g.share()
	return g
}

// must ends all ranks if a call of MPI has failed: messages between them are lost.
func (g *group) must(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "teps: rank %d: %v\n", g.rank, err)
		g.mpi.Abort(1)
	}
}

func (g *group) Rank() int    { return g.rank }
func (g *group) Size() int    { return g.size }
func (g *group) Shares() bool { return false }

func (g *group) Split(color, key int) comm.Group {
	part, err := g.mpi.Split(color, key)
	g.must(err)
	return newGroup(part, g.system, g.yielded)
}

func (g *group) WhileIdle(work team.Idler) {
	if g.idle, g.mpi.Waiting = work, nil; work != nil {
		g.mpi.Waiting = g.doIdle
	}
}

func (g *group) doIdle() {
	if _, more := g.idle.Idle(0); !more {
		g.WhileIdle(nil)
	}
}

func (g *group) Alltoallv(send, receive [][]uint32, sums, minima []int64) comm.Traffic {
	t := comm.ToEach(g, send, sums, minima)
	if g.yield(); g.shared.all {
		g.throughMemory(send, nil, receive, sums, minima)
		return t
	}
	in, out := g.in[:len(receive)], g.out[:len(send)]
	for k, message := range send {
		out[k] = bytesOf(message)
	}
	g.must(g.mpi.Alltoallv(out, in, sums, minima))
	for k, message := range in {
		receive[k] = wordsOf(message)
	}
	return t
}

// Allgather through MPI is that of Bruck et al., "Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems", IEEE TPDS 1997: in the step of distance d a rank sends the messages of itself and of the
// d-1 ranks before it to the rank that comes d places later.
func (g *group) Allgather(message []uint32, receive [][]uint32, sums, minima []int64) comm.Traffic {
	if g.yield(); g.shared.all {
		g.throughMemory(nil, message, receive, sums, minima)
		return comm.ToAll(g, receive, sums, minima)
	}
	if len(sums)+len(minima) > 0 {
		g.must(g.mpi.Allreduce(sums, minima))
	}
	receive[g.rank] = message
	for distance := 1; distance < g.size; distance *= 2 {
		n := min(distance, g.size-distance)
		before := func(rank, k int) int { return (rank - k + g.size) % g.size }
		g.packed = g.packed[:0]
		for k := range n {
			g.packed = append(g.packed, uint32(len(receive[before(g.rank, k)])))
		}
		for k := range n {
			g.packed = append(g.packed, receive[before(g.rank, k)]...)
		}
		from := before(g.rank, distance)
		g.must(g.mpi.Sendrecv(bytesOf(g.packed), (g.rank+distance)%g.size, g.in, from))
		lengths, messages := wordsOf(g.in[from])[:n], wordsOf(g.in[from])[n:]
		for k, words := range lengths {
			receive[before(from, k)], messages = messages[:words], messages[words:]
		}
	}
	return comm.ToAll(g, receive, sums, minima)
}

func (g *group) Shift(message []uint32, by int) ([]uint32, comm.Traffic) {
	to, from := g.rank+by, max(g.rank-by, -1)
	if to >= g.size {
		to = -1
	}
	if g.yield(); g.shared.all {
		clear(g.shifted)
		if to >= 0 {
			g.shifted[to] = message
		}
		g.throughMemory(g.shifted, nil, g.received, nil, nil)
	} else if g.must(g.mpi.Sendrecv(bytesOf(message), to, g.in, from)); from >= 0 {
		g.received[from] = wordsOf(g.in[from])
	}
	var received []uint32
	if from >= 0 {
		received = g.received[from]
	}
	return received, comm.ToNext(g, message, by)
}

const wordBytes = 4

func bytesOf(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*wordBytes)
}

func wordsOf(bytes []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/wordBytes)
}
