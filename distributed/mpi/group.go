// SPDX-License-Identifier: Apache-2.0

//go:build mpi

package mpi

/*
#cgo pkg-config: ompi-c
#include <mpi.h>

// Macros of mpi.h that cgo cannot use.
static MPI_Comm teps_world(void) { return MPI_COMM_WORLD; }
static int teps_isend(const void *message, int n, int to, MPI_Comm c, MPI_Request *request) {
	return MPI_Isend(message, n, MPI_UINT32_T, to, 0, c, request);
}
static int teps_irecv(void *into, int n, int from, MPI_Comm c, MPI_Request *request) {
	return MPI_Irecv(into, n, MPI_UINT32_T, from, 0, c, request);
}
static int teps_ialltoall(const void *send, void *receive, int n, MPI_Comm c, MPI_Request *request) {
	return MPI_Ialltoall(send, n, MPI_UINT32_T, receive, n, MPI_UINT32_T, c, request);
}
// teps_arrived receives an empty message from rank 0 and returns 1, or 0 if there is none.
static int teps_arrived(MPI_Comm c) {
	int flag = 0;
	MPI_Iprobe(0, 0, c, &flag, MPI_STATUS_IGNORE);
	if (flag) MPI_Recv(NULL, 0, MPI_UINT32_T, 0, 0, c, MPI_STATUS_IGNORE);
	return flag;
}
// teps_local returns the place of this rank among those of its host, and how many these are.
static void teps_local(int *rank, int *size) {
	MPI_Comm host;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, rank);
	MPI_Comm_size(host, size);
	MPI_Comm_free(&host);
}
static int teps_complete(int n, MPI_Request *requests) {
	int flag = 0;
	MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
	return flag;
}
static int teps_waitall(int n, MPI_Request *requests) {
	return MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}
*/
import "C"

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
	"github.com/tepsbench/teps/internal/team"
)

// group is a group of MPI processes. One goroutine on one thread makes all calls of a process (MPI_THREAD_FUNNELED). If
// a call fails, MPI ends the whole job.
//
// An exchange begins with one block of eagerWords words from every rank to every other: the length of the message, its
// position in shared memory (share.go), the values to add up, and the message if it fits. Longer messages that are not
// in shared memory follow. So a level takes one collective call on one host, and no rank waits for a message of unknown
// length.
type group struct {
	comm       C.MPI_Comm
	system     string
	rank, size int
	send       []uint32   // [size] blocks
	received   []uint32   // [size] blocks that MPI has delivered
	receive    [][]uint32 // [size] the blocks of a call, in received or in shared memory
	long       [][]uint32 // [sender] long messages
	requests   []C.MPI_Request
	pins       runtime.Pinner // long messages
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

// Start makes the calling process a rank, one of the given number, and locks the calling goroutine to its thread.
// finish ends MPI.
//
// A rank gets as many processors as threads if its host has enough for all its ranks: otherwise the system now and then
// puts two ranks on one, and all wait for both. A rank that mpirun has bound stays where it is.
//
// Open MPI keeps its shared memory in files, by default in /dev/shm, where those of a killed process remain. So they
// get a directory, which is removed as soon as all ranks have opened them.
func Start(ranks, threads int) (world World, finish func(), err error) {
	return start(ranks, threads, system())
}

func start(ranks, threads int, system string) (world World, finish func(), err error) {
	runtime.LockOSThread()
	// Where there is no /dev/shm, Open MPI uses the job's directory.
	if dir, err := child.NewDirIn("/dev/shm", "teps-rank-"); err == nil {
		defer dir.Remove()
		for _, transport := range []string{"vader", "sm"} { // of Open MPI 4, and of Open MPI 5
			name := "OMPI_MCA_btl_" + transport + "_backing_directory"
			os.Setenv(name, cmp.Or(os.Getenv(name), dir.Path()))
		}
	}
	var provided C.int
	if C.MPI_Init_thread(nil, nil, C.MPI_THREAD_FUNNELED, &provided) != C.MPI_SUCCESS {
		return nil, nil, fmt.Errorf("mpi: start: MPI_Init_thread failed")
	}
	var place, here C.int
	C.teps_local(&place, &here)
	if team.Bind(int(place), int(here), threads) {
		runtime.GOMAXPROCS(threads)
	}
	g := newGroup(C.teps_world(), system, &time.Time{})
	if g.size != ranks {
		C.MPI_Finalize() // removes the directory that a process without a launcher makes
		return nil, nil, fmt.Errorf("mpi: start: started as one of %d ranks, but MPI counts %d: mpirun belongs to another "+
			"MPI than the one that teps-rank was built with; put the right mpirun first in PATH, or build teps-rank again",
			ranks, g.size)
	}
	comm.Allreduce(g, nil) // wait for all
	return g, func() { C.MPI_Finalize() }, nil
}

func newGroup(comm C.MPI_Comm, system string, yielded *time.Time) *group {
	var rank, size C.int
	C.MPI_Comm_rank(comm, &rank)
	C.MPI_Comm_size(comm, &size)
	g := &group{
		comm: comm, system: system, rank: int(rank), size: int(size), yielded: yielded,
		requests: make([]C.MPI_Request, 0, 2*int(size)),
	}
	g.send, g.received = make([]uint32, g.size*eagerWords), make([]uint32, g.size*eagerWords)
	g.receive = slices.Collect(slices.Chunk(g.received, eagerWords))
	g.long = make([][]uint32, g.size)
	g.shared.peers = make([][]uint32, g.size)
	g.share()
	return g
}

func (g *group) Rank() int      { return g.rank }
func (g *group) Size() int      { return g.size }
func (g *group) System() string { return g.system }

func (g *group) Split(color, key int) comm.Group {
	var part C.MPI_Comm
	C.MPI_Comm_split(g.comm, C.int(color), C.int(key), &part)
	return newGroup(part, g.system, g.yielded)
}

func (g *group) WhileIdle(work team.Idler) { g.idle = work }

func (g *group) doIdle() {
	if _, more := g.idle.Idle(0); !more {
		g.idle = nil
	}
}

func (g *group) wait() {
	n, first := C.int(len(g.requests)), unsafe.SliceData(g.requests)
	for g.idle != nil && C.teps_complete(n, first) == 0 {
		g.doIdle()
	}
	C.teps_waitall(n, first) // returns at once if they are complete
	g.requests = g.requests[:0]
	g.pins.Unpin()
}

func (g *group) Alltoallv(send, receive [][]uint32, values []int64) {
	g.begin()
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
		C.teps_ialltoall(g.pin(g.send), g.pin(g.received), eagerWords, g.comm, g.request())
		g.wait()
	}
	clear(values)
	for _, block := range g.receive {
		for i := range values {
			values[i] += int64(uint64(block[2+2*i]) | uint64(block[3+2*i])<<32)
		}
	}
	if send != nil {
		g.finish(send, receive)
	}
}

