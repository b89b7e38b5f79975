// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package team

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/offload"
	"github.com/tepsbench/teps/plugins"
)

// Link is how the GPU of a process reaches those of the others.
type Link struct {
	Group
	Staged   bool   // no GPU opens the memory of another
	Transfer string // for the record
	gpu      *driver.GPU
	sharing  int                  // processes that have the same GPU
	opened   []uint64             // memory of other processes
	pinned   []driver.Pinned      // [2*ranks] for messages from the device and to it
	nccl     *driver.NCCL         // moves parts of arrays on the device; nil: another way
	parts    [2][]driver.Transfer // of NCCL
}

// NewLink connects this process, in the context of its GPU. transfer is the option.
func NewLink(world *World, gpu *driver.GPU, transfer string) (*Link, error) {
	l := &Link{Group: world, gpu: gpu}
	uuids, err := Gather(world, []byte(gpu.UUID))
	if err != nil {
		return nil, err
	}
	for _, uuid := range uuids {
		if string(uuid) == gpu.UUID {
			l.sharing++
		}
	}
	switch {
	case l.Size() == 1:
	case transfer == "nccl":
		l.Transfer = "through NCCL, with sparse frontiers and counters by MPI"
	case transfer == "staged":
		l.Transfer = "through pinned host memory and MPI, as set"
	case world.Here < l.Size():
		l.Transfer = "through pinned host memory and MPI, because the processes are on several hosts"
	}
	l.Staged = l.Transfer != ""
	l.Transfer = cmp.Or(l.Transfer, "stores to the other GPUs' memory, which is open in every process (CUDA IPC)")
	return l, nil
}

// NewWork starts the clock of kernel 1 of this process, with its share of the memory of the GPU.
func (l *Link) NewWork(ctx context.Context, limit int64, advice string) driver.Work {
	w := driver.NewWork(ctx, l.gpu, limit, advice)
	w.Memory.Limit /= int64(l.sharing)
	return w
}

// Step calls f, waits for the GPU, and returns the error of any process.
func (l *Link) Step(w *driver.Work, action string, f func()) error {
	w.Fail(action, l.gpu.Do(func() error {
		f()
		if w.Err != nil {
			return nil
		}
		return cu.Synchronize()
	}))
	if w.Err != nil {
		return fmt.Errorf("GPU %d: %w", l.gpu.Number, Agree(l, w.Err))
	}
	return Agree(l, nil)
}

// NCCL reports whether a communicator moves parts of arrays on the device.
func (l *Link) NCCL() bool { return l.nccl != nil }

// StartNCCL makes a communicator of all processes.
func (l *Link) StartNCCL(w *driver.Work) error {
	return l.Step(w, "communicator", func() {
		id, err := driver.OpenNCCL()
		if err == nil && l.sharing > 1 {
			err = fmt.Errorf("%w: option transfer=nccl needs a GPU for each process, and %d have GPU %d", plugins.ErrUnavailable,
				l.sharing, l.gpu.Number)
		}
		var ids [][]byte
		if err = Together(l, err, nil, nil); err == nil {
			ids, err = Gather(l, id)
		}
		if err == nil {
			l.nccl, err = driver.NewNCCL(ids[0], l.Rank(), l.Size())
		}
		w.Fail("", err)
		w.Memory.Limit -= driver.NCCLBytes
	})
}

// self stands for this process: its ranks, in tests, have the same addresses.
var self = rand.Text()

// Open lets rank k read and write the memory at at[k], unless that is 0 or failed is an error. It returns the addresses
// of memory that the others let this rank use, until Close.
func (l *Link) Open(at []uint64, failed error) (opened []uint64, err error) {
	send, receive := make([][]byte, l.Size()), make([][]byte, l.Size())
	for k := range send {
		if at[k] == 0 || k == l.Rank() || failed != nil {
			continue
		}
		var base cu.DevicePtr
		if _, base, failed = cu.DevicePtr(at[k]).AddressRange(); failed != nil {
			continue
		}
		var handle []byte
		if handle, failed = driver.ExportMemory(uint64(base)); failed == nil {
			send[k] = binary.NativeEndian.AppendUint64([]byte(self), at[k])
			send[k] = append(binary.NativeEndian.AppendUint64(send[k], at[k]-uint64(base)), handle...)
		}
	}
	if err := Together(l, nil, send, receive); err != nil {
		return nil, err
	}
	opened = make([]uint64, l.Size())
	for k, message := range receive {
		if len(message) < len(self) || k == l.Rank() || failed != nil {
			continue
		}
		there, message := string(message[:len(self)]), message[len(self):]
		if there == self {
			opened[k] = binary.NativeEndian.Uint64(message)
			continue
		}
		if opened[k], failed = driver.OpenMemory(message[16:]); failed != nil {
			return nil, fmt.Errorf("open the memory of the GPU of rank %d: %w; set transfer=staged", k, failed)
		}
		l.opened = append(l.opened, opened[k])
		opened[k] += binary.NativeEndian.Uint64(message[8:])
	}
	return opened, failed
}

