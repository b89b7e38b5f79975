// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package cuda

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

// link is how the GPU of a process reaches those of the others.
type link struct {
	group
	sharing  int                  // processes that have the same GPU
	staged   bool                 // no GPU opens the memory of another
	transfer string               // for the record
	opened   []uint64             // memory of other processes
	pinned   []driver.Pinned      // [2*ranks] for messages from the device and to it
	carrier  *carrier             // of the messages of a search, if staged
	nccl     *driver.NCCL         // moves parts of arrays on the device; nil: another way
	parts    [2][]driver.Transfer // of NCCL
}

// newLink connects this process, in the context of its GPU.
func newLink(world *worldGroup, d *gpu, c configuration) (*link, error) {
	l := &link{group: world}
	uuids, err := gather(world, []byte(d.UUID))
	if err != nil {
		return nil, err
	}
	for _, uuid := range uuids {
		if string(uuid) == d.UUID {
			l.sharing++
		}
	}
	switch transfer := c.Text("transfer"); {
	case c.ranks == 1:
	case transfer == "nccl":
		l.transfer = "through NCCL, with sparse frontiers and counters by MPI"
	case transfer == "staged":
		l.transfer = "through pinned host memory and MPI, as set"
	case world.here < c.ranks:
		l.transfer = "through pinned host memory and MPI, because the processes are on several hosts"
	}
	l.staged = l.transfer != ""
	l.transfer = cmp.Or(l.transfer, "stores to the other GPUs' memory, which is open in every process (CUDA IPC)")
	return l, nil
}

// startNCCL makes a communicator of all processes, for which the search leaves multiprocessors free.
func (r *rank) startNCCL() error {
	return r.do("communicator", func() {
		l := r.link
		id, err := driver.OpenNCCL()
		if err == nil && l.sharing > 1 {
			err = fmt.Errorf("%w: option transfer=nccl needs a GPU for each process, and %d have GPU %d", plugins.ErrUnavailable,
				l.sharing, r.device.Number)
		}
		var ids [][]byte
		if err = together(l, err, nil, nil); err == nil {
			ids, err = gather(l, id)
		}
		if err == nil {
			l.nccl, err = driver.NewNCCL(ids[0], l.Rank(), l.Size())
		}
		r.Fail("", err)
		r.device.searchBlocks -= driver.NCCLBlocks
		r.Memory.Limit -= driver.NCCLBytes
	})
}

// open lets rank k read and write the memory at at[k], unless that is 0 or failed is an error. It returns the addresses
// of memory that the others let this rank use. closeAll closes it.
func (l *link) open(at []uint64, failed error) (opened []uint64, err error) {
	send, receive := make([][]byte, l.Size()), make([][]byte, l.Size())
	for k := range send {
		if at[k] == 0 || k == l.Rank() || failed != nil {
			continue
		}
		var base cu.DevicePtr
		if _, base, failed = cu.DevicePtr(at[k]).AddressRange(); failed == nil {
			send[k], failed = exportMemory(uint64(base))
		}
		if send[k] = binary.NativeEndian.AppendUint64(send[k], at[k]-uint64(base)); failed != nil {
			send[k] = nil
		}
	}
	if err := together(l, nil, send, receive); err != nil {
		return nil, err
	}
	opened = make([]uint64, l.Size())
	for k, message := range receive {
		if handle := len(message) - 8; handle > 0 && k != l.Rank() && failed == nil {
			if opened[k], failed = openMemory(message[:handle]); failed != nil {
				return nil, fmt.Errorf("open the memory of the GPU of rank %d: %w; set transfer=staged", k, failed)
			}
			l.opened = append(l.opened, opened[k])
			opened[k] += binary.NativeEndian.Uint64(message[handle:])
		}
	}
	return opened, failed
}

// closeAll closes what open has opened.
func (l *link) closeAll() (err error) {
	for _, at := range l.opened {
		err = errors.Join(err, closeMemory(at))
	}
	l.opened = nil
	return err
}

// Ranks that share a process, in tests, have the same addresses.
var exportMemory, openMemory, closeMemory = driver.ExportMemory, driver.OpenMemory, driver.CloseMemory

// exported returns the size of an array that other processes open: whole pages of the driver, with nothing else.
func exported(bytes int64) int64 { return (bytes + 2<<20 - 1) &^ (2<<20 - 1) }

const pieceBytes = 16 << 20 // of a message between devices through the host

// move sends send[k] to rank k and receives receive[k] from it, in memory of the device. All ranks call it with the
// same largest, which is at least the length of every part.
func (l *link) move(send, receive []part, largest uint64) (err error) {
	switch {
	case !l.staged:
		return l.throughMemory(send, receive)
	case l.nccl != nil:
		return l.throughNCCL(send, receive)
	}
	for len(l.pinned) < 2*l.Size() && err == nil {
		var p driver.Pinned
		if p, err = driver.AllocatePinned(pieceBytes); err == nil {
			l.pinned = append(l.pinned, p)
		}
	}
	if err = together(l, err, nil, nil); err != nil {
		return err
	}
	out, in := make([][]byte, l.Size()), make([][]byte, l.Size())
	for first := uint64(0); first < largest; first += pieceBytes {
		for k := range out {
			out[k], in[k] = l.piece(2*k, send[k], first), l.piece(2*k+1, receive[k], first)
			if len(out[k]) > 0 && err == nil {
				err = driver.Read(out[k], send[k].at+first)
			}
		}
		if err = together(l, err, out, in); err != nil {
			return err
		}
		for k := range in {
			if bytes := l.piece(2*k+1, receive[k], first); len(bytes) > 0 && err == nil {
				err = driver.WriteAll(receive[k].at+first, bytes)
			}
		}
	}
	return agree(l, err)
}

