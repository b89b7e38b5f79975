// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"encoding/json"
	"sync/atomic"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/team"
)

// shared is the memory that the ranks of a group share if they are on one host. Each reads messages in the memory of
// their sender, which has copied them once. Messages that have no room are left to MPI.
//
// The memory begins with a rank's number of calls. Behind it are two halves, for calls with even and with odd numbers,
// because others may be reading one when a rank is a call ahead: a block for every rank, then messages. A block has the
// length of the message to that rank, its position, the values to combine, and the message if it fits.
type shared struct {
	all       bool       // the ranks share memory
	peers     [][]uint32 // [rank] its memory
	calls     uint32
	half      int      // first word of the current half
	from, end int      // words of the half that are not used
	placed    []uint32 // the last message
}

const (
	headerWords  = 32      // a cache line, and the one that a processor fetches with it
	messageWords = 1 << 20 // pages that are never touched take no memory

	blockWords  = 48
	blockHeader = 3 + 2*comm.MaxReduce // length, position, whether the rank leaves a message to MPI, values

	leftToMPI = 1 // the position of a message
)

func (g *group) halfWords() int { return g.size*blockWords + messageWords }

// block returns the block of a rank to another one in the current call.
func (g *group) block(from, to int) []uint32 {
	return g.shared.peers[from][g.shared.half+to*blockWords:][:blockWords]
}

func (g *group) throughMemory(send, receive [][]uint32, sums, minima []int64) {
	s := &g.shared
	s.calls, s.placed = s.calls+1, nil
	s.half = headerWords + int(s.calls&1)*g.halfWords()
	s.from, s.end = s.half+g.size*blockWords, s.half+g.halfWords()
	clear(g.out)
	left := uint32(0)
	for k, message := range send {
		if k == g.rank {
			continue
		}
		block := g.block(g.rank, k)
		if block[0], block[1] = uint32(len(message)), 0; len(message) <= blockWords-blockHeader {
			copy(block[blockHeader:], message)
		} else if block[1] = g.place(message); block[1] == leftToMPI {
			g.out[k], left = bytesOf(message), 1
		}
	}
	var room, other [comm.MaxReduce]int64
	values := append(append(room[:0], sums...), minima...)
	for k := range g.size {
		block := g.block(g.rank, k)
		block[2] = left
		for i, v := range values {
			block[3+2*i], block[4+2*i] = uint32(v), uint32(uint64(v)>>32)
		}
	}
	g.meet()
	for k := range g.size {
		block := g.block(k, g.rank)
		for i := range values {
			other[i] = int64(uint64(block[3+2*i]) | uint64(block[4+2*i])<<32)
		}
		comm.Combine(values, other[:len(values)], len(sums), k)
		left |= block[2]
	}
	copy(minima, values[copy(sums, values):])
	if left != 0 {
		g.must(g.mpi.Alltoallv(g.out, g.in, nil, nil))
	}
	for k := range receive {
		block := g.block(k, g.rank)
		switch n := block[0]; {
		case k == g.rank:
			receive[k] = send[k]
		case n <= blockWords-blockHeader:
			receive[k] = block[blockHeader:][:n]
		case block[1] == leftToMPI:
			receive[k] = wordsOf(g.in[k])
		default:
			receive[k] = s.peers[k][block[1]:][:n]
		}
	}
}

// place copies a message and returns its position, or leftToMPI for one that does not fit.
func (g *group) place(message []uint32) (position uint32) {
	s, n := &g.shared, len(message)
	if unsafe.SliceData(s.placed) == unsafe.SliceData(message) && len(s.placed) == n {
		return uint32(s.from - n) // the same to another rank
	}
	if s.from+n > s.end {
		return leftToMPI
	}
	copy(s.peers[g.rank][s.from:], message)
	s.placed, s.from = message, s.from+n
	return uint32(s.from - n)
}

// meet waits until all ranks have written their blocks.
func (g *group) meet() {
	s := &g.shared
	atomic.StoreUint32(&s.peers[g.rank][0], s.calls)
	for _, memory := range s.peers {
		for look := 0; int32(atomic.LoadUint32(&memory[0])-s.calls) < 0; look++ {
			switch {
			case g.idle != nil:
				g.doIdle()
			case look > spins:
				g.yield()
				team.YieldProcessor()
			}
		}
	}
}

const spins = 1 << 10 // looks for another rank before a rank yields its processor

// share lets the ranks of the group share memory if they are on one host. All ranks call it.
func (g *group) share() {
	words, peers, missing := headerWords+2*g.halfWords(), make([][]uint32, g.size), false
	own, at, file := shareMemory[uint32](g.system, words)
	defer file.Close() // when all have opened it
	for k, message := range comm.Allgather(g, pack(at)) {
		var other address
		if peers[k] = own; k != g.rank && unpack(message, &other) == nil {
			peers[k] = openMemory[uint32](g.system, other, words)
		}
		missing = missing || peers[k] == nil
	}
	if !comm.Any(g, missing) {
		g.shared.peers, g.shared.all = peers, true
	}
}

// address is where other processes of the same system find memory.
type address struct{ System, Path string }

// pack encodes an address as a message: JSON with blanks up to whole words.
func pack(at address) []uint32 {
	data, _ := json.Marshal(at) // has no errors
	words := make([]uint32, (len(data)+wordBytes-1)/wordBytes)
	copy(bytesOf(words), append(data, "   "...))
	return words
}

func unpack(words []uint32, at *address) error { return json.Unmarshal(bytesOf(words), at) }