// OpenAll is Open with the same memory for all, and the own address of it. All ranks return an error if one has one.
func (l *Link) OpenAll(at uint64, failed error) ([]uint64, error) {
	all, err := l.Open(slices.Repeat([]uint64{at}, l.Size()), cmp.Or(failed, cu.Synchronize()))
	if err = Agree(l, err); err == nil {
		all[l.Rank()] = at
	}
	return all, err
}

// close closes the memory that was opened after the first n times.
func (l *Link) close(n int) (err error) {
	for _, at := range l.opened[n:] {
		err = errors.Join(err, driver.CloseMemory(at))
	}
	l.opened = l.opened[:n]
	return err
}

// Exported returns the size of an array that other processes open: whole pages of the driver, with nothing else.
func Exported(bytes int64) int64 { return (bytes + 2<<20 - 1) &^ (2<<20 - 1) }

const pieceBytes = 16 << 20 // of a message between devices through the host

// Move sends send[k] to rank k and receives receive[k] from it, in memory of the device. All ranks call it with the
// same largest, which is at least the length of every part. Without Staged, from has the addresses of the parts in the
// memory of their senders, which are complete and open; if it is nil, Move opens them.
func (l *Link) Move(from []uint64, send, receive []Part, largest uint64) (err error) {
	switch {
	case !l.Staged:
		return l.throughMemory(from, send, receive)
	case l.nccl != nil:
		return l.ThroughNCCL(send, receive)
	}
	for len(l.pinned) < 2*l.Size() && err == nil {
		var p driver.Pinned
		if p, err = driver.AllocatePinned(pieceBytes); err == nil {
			l.pinned = append(l.pinned, p)
		}
	}
	if err = Together(l, err, nil, nil); err != nil {
		return err
	}
	out, in := make([][]byte, l.Size()), make([][]byte, l.Size())
	for first := uint64(0); first < largest; first += pieceBytes {
		for k := range out {
			out[k], in[k] = l.piece(2*k, send[k], first), l.piece(2*k+1, receive[k], first)
			if len(out[k]) > 0 && err == nil {
				err = driver.Read(out[k], send[k].At+first)
			}
		}
		if err = Together(l, err, out, in); err != nil {
			return err
		}
		for k := range in {
			if bytes := l.piece(2*k+1, receive[k], first); len(bytes) > 0 && err == nil {
				err = driver.WriteAll(receive[k].At+first, bytes)
			}
		}
	}
	return Agree(l, err)
}

// throughMemory reads what the others send from their memory.
func (l *Link) throughMemory(from []uint64, send, receive []Part) (err error) {
	before := len(l.opened)
	if from == nil {
		at := make([]uint64, l.Size())
		for k, p := range send {
			if p.Bytes > 0 {
				at[k] = p.At
			}
		}
		from, err = l.Open(at, cu.Synchronize())
	}
	for k, p := range receive {
		if p.Bytes > 0 && err == nil {
			err = cu.MemcpyDtoD(cu.DevicePtr(p.At), cu.DevicePtr(from[k]), int64(p.Bytes))
		}
	}
	err = Agree(l, cmp.Or(err, cu.Synchronize())) // then no one reads any longer
	return errors.Join(err, l.close(before))
}

// piece is pinned memory for the piece of a part that begins at an offset.
func (l *Link) piece(i int, p Part, first uint64) []byte {
	n := min(p.Bytes-min(first, p.Bytes), pieceBytes)
	return unsafe.Slice((*byte)(l.pinned[i].Host), pieceBytes)[:n:n]
}

// ThroughNCCL is Move by the communicator.
func (l *Link) ThroughNCCL(send, receive []Part) error {
	for i, parts := range [][]Part{send, receive} {
		l.parts[i] = l.parts[i][:0]
		for k, p := range parts {
			if k != l.Rank() {
				l.parts[i] = append(l.parts[i], driver.Transfer{Rank: k, At: p.At, Bytes: p.Bytes})
			}
		}
	}
	return l.nccl.Move(l.parts[0], l.parts[1])
}