// throughMemory reads what the others send from their memory.
func (l *link) throughMemory(send, receive []part) error {
	at := make([]uint64, l.Size())
	for k, p := range send {
		if p.bytes > 0 {
			at[k] = p.at
		}
	}
	from, err := l.open(at, cu.Synchronize())
	for k, p := range receive {
		if p.bytes > 0 && err == nil {
			err = cu.MemcpyDtoD(cu.DevicePtr(p.at), cu.DevicePtr(from[k]), int64(p.bytes))
		}
	}
	err = agree(l, cmp.Or(err, cu.Synchronize())) // then no one reads any longer
	return errors.Join(err, l.closeAll())
}

// piece is pinned memory for the piece of a part that begins at an offset.
func (l *link) piece(i int, p part, first uint64) []byte {
	n := min(p.bytes-min(first, p.bytes), pieceBytes)
	return unsafe.Slice((*byte)(l.pinned[i].Host), pieceBytes)[:n:n]
}

func (l *link) throughNCCL(send, receive []part) error {
	for i, parts := range [][]part{send, receive} {
		l.parts[i] = l.parts[i][:0]
		for k, p := range parts {
			if k != l.Rank() {
				l.parts[i] = append(l.parts[i], driver.Transfer{Rank: k, At: p.at, Bytes: p.bytes})
			}
		}
	}
	return l.nccl.Move(l.parts[0], l.parts[1])
}

// connect makes the arrays of the exchange, and lets the kernels of this process reach them or those of the others.
func (l *link) connect(r *rank) (all deviceExchange, err error) {
	g := &r.graph
	all.Patience = uint64(patience)
	block := 32 * int64(g.Words)
	list, inbox := 2*4*32*int64(g.FrontierWords), 8*int64(g.Columns)*block
	found := 4 * max(int64(g.Columns)-1, 1) * block
	if !l.staged {
		mailbox := r.Array("messages", exported(mailboxBytes))
		r.Fill(mailbox, 0, mailboxBytes)
		for _, array := range []struct {
			all *[maxRanks]uint64
			own uint64
		}{
			{&all.Mailbox, mailbox}, {&all.Frontier, g.Frontier[0]},
			{&all.Inbox, r.Array("vertices found by others", exported(inbox))},
			{&all.Found, r.Array("vertices found for others", exported(found))},
			{&all.List, r.Array("sparse frontiers", exported(list))},
		} {
			others, err := l.open(slices.Repeat([]uint64{array.own}, l.Size()), cmp.Or(r.Err, cu.Synchronize()))
			if err = agree(l, err); err != nil {
				return all, err
			}
			copy(array.all[:], others)
			array.all[l.Rank()] = array.own
		}
		return all, nil
	}
	if r.c.Text("messages") == "bitmaps" && g.Columns > 1 {
		return all, fmt.Errorf("option messages=bitmaps: %w: messages go %s", plugins.ErrUnavailable, l.transfer)
	}
	array := func(what string, bytes int64, inHost bool) (a array) {
		if !inHost {
			return array{at: r.Array(what, bytes)}
		}
		if a.at = r.hostArray(what, bytes); r.Err == nil {
			a.host = driver.HostSlice[byte](r.Memory, a.at, bytes)
			clear(a.host)
		}
		return a
	}
	host := l.nccl == nil
	mail := array("messages", int64(l.Size())*mailboxBytes, true)
	c := &carrier{
		world: l.group, columns: g.Columns, words: g.Words,
		frontier: array("frontiers", 2*4*int64(g.FrontierWords), host), list: array("sparse frontiers", list, true),
		inbox: array("vertices found by others", inbox, host), outbox: array("vertices found for others", inbox, host),
	}
	if r.Err != nil {
		return all, r.Err
	}
	c.prepare()
	if c.move = c.throughMPI; !host {
		c.move = l.throughNCCL
	}
	c.mail = driver.HostSlice[mailbox](r.Memory, mail.at, int64(l.Size()))
	all.Staged, all.Frontier[0] = 1, c.frontier.at
	column := g.Rank % g.Columns
	for k := range uint64(l.Size()) {
		all.Mailbox[k], all.List[k] = mail.at+k*mailboxBytes, c.list.at
		// The kernel writes vertices of rank k at the column of this rank.
		all.Inbox[k] = c.outbox.at + 8*32*g.Words*(k%g.Columns-column)
	}
	all.Inbox[g.Rank] = c.inbox.at
	l.carrier = c
	return all, nil
}

// close ends the link when all processes have ended what they do with it.
func (l *link) close() error {
	_ = together(l, nil, nil, nil)
	err := l.closeAll()
	_ = together(l, nil, nil, nil) // only then memory that others had opened is freed
	return errors.Join(err, l.release())
}

// release frees what this process has.
func (l *link) release() error {
	err := l.closeAll()
	if l.nccl != nil {
		err = errors.Join(err, l.nccl.Close())
	}
	for _, p := range l.pinned {
		err = errors.Join(err, p.Free())
	}
	return err
}

// over reports whether a loop of searches ends, on the clock of rank 0.
func (l *link) over(ctx context.Context, start time.Time, duration time.Duration) (bool, error) {
	ended := uint64(0)
	if time.Since(start) >= duration {
		ended = 1
	}
	if err := ctx.Err(); err != nil {
		return true, agree(l, err)
	}
	all, err := gatherNumbers(l, ended)
	return err == nil && all[0][0] != 0, err
}
