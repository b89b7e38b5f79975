// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/internal/team"
)

// group is a group of MPI processes. One goroutine on one thread makes all calls of a process. If a call fails, the
// rank ends the whole job.
//
// An exchange begins with one block of eagerWords words from every rank to every other: the length of the message, its
// position in shared memory (share.go), the values to add up, and the message if it fits. Longer messages that are not
// in shared memory follow. So a level takes one collective call on one host, and no rank waits for a message of unknown
// length.
type group struct {
	mpi        *mpi.Comm
	system     string
	rank, size int
	send       []uint32   // [size] blocks
	received   []uint32   // [size] blocks that MPI has delivered
	receive    [][]uint32 // [size] the blocks of a call, in received or in shared memory
	long       [][]uint32 // [sender] long messages
	shared     shared
	yielded    *time.Time // when the process last yielded
	idle       team.Idler // of WhileIdle, until it has no more to do
}

// eagerWords makes blocks of 192 bytes. Open MPI exchanges blocks of up to 200 bytes in log2(size) steps.
const (
	eagerWords  = 48
	eagerHeader = 2 + 2*comm.MaxReduce
)

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

// start begins MPI in this process, one of a number of processes, and locks the calling goroutine to its thread. It
// returns the group of all, the place of this process among those of its host, how many these are, and what ends MPI.
//
// Open MPI keeps its shared memory in files, by default in /dev/shm, where those of a killed process remain. So they
// get a directory, which is removed as soon as all ranks have opened them.
func start(ranks int, system string) (world *group, place, here int, finish func() error, err error) {
	// Where there is no /dev/shm, Open MPI uses the job's directory.
	if dir, err := child.NewDirIn("/dev/shm", "teps-rank-"); err == nil {
		defer dir.Remove()
		for _, transport := range []string{"vader", "sm"} { // of Open MPI 4, and of Open MPI 5
			name := "OMPI_MCA_btl_" + transport + "_backing_directory"
			os.Setenv(name, cmp.Or(os.Getenv(name), dir.Path()))
		}
	}
	library, err := mpi.Open()
	if err != nil {
		return nil, 0, 0, nil, err
	}
	c, err := library.Init(ranks)
	if err == nil {
		place, here, err = c.OnHost()
	}
	if err != nil {
		return nil, 0, 0, nil, err
	}
	world = newGroup(c, system, &time.Time{})
	comm.Allreduce(world, nil) // wait for all
	return world, place, here, library.Finalize, nil
}

func newGroup(c *mpi.Comm, system string, yielded *time.Time) *group {
	g := &group{mpi: c, system: system, rank: c.Rank(), size: c.Size(), yielded: yielded}
	g.send, g.received = make([]uint32, g.size*eagerWords), make([]uint32, g.size*eagerWords)
	g.receive = slices.Collect(slices.Chunk(g.received, eagerWords))
	g.long = make([][]uint32, g.size)
	g.shared.peers = make([][]uint32, g.size)
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

func (g *group) Rank() int { return g.rank }
func (g *group) Size() int { return g.size }

func (g *group) Split(color, key int) comm.Group {
	part, err := g.mpi.Split(color, key)
	g.must(err)
	return newGroup(part, g.system, g.yielded)
}

func (g *group) WhileIdle(work team.Idler) { g.idle = work }

func (g *group) doIdle() {
	if _, more := g.idle.Idle(0); !more {
		g.idle = nil
	}
}

func (g *group) wait() {
	for g.idle != nil && !g.mpi.Test() {
		g.doIdle()
	}
	g.must(g.mpi.Wait()) // returns at once if they are complete
}

func (g *group) Alltoallv(send, receive [][]uint32, sums, minima []int64) {
	g.begin()
	var room, other [comm.MaxReduce]int64
	values := append(append(room[:0], sums...), minima...)
	for k := range g.size {
		var message []uint32
		if send != nil && k != g.rank {
			message = send[k]
		}
		g.fill(g.blockFor(k), message, values)
	}
	if g.shared.all {
		g.meet()
	} else {
		g.mpi.Ialltoall(bytesOf(g.send), bytesOf(g.received), eagerWords*wordBytes)
		g.wait()
	}
	for k, block := range g.receive {
		for i := range values {
			other[i] = int64(uint64(block[2+2*i]) | uint64(block[3+2*i])<<32)
		}
		comm.Combine(values, other[:len(values)], len(sums), k)
	}
	copy(minima, values[copy(sums, values):])
	if send != nil {
		g.finish(send, receive)
	}
}

func (g *group) blockFor(k int) []uint32 { return g.send[k*eagerWords:][:eagerWords] }

// fill writes the block of a message, and the message to shared memory if it is long.
func (g *group) fill(block, message []uint32, values []int64) {
	if len(message) > math.MaxUint32 {
		panic(fmt.Sprintf("mpi: a message has %d words, more than 32 bits can count; use more ranks", len(message)))
	}
	block[0], block[1] = uint32(len(message)), 0
	for i, v := range values {
		block[2+2*i], block[3+2*i] = uint32(v), uint32(uint64(v)>>32)
	}
	if len(message) <= eagerWords-eagerHeader {
		copy(block[eagerHeader:], message)
	} else {
		block[1] = g.place(message)
	}
}

// finish exchanges the messages that are neither in the blocks, which have been received, nor in shared memory. It
// starts to receive before it sends, so that messages go straight to where they belong.
func (g *group) finish(send, receive [][]uint32) {
	for k := range g.size {
		from := (g.rank - k + g.size) % g.size
		block := g.receive[from]
		switch n := int(block[0]); {
		case from == g.rank:
			receive[from] = send[from]
		case n <= eagerWords-eagerHeader:
			receive[from] = block[eagerHeader : eagerHeader+n]
		case block[1] != 0 && g.shared.peers[from] != nil:
			receive[from] = g.shared.peers[from][block[1]:][:n]
		default:
			if cap(g.long[from]) < n {
				g.long[from] = make([]uint32, n)
			}
			receive[from] = g.long[from][:n]
			g.mpi.Irecv(bytesOf(receive[from]), from)
		}
	}
	for k := 1; k < g.size; k++ {
		to := (g.rank + k) % g.size
		n, position := len(send[to]), g.blockFor(to)[1]
		if n > eagerWords-eagerHeader && (position == 0 || g.shared.peers[to] == nil) {
			g.mpi.Isend(bytesOf(send[to]), to)
		}
	}
	g.wait()
}

const wordBytes = 4

func bytesOf(words []uint32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*wordBytes)
}