// Edges brings both edges of every tuple, source<<32 | target, to the GPUs of a grid that they belong to
// (../kernels/edges.cu). With one column, these are the owners of their targets. In each step a rank sends to another
// one, first to itself. forTuples queues kernels that read all tuples.
func (l *Link) Edges(w *driver.Work, forTuples func(queue func(pairs, n uint64)), columns uint64) (
	edges, n uint64, err error) {
	ranks, rank := uint64(l.Size()), uint64(l.Rank())
	var own []uint64 // by receiver
	var counters, buffer uint64
	if err := l.Step(w, "count edges", func() {
		counters = w.Filled("counters", 8*MaxRanks, 0)
		forTuples(func(pairs, n uint64) { w.Loop(countEdgesKernel(pairs, n, ranks, columns, counters)) })
		own = driver.Get(w, make([]uint64, ranks), counters)
	}); err != nil {
		return 0, 0, err
	}
	counts, err := GatherNumbers(l, own...) // by sender and receiver
	if err != nil {
		return 0, 0, err
	}
	largest := uint64(0)
	if err := l.Step(w, "edges", func() {
		for _, c := range counts {
			n += c[rank]
			largest = max(largest, 8*slices.Max(c))
		}
		edges = w.Array("edges", int64(8*n))
		buffer = w.Array("edges to send", Exported(8*int64(slices.Max(own))))
	}); err != nil {
		return 0, 0, err
	}
	for step := range ranks {
		to, from := (rank+step)%ranks, (rank+ranks-step)%ranks
		if err := l.Step(w, "select edges", func() {
			w.Fill(counters, 0, 8*MaxRanks)
			forTuples(func(pairs, n uint64) {
				w.Loop(selectEdgesKernel(pairs, n, to, ranks, columns, buffer, counters))
			})
		}); err != nil {
			return 0, 0, err
		}
		at, send, receive := edges, make([]Part, ranks), make([]Part, ranks)
		for _, c := range counts[:from] {
			at += 8 * c[rank]
		}
		send[to], receive[from] = At(buffer, 8*own[to]), At(at, 8*counts[from][rank])
		if err := l.gpu.Do(func() error {
			if step > 0 {
				return l.Move(nil, send, receive, largest)
			} else if own[to] == 0 {
				return nil
			}
			return cu.MemcpyDtoD(cu.DevicePtr(at), cu.DevicePtr(buffer), int64(8*own[to]))
		}); err != nil {
			return 0, 0, err
		}
	}
	return edges, n, l.Step(w, "edges", func() { w.Release(&buffer, &counters) })
}

// Facts describes the link for the record.
func (l *Link) Facts(partition string) []plugins.Fact {
	return []plugins.Fact{
		{Name: plugins.DeviceUUID, Value: l.gpu.UUID},
		{Name: "GPUs", Value: fmt.Sprintf("%d processes under MPI, a GPU each", l.Size())},
		{Name: "partition", Value: partition},
		{Name: "transfer", Value: l.Transfer},
		{Name: "parents", Value: "in the memory of their owner, label modulo ranks, 64 bits each in original labels, when " +
			"the clock stops; copied to the host afterwards"},
	}
}

// Publish completes b with kernel 2 of its graph. The clock of rank 0 ends Repeat.
func (l *Link) Publish(b *plugins.Built, s offload.Search) {
	offload.Publish(b, s, nil)
	b.Repeat = func(ctx context.Context, roots []graph.Vertex, duration time.Duration, out plugins.Output) (
		searches int64, err error) {
		err = offload.Run(ctx, s, out, func() error {
			for start := time.Now(); ; searches++ {
				if over, err := l.over(ctx, start, duration); err != nil || over {
					return err
				}
				if err := s.Traverse(ctx, roots[searches%int64(len(roots))]); err != nil {
					return err
				}
			}
		})
		return searches, err
	}
	b.Free = func() error { // memory that others have opened is freed only when they have closed it
		return errors.Join(l.gpu.Do(l.leave), s.Close())
	}
}

// over reports whether a loop of searches ends.
func (l *Link) over(ctx context.Context, start time.Time, duration time.Duration) (bool, error) {
	ended := uint64(0)
	if time.Since(start) >= duration {
		ended = 1
	}
	if err := ctx.Err(); err != nil {
		return true, Agree(l, err)
	}
	all, err := GatherNumbers(l, ended)
	return err == nil && all[0][0] != 0, err
}

// leave ends the link when all processes have ended what they do with it.
func (l *Link) leave() error {
	_ = Together(l, nil, nil, nil)
	err := l.close(0)
	_ = Together(l, nil, nil, nil)
	return errors.Join(err, l.Release())
}

// Release frees what this process has.
func (l *Link) Release() error {
	err := l.close(0)
	if l.nccl != nil {
		err = errors.Join(err, l.nccl.Close())
	}
	for _, p := range l.pinned {
		err = errors.Join(err, p.Free())
	}
	return err
}
