// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"cmp"
	"runtime"
	"unsafe"

	"github.com/tepsbench/teps/internal/team"
)

// Comm is a group of processes: an MPI communicator. Messages are bytes of any number.
//
// Isend, Irecv and Ialltoall start a transfer, and Wait completes all that were started. Until then their memory is
// pinned, and must not be changed or read. After an error the state of MPI is undefined, so every later Wait returns
// the error too, and only Abort can follow.
type Comm struct {
	lib        *Library
	handle     uintptr
	rank, size int
	requests   []uintptr // room for those that were started
	started    int
	pins       runtime.Pinner
	flag       int32 // written by MPI
	err        error
}

// Op combines the values of all processes.
type Op int

const (
	Sum Op = iota
	Min
	Max
)

// pieceBytes is the longest message that is sent at once. MPI's counts have 32 bits.
var pieceBytes = 1 << 30

func (l *Library) comm(handle uintptr) (*Comm, error) {
	c, rank, size := &Comm{lib: l, handle: handle}, new(int32), new(int32)
	err := cmp.Or(l.call(commRank, handle, uintptr(unsafe.Pointer(rank))),
		l.call(commSize, handle, uintptr(unsafe.Pointer(size))))
	c.rank, c.size = int(*rank), int(*size)
	return c, err
}

// Rank returns the number of the calling process in the group, from 0 to Size()-1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of processes in the group.
func (c *Comm) Size() int { return c.size }

// Split divides the group into one for each color, ordered by key. All processes of the group call it.
func (c *Comm) Split(color, key int) (*Comm, error) {
	part := new(uintptr)
	if err := c.lib.call(commSplit, c.handle, uintptr(color), uintptr(key), uintptr(unsafe.Pointer(part))); err != nil {
		return nil, err
	}
	return c.lib.comm(*part)
}

// OnHost returns the place of the calling process among those of the group on its host, and their number. All
// processes of the group call it.
func (c *Comm) OnHost() (place, processes int, err error) {
	handle := new(uintptr)
	err = c.lib.call(commSplitType, c.handle, c.lib.shared, 0, c.lib.infoNull, uintptr(unsafe.Pointer(handle)))
	if err != nil {
		return 0, 0, err
	}
	host, err := c.lib.comm(*handle)
	return host.rank, host.size, cmp.Or(err, c.lib.call(commFree, uintptr(unsafe.Pointer(handle))))
}

// Isend starts to send a message to a process. Messages between two processes arrive in order.
func (c *Comm) Isend(message []byte, to int) { c.transfer(isend, message, to) }

// Irecv starts to receive a message of the length of memory from a process.
func (c *Comm) Irecv(memory []byte, from int) { c.transfer(irecv, memory, from) }

func (c *Comm) transfer(f function, message []byte, peer int) {
	for first := true; first || len(message) > 0; first = false {
		piece := message[:min(len(message), pieceBytes)]
		message = message[len(piece):]
		c.fail(c.lib.call(f, c.pin(piece), uintptr(len(piece)), c.lib.bytes, uintptr(peer), 0, c.handle, c.request()))
	}
}

// Ialltoall starts to send n bytes to every process, of the n * Size() in send, and to receive the same number from
// each. All processes of the group call it.
func (c *Comm) Ialltoall(send, receive []byte, n int) {
	c.fail(c.lib.call(ialltoall, c.pin(send), uintptr(n), c.lib.bytes, c.pin(receive), uintptr(n), c.lib.bytes, c.handle,
		c.request()))
}

// pin keeps memory in its place until all transfers are complete.
func (c *Comm) pin(memory []byte) uintptr {
	if len(memory) == 0 {
		return 0
	}
	c.pins.Pin(&memory[0])
	return uintptr(unsafe.Pointer(&memory[0]))
}

// request returns the address of the next request. MPI uses it only in calls.
func (c *Comm) request() uintptr {
	offset := uintptr(c.started) * c.lib.requestBytes
	if c.started++; c.started > len(c.requests) {
		c.requests = append(c.requests, 0)
	}
	return c.first() + offset
}

func (c *Comm) first() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(c.requests))) }

func (c *Comm) fail(err error) { c.err = cmp.Or(c.err, err) }

// Test reports whether all transfers are complete, or one has failed: whether Wait would return at once.
func (c *Comm) Test() bool {
	c.fail(c.lib.call(testall, uintptr(c.started), c.first(), uintptr(unsafe.Pointer(&c.flag)), c.lib.ignore))
	return c.flag != 0 || c.err != nil
}

// spins is the number of tests in a row before a process that waits yields its processor.
const spins = 500

// Wait waits until all transfers are complete. It tests again and again, and yields the processor, because MPI_Waitall
// of MPICH does not: where processes outnumber processors, each would wait until the kernel takes its processor away.
func (c *Comm) Wait() error {
	for tests := 1; c.started > 0 && !c.Test(); tests++ {
		if tests%spins == 0 {
			team.YieldProcessor()
		}
	}
	if c.err == nil {
		c.started = 0
		c.pins.Unpin()
	}
	return c.err
}

// Probe reports whether a message of a process can be received, or that fails.
func (c *Comm) Probe(from int) bool {
	c.fail(c.lib.call(iprobe, uintptr(from), 0, c.handle, uintptr(unsafe.Pointer(&c.flag)), c.lib.ignore))
	return c.flag != 0 || c.err != nil
}

// Alltoallv sends send[k] to process k, and stores what process k sent in receive[k], in its memory if that has room.
// The caller's own message is passed through. All processes of the group call it.
func (c *Comm) Alltoallv(send, receive [][]byte) error {
	const lengthBytes = 8
	lengths := make([]int64, 2*c.size)
	for k, message := range send {
		lengths[k] = int64(len(message))
	}
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&lengths[0])), len(lengths)*lengthBytes)
	c.Ialltoall(memory[:c.size*lengthBytes], memory[c.size*lengthBytes:], lengthBytes)
	if err := c.Wait(); err != nil {
		return err
	}
	receive[c.rank] = send[c.rank]
	for k := 1; k < c.size; k++ { // receivers first, so that messages go straight to where they belong
		from := (c.rank - k + c.size) % c.size
		n := int(lengths[c.size+from])
		if cap(receive[from]) < n {
			receive[from] = make([]byte, n)
		}
		if receive[from] = receive[from][:n]; n > 0 {
			c.Irecv(receive[from], from)
		}
	}
	for k := 1; k < c.size; k++ {
		if to := (c.rank + k) % c.size; len(send[to]) > 0 {
			c.Isend(send[to], to)
		}
	}
	return c.Wait()
}

// Allreduce combines the values of all processes by index. All processes of the group call it.
func (c *Comm) Allreduce(values []int64, op Op) error {
	if len(values) == 0 {
		return c.Barrier()
	}
	c.pins.Pin(&values[0])
	c.fail(c.lib.call(iallreduce, c.lib.inPlace, uintptr(unsafe.Pointer(&values[0])), uintptr(len(values)), c.lib.int64s,
		c.lib.ops[op], c.handle, c.request()))
	return c.Wait()
}

// Barrier waits for all processes of the group.
func (c *Comm) Barrier() error {
	c.fail(c.lib.call(ibarrier, c.handle, c.request()))
	return c.Wait()
}

// Abort ends all processes of the group, or at least this one.
func (c *Comm) Abort(code int) { _ = c.lib.call(abort, c.handle, uintptr(code)) }
