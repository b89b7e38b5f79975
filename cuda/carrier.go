// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/tepsbench/teps/cuda/team"
)

// What the kernels have sent each other before a barrier: enum After of exchange.cuh.
const (
	afterNothing = iota
	afterWords
	afterSparseFrontier
	afterFold
)

// abandoned is ABANDONED: a barrier to which another GPU will not come.
const abandoned = ^uint64(0)

// mailbox is struct Mailbox: messages by sender.
type mailbox [maxRanks][2]deviceMessage

// carrier moves the messages between the kernels of processes that share no memory (exchange.cuh).
type carrier struct {
	world          team.Group
	columns, words uint64 // of the grid; own words of a frontier
	// mail is in pinned memory. mail[k] is what the own kernel writes to rank k, or reads at its own rank.
	mail           []mailbox
	frontier, list team.Array // Exchange.frontier and, in the host, Exchange.list of staged GPUs
	inbox, outbox  team.Array // [columns][32*words] vertices from and to the other GPUs of the row, by column
	move           func(send, receive []team.Part) error

	messages, received [][]byte
	out, in            []team.Part
	headers            []deviceMessage // received
	last               uint64          // barrier
}

// prepare makes the room for messages.
func (c *carrier) prepare() {
	ranks := c.world.Size()
	c.messages, c.received = make([][]byte, ranks), make([][]byte, ranks)
	c.out, c.in = make([]team.Part, ranks), make([]team.Part, ranks)
	c.headers = make([]deviceMessage, ranks)
}

// serve moves the messages of a kernel that runs until it has ended. After an error the kernel ends its search, because
// no others come to its next barrier.
func (c *carrier) serve(ended func() (bool, error)) (failed error) {
	for looks := 0; ; looks++ {
		if half, ok := c.arrived(); ok && failed == nil {
			if failed = c.exchange(half); failed != nil {
				c.mark(abandoned)
			}
		}
		if looks%64 != 0 {
			continue
		}
		runtime.Gosched() // in tests kernels are goroutines
		if over, err := ended(); over || err != nil {
			if failed != nil {
				c.mark(0)
			}
			return cmp.Or(failed, err)
		}
	}
}

// arrived reports whether the kernel has come to another barrier, and in which half of the mailboxes its messages are.
// The flags of a barrier become visible in any order.
func (c *carrier) arrived() (half int, ok bool) {
	rank := c.world.Rank()
	other := (rank + 1) % len(c.mail)
	for half := range 2 {
		barrier := atomic.LoadUint64(&c.mail[other][rank][half].Barrier)
		if ok = barrier > c.last; !ok {
			continue
		}
		for k := range c.mail {
			ok = ok && (k == rank || atomic.LoadUint64(&c.mail[k][rank][half].Barrier) == barrier)
		}
		if ok {
			c.last = barrier
		}
		return half, ok
	}
	return 0, false
}

// mark writes the flags of all messages that the kernel waits for.
func (c *carrier) mark(barrier uint64) {
	own := &c.mail[c.world.Rank()]
	for k := range c.world.Size() {
		for half := range own[k] {
			atomic.StoreUint64(&own[k][half].Barrier, barrier)
		}
	}
}

// exchange sends the messages of a barrier and what the kernel has sent before it, and delivers those of the others.
func (c *carrier) exchange(half int) error {
	rank := c.world.Rank()
	own := c.mail[(rank+1)%c.world.Size()][rank][half]
	for k := range c.messages {
		if c.messages[k], c.received[k] = nil, nil; k != rank {
			c.messages[k], c.received[k] = messageBytes(&c.mail[k][rank][half]), messageBytes(&c.headers[k])
		}
	}
	if err := team.Together(c.world, nil, c.messages, c.received); err != nil {
		return err
	}
	for k, h := range c.headers {
		if k != rank && (h.Barrier != own.Barrier || h.After != own.After) {
			return fmt.Errorf("the GPU of rank %d is at barrier %#x of kind %d, and that of rank %d at %#x of kind %d",
				rank, own.Barrier, own.After, k, h.Barrier, h.After)
		}
	}
	move := c.move
	if own.After == afterSparseFrontier {
		move = c.throughMPI
	}
	if c.addressed(half, own) {
		if err := move(c.out, c.in); err != nil {
			return err
		}
	}
	for k, h := range c.headers {
		if k != rank {
			into := &c.mail[rank][k][half]
			into.Counter, into.Sent = h.Counter, h.Sent
			atomic.StoreUint64(&into.Barrier, h.Barrier)
		}
	}
	return nil
}

// addressed sets out and in to what the kernels have sent before a barrier. It reports whether there can be any.
func (c *carrier) addressed(half int, own deviceMessage) (some bool) {
	rank, ranks, vertices := uint64(c.world.Rank()), uint64(c.world.Size()), 32*c.words
	for i := range c.out {
		k, sends, gets := uint64(i), c.mail[i][rank][half].Sent, c.headers[i].Sent
		c.out[i], c.in[i] = team.Part{}, team.Part{}
		switch {
		case k == rank:
			continue
		case own.After == afterWords:
			c.out[i] = c.frontier.Part(4, (own.Half*ranks+rank)*c.words, c.words)
			c.in[i] = c.frontier.Part(4, (own.Half*ranks+k)*c.words, c.words)
		case own.After == afterSparseFrontier:
			c.out[i] = c.list.Part(4, (own.Half*ranks+rank)*vertices, sends)
			c.in[i] = c.list.Part(4, (own.Half*ranks+k)*vertices, gets)
		case own.After == afterFold && k/c.columns == rank/c.columns:
			c.out[i] = c.outbox.Part(8, k%c.columns*vertices, sends)
			c.in[i] = c.inbox.Part(8, k%c.columns*vertices, gets)
		}
		some = some || own.After != afterNothing
	}
	return some
}

// throughMPI moves parts of arrays in the host.
func (c *carrier) throughMPI(send, receive []team.Part) error {
	for k := range send {
		c.messages[k], c.received[k] = send[k].Host, receive[k].Host
	}
	err := team.Together(c.world, nil, c.messages, c.received)
	for k := range receive {
		if k != c.world.Rank() && err == nil && uint64(len(c.received[k])) != receive[k].Bytes {
			err = fmt.Errorf("rank %d sent %d bytes, not %d", k, len(c.received[k]), receive[k].Bytes)
		}
	}
	return err
}

func messageBytes(m *deviceMessage) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(m)), unsafe.Sizeof(*m))
}
