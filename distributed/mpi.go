//go:build mpi

package distributed

/*
#cgo pkg-config: ompi-c
#include <mpi.h>

// Macros of mpi.h that are no constants for Go.
static MPI_Comm teps_world(void) { return MPI_COMM_WORLD; }
static int teps_allreduce(void *values, int n, int largest, MPI_Comm c) {
	return MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, largest ? MPI_MAX : MPI_SUM, c);
}
static int teps_isend(const void *message, int n, int to, int tag, MPI_Comm c, MPI_Request *request) {
	return MPI_Isend(message, n, MPI_UINT32_T, to, tag, c, request);
}
// teps_probe waits for a message and returns its length, or -1.
static int teps_probe(int from, int tag, MPI_Comm c, MPI_Message *message) {
	MPI_Status status;
	int n = -1;
	if (MPI_Mprobe(from, tag, c, message, &status) != MPI_SUCCESS) return -1;
	MPI_Get_count(&status, MPI_UINT32_T, &n);
	return n;
}
static int teps_waiting(int from, int tag, MPI_Comm c) {
	int flag = 0;
	MPI_Iprobe(from, tag, c, &flag, MPI_STATUS_IGNORE);
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
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"
)

// Ranks under MPI. MPI ends the whole job when one of its calls fails, so errors appear here only where MPI cannot see
// them. All calls of a process come from one goroutine that keeps its thread (MPI_THREAD_FUNNELED).

const (
	tagExchange = 1
	tagMail     = 2
)

// mpi is a group of MPI processes.
type mpi struct {
	comm       C.MPI_Comm
	rank, size int
	requests   []C.MPI_Request
	pins       runtime.Pinner // of messages that are on their way
	received   [2][][]uint32  // messages of the last two calls, by sender; their room is used again
	calls      int
	pulse      *pulse // of the process
}

// pulse is when the process last gave way to Go's scheduler. To that, a goroutine that calls MPI again and again is one
// that has been running ever since, and after 10 ms it takes its processor away in every call that waits; each time it
// has to be won back through the kernel. Where ranks outnumber cores a level then takes two to three times as long.
type pulse struct{ last time.Time }

const pulseEvery = 3 * time.Millisecond

func (p *pulse) beat() {
	if now := time.Now(); now.Sub(p.last) >= pulseEvery {
		runtime.Gosched()
		p.last = now
	}
}

var _ Comm = (*mpi)(nil)

// StartMPI makes the calling process a rank, of so many as it was started for, and keeps the calling goroutine on its
// thread. finish ends MPI.
func StartMPI(ranks int) (world Comm, finish func(), err error) {
	runtime.LockOSThread()
	var provided C.int
	if C.MPI_Init_thread(nil, nil, C.MPI_THREAD_FUNNELED, &provided) != C.MPI_SUCCESS {
		return nil, nil, fmt.Errorf("MPI did not start")
	}
	c := newMPI(C.teps_world(), &pulse{})
	if c.size != ranks {
		C.MPI_Finalize() // a process by itself leaves a folder otherwise
		launched := os.Getenv("OMPI_COMM_WORLD_SIZE")
		if _, err := strconv.Atoi(launched); err != nil {
			launched = "an unknown number"
		}
		return nil, nil, fmt.Errorf("started as one of %d ranks (the launcher says %s), but this MPI knows of %d: the launcher belongs to another MPI "+
			"than the one that teps-rank was built with; put the right mpirun first in PATH, or build teps-rank again", ranks, launched, c.size)
	}
	return c, func() { C.MPI_Finalize() }, nil
}

func newMPI(comm C.MPI_Comm, pulse *pulse) *mpi {
	var rank, size C.int
	C.MPI_Comm_rank(comm, &rank)
	C.MPI_Comm_size(comm, &size)
	c := &mpi{comm: comm, rank: int(rank), size: int(size), requests: make([]C.MPI_Request, 0, int(size)), pulse: pulse}
	for k := range c.received {
		c.received[k] = make([][]uint32, size)
	}
	return c
}

func (c *mpi) Rank() int { return c.rank }
func (c *mpi) Size() int { return c.size }

func (c *mpi) Split(color, key int) Comm {
	var part C.MPI_Comm
	C.MPI_Comm_split(c.comm, C.int(color), C.int(key), &part)
	return newMPI(part, c.pulse)
}

func (c *mpi) Allreduce(op Op, values []int64) {
	c.pulse.beat()
	largest := C.int(0)
	if op == Max {
		largest = 1
	}
	C.teps_allreduce(unsafe.Pointer(&values[0]), C.int(len(values)), largest, c.comm)
}

func (c *mpi) Allgatherv(send []uint32, receive [][]uint32) {
	for k := 1; k < c.size; k++ {
		c.start(send, (c.rank+k)%c.size, tagExchange)
	}
	c.collect(receive)
	receive[c.rank] = send
}

func (c *mpi) Alltoallv(send, receive [][]uint32) {
	for k := 1; k < c.size; k++ {
		to := (c.rank + k) % c.size
		c.start(send[to], to, tagExchange)
	}
	c.collect(receive)
	receive[c.rank] = send[c.rank]
}

// start begins to send a message, which is pinned until finish.
func (c *mpi) start(message []uint32, to, tag int) {
	if len(message) > math.MaxInt32 {
		panic(fmt.Sprintf("distributed: a message of %d words is longer than MPI counts; use more ranks", len(message)))
	}
	if len(message) > 0 {
		c.pins.Pin(unsafe.SliceData(message))
	}
	c.requests = c.requests[:len(c.requests)+1]
	C.teps_isend(unsafe.Pointer(unsafe.SliceData(message)), C.int(len(message)), C.int(to), C.int(tag), c.comm, &c.requests[len(c.requests)-1])
}

// collect receives a message from every other member, and waits for what was started.
func (c *mpi) collect(receive [][]uint32) {
	c.calls++
	room := c.received[c.calls&1]
	for k := 1; k < c.size; k++ {
		from := (c.rank - k + c.size) % c.size
		room[from] = c.take(from, tagExchange, room[from])
		receive[from] = room[from]
	}
	c.finish()
}

func (c *mpi) finish() {
	if len(c.requests) > 0 {
		C.teps_waitall(C.int(len(c.requests)), &c.requests[0])
		c.requests = c.requests[:0]
		c.pins.Unpin()
	}
}

// take waits for a message and puts it into room, or into a larger one.
func (c *mpi) take(from, tag int, room []uint32) []uint32 {
	var message C.MPI_Message
	n := int(C.teps_probe(C.int(from), C.int(tag), c.comm, &message))
	if n < 0 {
		panic("distributed: MPI has a message without a length")
	}
	if cap(room) < n {
		room = make([]uint32, n)
	}
	room = room[:n]
	C.teps_receive(unsafe.Pointer(unsafe.SliceData(room)), C.int(n), &message)
	return room
}

func (c *mpi) Send(to int, message []uint32) {
	c.start(message, to, tagMail)
	c.finish()
}

// Receive looks again and again for a while, and then sleeps between looks: it waits for the next search or graph too,
// which may take its time, and a rank that waits in MPI keeps a processor busy.
func (c *mpi) Receive(from int) []uint32 {
	start, wait := time.Now(), 20*time.Microsecond
	for C.teps_waiting(C.int(from), tagMail, c.comm) == 0 {
		if time.Since(start) < time.Millisecond {
			c.pulse.beat()
			continue
		}
		time.Sleep(wait)
		wait = min(2*wait, time.Millisecond)
	}
	return c.take(from, tagMail, nil)
}