func (g *group) blockFor(k int) []uint32 { return g.send[k*eagerWords:][:eagerWords] }

// fill writes the block of a message, and the message to shared memory if it is long.
func (g *group) fill(block, message []uint32, values []int64) {
	if len(message) > math.MaxInt32 {
		panic(fmt.Sprintf("mpi: a message has %d words, more than MPI can count; use more ranks", len(message)))
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
			C.teps_irecv(g.pin(receive[from]), C.int(n), C.int(from), g.comm, g.request())
		}
	}
	for k := 1; k < g.size; k++ {
		to := (g.rank + k) % g.size
		n, position := len(send[to]), g.blockFor(to)[1]
		if n > eagerWords-eagerHeader && (position == 0 || g.shared.peers[to] == nil) {
			C.teps_isend(g.pin(send[to]), C.int(n), C.int(to), g.comm, g.request())
		}
	}
	if len(g.requests) > 0 {
		g.wait()
	}
}

// pin keeps a message in its place until all requests are complete.
func (g *group) pin(message []uint32) unsafe.Pointer {
	first := unsafe.SliceData(message)
	g.pins.Pin(first)
	return unsafe.Pointer(first)
}

func (g *group) request() *C.MPI_Request {
	g.requests = g.requests[:len(g.requests)+1]
	return &g.requests[len(g.requests)-1]
}

// Await polls, and sleeps between polls after a while: a rank that waits inside MPI keeps a processor busy.
func (g *group) Await() {
	defer func() { *g.yielded = time.Now() }() // rank 0 has waited for the engine, the others have slept
	if g.rank == 0 {
		for k := 1; k < g.size; k++ {
			C.teps_isend(nil, 0, C.int(k), g.comm, g.request())
		}
		g.wait()
		return
	}
	for start, wait := time.Now(), 20*time.Microsecond; C.teps_arrived(g.comm) == 0; {
		if time.Since(start) < time.Millisecond {
			g.yield()
			continue
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Millisecond)
	}
}
