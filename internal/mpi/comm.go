// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"cmp"
	"encoding/binary"
	"runtime"
	"slices"
	"unsafe"

	"github.com/tepsbench/teps/internal/team"
)

// Comm is a group of processes: an MPI communicator. Messages are bytes of any number.
//
// Calls start transfers and wait until all are complete. Until then their memory is pinned, and must not be changed or
// read. After an error the state of MPI is undefined, so every later call returns the error too, and only Abort can
// follow.
type Comm struct {
	// Waiting is called again and again while the process waits. nil: it yields its processor sometimes.
	Waiting func()

	lib        *Library
	handle     uintptr
	rank, size int
	exchanges  int
	requests   []uintptr // room for those that were started
	started    int
	later      []piece   // of messages that are received, in order
	ahead      [2][]byte // the length and the short message of a shift: received, sent
	pins       runtime.Pinner
	flag, n    int32    // written by MPI
	status     [8]int32 // and an MPI_Status
	err        error
}

// piece is a part of a message, but not the first one.
type piece struct {
	from   int
	memory []byte
}

// Tags. Those of two exchanges differ, because a process may be one ahead of another.
const (
	tagExchange = 0 // and 1
	tagAhead    = 2 // of the length of a shift, and of the message if it is short
	tagShift    = 3 // of a longer one
)

// pieceBytes is the length of all pieces of a message but the last one, which is shorter. MPI's counts have 32 bits.
var pieceBytes = 1 << 30

// aheadBytes is the length of the longest short messages. It is less than that of a piece.
var aheadBytes = 4 << 10

const lengthBytes = 8

