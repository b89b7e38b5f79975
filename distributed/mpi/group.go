//go:build mpi

package mpi

/*
#cgo pkg-config: ompi-c
#include <mpi.h>

// Macros of mpi.h that cgo cannot use.
static MPI_Comm teps_world(void) { return MPI_COMM_WORLD; }
static int teps_allreduce(void *values, int n, MPI_Comm c) {
	return MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, MPI_SUM, c);
}
static int teps_isend(const void *message, int n, int to, MPI_Comm c, MPI_Request *request) {
	return MPI_Isend(message, n, MPI_UINT32_T, to, 0, c, request);
}
// teps_probe waits for a message and returns its length in words, or -1.
static int teps_probe(int from, MPI_Comm c, MPI_Message *message) {
	MPI_Status status;
	int n = -1;
	if (MPI_Mprobe(from, 0, c, message, &status) != MPI_SUCCESS) return -1;
	MPI_Get_count(&status, MPI_UINT32_T, &n);
	return n;
}
static int teps_waiting(int from, MPI_Comm c) {
	int flag = 0;
	MPI_Iprobe(from, 0, c, &flag, MPI_STATUS_IGNORE);
	return flag;
}
static int teps_receive(void *into, int n, MPI_Message *message) {
	return MPI_Mrecv(into, n, MPI_UINT32_T, message, MPI_STATUS_IGNORE);
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
	"time"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/child"
)

// Ranks under MPI. If one of its calls fails, MPI ends the whole job, so only errors that MPI cannot detect are handled
// here. All calls of a process are made by one goroutine on one thread (MPI_THREAD_FUNNELED).

// group is a group of MPI processes.
type group struct {
	comm       C.MPI_Comm
	rank, size int
	requests   []C.MPI_Request
	pins       runtime.Pinner // messages being sent
	received   [2][][]uint32  // messages of the last two calls, by sender; the buffers are reused
	calls      int
	yielded    *time.Time // when the process last yielded
}

// yieldInterval is how often a process yields to Go's scheduler. A goroutine that calls MPI again and again looks to
// the scheduler as if it had been running ever since. After 10 ms the scheduler takes away its processor in every
// call that waits, and the goroutine has to get it back through the kernel. Where ranks outnumber cores, a level then
// takes two to three times as long.
const yieldInterval = 3 * time.Millisecond

func (g *group) yield() {
	if now := time.Now(); now.Sub(*g.yielded) >= yieldInterval {
		runtime.Gosched()
		*g.yielded = now
	}
}

// Start makes the calling process a rank, one of the given number, and locks the calling goroutine to its thread.
// finish ends MPI.
//
// Open MPI keeps its shared memory in files, by default in /dev/shm, where those of a process that is killed remain. So
// they get a directory, which is removed as soon as all ranks have opened them.
func Start(ranks int) (world World, finish func(), err error) {
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
	g := newGroup(C.teps_world(), &time.Time{})
	if g.size != ranks {
		C.MPI_Finalize() // removes the directory that a process without a launcher makes
		return nil, nil, fmt.Errorf("mpi: start: started as one of %d ranks, but MPI counts %d: mpirun belongs to another "+
			"MPI than the one that teps-rank was built with; put the right mpirun first in PATH, or build teps-rank again",
			ranks, g.size)
	}
	g.Allreduce([]int64{0}) // wait for all
	return g, func() { C.MPI_Finalize() }, nil
}

func newGroup(comm C.MPI_Comm, yielded *time.Time) *group {
	var rank, size C.int
	C.MPI_Comm_rank(comm, &rank)
	C.MPI_Comm_size(comm, &size)
	g := &group{
		comm: comm, rank: int(rank), size: int(size), requests: make([]C.MPI_Request, 0, int(size)), yielded: yielded,
	}
	for k := range g.received {
		g.received[k] = make([][]uint32, size)
	}
	return g
}

func (g *group) Rank() int { return g.rank }
func (g *group) Size() int { return g.size }

func (g *group) Split(color, key int) comm.Group {
	var part C.MPI_Comm
	C.MPI_Comm_split(g.comm, C.int(color), C.int(key), &part)
	return newGroup(part, g.yielded)
}

func (g *group) Allreduce(values []int64) {
	g.yield()
	C.teps_allreduce(unsafe.Pointer(&values[0]), C.int(len(values)), g.comm)
}

func (g *group) Allgatherv(send []uint32, receive [][]uint32) {
	for k := 1; k < g.size; k++ {
		g.startSend(send, (g.rank+k)%g.size)
	}
	g.receiveAll(receive)
	receive[g.rank] = send
}

func (g *group) Alltoallv(send, receive [][]uint32) {
	for k := 1; k < g.size; k++ {
		to := (g.rank + k) % g.size
		g.startSend(send[to], to)
	}
	g.receiveAll(receive)
	receive[g.rank] = send[g.rank]
}

// startSend starts to send a message, which stays pinned until receiveAll returns.
func (g *group) startSend(message []uint32, to int) {
	if len(message) > math.MaxInt32 {
		panic(fmt.Sprintf("mpi: a message has %d words, more than MPI can count; use more ranks", len(message)))
	}
	if len(message) > 0 {
		g.pins.Pin(unsafe.SliceData(message))
	}
	g.requests = g.requests[:len(g.requests)+1]
	C.teps_isend(unsafe.Pointer(unsafe.SliceData(message)), C.int(len(message)), C.int(to), g.comm,
		&g.requests[len(g.requests)-1])
}

// receiveAll receives a message from every other rank and finishes all sends.
func (g *group) receiveAll(receive [][]uint32) {
	g.calls++
	buffers := g.received[g.calls&1]
	for k := 1; k < g.size; k++ {
		from := (g.rank - k + g.size) % g.size
		buffers[from] = g.receive(from, buffers[from])
		receive[from] = buffers[from]
	}
	if len(g.requests) > 0 {
		C.teps_waitall(C.int(len(g.requests)), &g.requests[0])
		g.requests = g.requests[:0]
		g.pins.Unpin()
	}
}

// receive waits for a message and stores it in buffer, or in a larger one.
func (g *group) receive(from int, buffer []uint32) []uint32 {
	var message C.MPI_Message
	n := int(C.teps_probe(C.int(from), g.comm, &message))
	if n < 0 {
		panic("mpi: the length of a message is unknown")
	}
	if cap(buffer) < n {
		buffer = make([]uint32, n)
	}
	buffer = buffer[:n]
	C.teps_receive(unsafe.Pointer(unsafe.SliceData(buffer)), C.int(n), &message)
	return buffer
}

// Await polls, and sleeps between polls after a while: a rank that waits inside MPI keeps a processor busy.
func (g *group) Await() {
	for start, wait := time.Now(), 20*time.Microsecond; C.teps_waiting(0, g.comm) == 0; {
		if time.Since(start) < time.Millisecond {
			g.yield()
			continue
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Millisecond)
	}
}