func (l *Library) comm(handle uintptr) (*Comm, error) {
	c, rank, size := &Comm{lib: l, handle: handle}, new(int32), new(int32)
	err := cmp.Or(l.call(commRank, handle, uintptr(unsafe.Pointer(rank))),
		l.call(commSize, handle, uintptr(unsafe.Pointer(size))))
	c.rank, c.size = int(*rank), int(*size)
	l.groups = append(l.groups, c)
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

// send starts to send a message by f.
func (c *Comm) send(f function, message []byte, to, tag int) {
	for more := true; more; {
		n := min(len(message), pieceBytes)
		c.fail(c.lib.call(f, c.pin(message[:n]), uintptr(n), c.lib.bytes, uintptr(to), uintptr(tag), c.handle, c.request()))
		message, more = message[n:], n == pieceBytes
	}
}

// arrived starts to receive a piece of a message, if there is one, and reports whether there was. The first piece goes
// to the memory of its sender, if that has room.
func (c *Comm) arrived(tag int, memory [][]byte) bool {
	status := uintptr(unsafe.Pointer(&c.status))
	c.fail(c.lib.call(iprobe, c.lib.anySource, uintptr(tag), c.handle, uintptr(unsafe.Pointer(&c.flag)), status))
	if c.flag == 0 || c.err != nil {
		return false
	}
	c.fail(c.lib.call(getCount, status, c.lib.bytes, uintptr(unsafe.Pointer(&c.n))))
	from, n, room := int(c.status[c.lib.sourceWord]), int(c.n), []byte(nil)
	if len(memory[from]) == 0 {
		memory[from] = slices.Grow(memory[from], n)[:n]
		room = memory[from]
	} else {
		room = make([]byte, n)
		c.later = append(c.later, piece{from, room})
	}
	c.receive(room, from, tag)
	return true
}

func (c *Comm) receive(room []byte, from, tag int) {
	c.fail(c.lib.call(irecv, c.pin(room), uintptr(len(room)), c.lib.bytes, uintptr(from), uintptr(tag), c.handle,
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

// test reports whether the first n transfers are complete, or one has failed.
func (c *Comm) test(n int) bool {
	c.fail(c.lib.call(testall, uintptr(n), c.first(), uintptr(unsafe.Pointer(&c.flag)), c.lib.ignore))
	return c.flag != 0 || c.err != nil
}

// spins is the number of tests in a row before a process that waits yields its processor.
const spins = 500

// until calls done until it is true. It tests again and again, and yields the processor, because MPI_Waitall of MPICH
// does not: where processes outnumber processors, each would wait until the kernel takes its processor away.
func (c *Comm) until(done func() bool) {
	for tests := 1; c.err == nil && !done(); tests++ {
		if c.Waiting != nil {
			c.Waiting()
		} else if tests%spins == 0 {
			team.YieldProcessor()
		}
	}
}

// wait waits until all transfers are complete, and puts received messages together.
func (c *Comm) wait(memory [][]byte) error {
	c.until(func() bool { return c.test(c.started) })
	if c.err == nil {
		c.started = 0
		c.pins.Unpin()
	}
	for _, p := range c.later {
		memory[p.from] = append(memory[p.from], p.memory...)
	}
	c.later = c.later[:0]
	return c.err
}

// Alltoallv sends send[k] to process k unless it is empty, and stores what process k sent in receive[k], in its memory
// if that has room. The caller's own message is passed through. It also replaces sums and minima by those of all
// processes. All processes of the group call it.
//
// A process does not know who sends to it (Hoefler, Siebert, Lumsdaine, "Scalable Communication Protocols for Dynamic
// Sparse Data Exchange", PPoPP 2010): it receives what arrives. When all of its messages are being received, it takes
// part in the reduction, which so ends when those of all processes are.
func (c *Comm) Alltoallv(send, receive [][]byte, sums, minima []int64) error {
	c.exchanges++
	tag := tagExchange + c.exchanges&1
	for k := range receive {
		receive[k] = receive[k][:0]
	}
	for k := 1; k < len(send); k++ {
		if to := (c.rank + k) % c.size; len(send[to]) > 0 {
			c.send(issend, send[to], to, tag)
		}
	}
	for reducing := false; ; reducing = true {
		c.until(func() bool {
			for len(receive) > 0 && c.arrived(tag, receive) {
			}
			return c.test(c.started)
		})
		if reducing || c.err != nil {
			break
		}
		c.reduce(sums, minima)
	}
	err := c.wait(receive)
	if len(send) > 0 {
		receive[c.rank] = send[c.rank]
	}
	return err
}

// Sendrecv sends a message to a process, stores that of another one in receive[from], in its memory if that has room,
// and waits for both. A process -1 is none. The receive of the length and of a short message is posted before anything
// is sent.
func (c *Comm) Sendrecv(message []byte, to int, receive [][]byte, from int) error {
	if from >= 0 {
		c.ahead[0] = slices.Grow(c.ahead[0][:0], lengthBytes+aheadBytes)[:lengthBytes+aheadBytes]
		c.receive(c.ahead[0], from, tagAhead)
	}
	if to >= 0 {
		c.ahead[1] = binary.NativeEndian.AppendUint64(c.ahead[1][:0], uint64(len(message)))
		if len(message) <= aheadBytes {
			c.ahead[1], message = append(c.ahead[1], message...), nil
		}
		if c.send(isend, c.ahead[1], to, tagAhead); len(message) > 0 {
			c.send(isend, message, to, tagShift)
		}
	}
	if from >= 0 {
		c.until(func() bool { return c.test(1) })
		n := int(binary.NativeEndian.Uint64(c.ahead[0]))
		if receive[from] = slices.Grow(receive[from][:0], n)[:n]; n <= aheadBytes {
			copy(receive[from], c.ahead[0][lengthBytes:])
		} else {
			for left, more := receive[from], true; more; {
				n := min(len(left), pieceBytes)
				c.receive(left[:n], from, tagShift)
				left, more = left[n:], n == pieceBytes
			}
		}
	}
	return c.wait(nil)
}

// Allreduce replaces sums and minima by those of all processes. Without any it waits for all. All processes of the
// group call it.
func (c *Comm) Allreduce(sums, minima []int64) error {
	c.reduce(sums, minima)
	return c.wait(nil)
}

// reduce starts a reduction.
func (c *Comm) reduce(sums, minima []int64) {
	for k, values := range [][]int64{sums, minima} {
		if len(values) > 0 {
			c.pins.Pin(&values[0])
			c.fail(c.lib.call(iallreduce, c.lib.inPlace, uintptr(unsafe.Pointer(&values[0])), uintptr(len(values)),
				c.lib.int64s, c.lib.ops[k], c.handle, c.request()))
		}
	}
	if len(sums)+len(minima) == 0 {
		c.fail(c.lib.call(ibarrier, c.handle, c.request()))
	}
}

// Abort ends all processes of the group, or at least this one.
func (c *Comm) Abort(code int) { _ = c.lib.call(abort, c.handle, uintptr(code)) }
