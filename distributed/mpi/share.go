// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/team"
)

// shared is the memory that the ranks of a group share if they are on one host. Each reads messages in the memory of
// their sender, which has copied them once. Messages that have no room are left to MPI.
//
// The memory of a rank has two halves, for calls with even and with odd numbers, because others may be reading one when
// a rank is a call ahead. A half begins with what is for all ranks: the number of the call, the values to combine, and
// the block of a message. Behind it are a block for every rank, and the messages that do not fit their blocks.
type shared struct {
	all    bool       // the ranks share memory
	peers  [][]uint32 // [rank] its memory
	calls  uint32
	half   int      // first word of the current half
	from   int      // first word of the own memory that is not used
	placed []uint32 // the last message
}

// A half, in words.
const (
	callWord   = 0 // number of the call, written last
	leftWord   = 1 // 1: the rank leaves a message to MPI
	valueWords = 2 // first of the values, which have two words each
	allWords   = valueWords + 2*comm.MaxReduce

	headerWords  = 64      // some cache lines, which one processor writes
	blockWords   = 48      // length of the message, position, and the message if it fits
	messageWords = 1 << 20 // pages that are never touched take no memory

	leftToMPI = 1 // the position of a message
)

func (g *group) halfWords() int { return headerWords + g.size*blockWords + messageWords }

// block returns the block of a rank for another one in the current call, or for all if to is -1.
func (g *group) block(from, to int) []uint32 {
	half := g.shared.peers[from][g.shared.half:]
	if to < 0 {
		return half[allWords:headerWords]
	}
	return half[headerWords+to*blockWords:][:blockWords]
}

// throughMemory sends messages to each rank or, if send is nil, one to all, and stores that of rank k in receive[k].
func (g *group) throughMemory(send [][]uint32, all []uint32, receive [][]uint32, sums, minima []int64) {
	s := &g.shared
	s.calls, s.placed = s.calls+1, nil
	s.half = int(s.calls&1) * g.halfWords()
	s.from = s.half + headerWords + g.size*blockWords
	half := func(k int) []uint32 { return s.peers[k][s.half:] }
	half(g.rank)[leftWord] = 0
	clear(g.out)
	to := g.rank
	for k, message := range send {
		if k != g.rank {
			g.write(k, message)
		} else {
			all = message
		}
	}
	if send == nil {
		to = -1
		g.write(to, all)
	}
	values := longs(half(g.rank)[valueWords:])
	copy(values[copy(values, sums):], minima)
	g.meet()
	var combined [comm.MaxReduce]int64
	left := uint32(0)
	for k := range g.size {
		comm.Combine(combined[:], longs(half(k)[valueWords:])[:len(sums)+len(minima)], len(sums), k)
		left |= half(k)[leftWord]
	}
	copy(minima, combined[copy(sums, combined[:]):])
	if left != 0 {
		g.must(g.mpi.Alltoallv(g.out, g.in, nil, nil))
	}
	for k := range receive {
		block := g.block(k, to)
		switch n, position := block[0], block[1]; {
		case k == g.rank:
			receive[k] = all
		case position == leftToMPI:
			receive[k] = wordsOf(g.in[k])
		case position > 0:
			receive[k] = s.peers[k][position:][:n]
		default:
			receive[k] = block[2:][:n]
		}
	}
}

// longs returns the values of a half.
func longs(words []uint32) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(words))), comm.MaxReduce)
}

// write writes the block of a message, which it copies or leaves to MPI.
func (g *group) write(to int, message []uint32) {
	block, n, s := g.block(g.rank, to), len(message), &g.shared
	block[0], block[1] = uint32(n), 0
	switch {
	case n <= len(block)-2:
		copy(block[2:], message)
	case unsafe.SliceData(s.placed) == unsafe.SliceData(message) && len(s.placed) == n:
		block[1] = uint32(s.from - n) // the same to another rank
	case s.from+n <= s.half+g.halfWords():
		block[1] = uint32(s.from)
		s.placed, s.from = message, s.from+copy(s.peers[g.rank][s.from:], message)
	default:
		block[1], s.peers[g.rank][s.half+leftWord] = leftToMPI, 1
		for k := range g.out {
			if k == to || to < 0 {
				g.out[k] = bytesOf(message)
			}
		}
	}
}

// meet waits until all ranks have written their halves.
func (g *group) meet() {
	s := &g.shared
	atomic.StoreUint32(&s.peers[g.rank][s.half+callWord], s.calls)
	for _, memory := range s.peers {
		for look := 0; atomic.LoadUint32(&memory[s.half+callWord]) != s.calls; look++ {
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
	words, peers, missing := 2*g.halfWords(), make([][]uint32, g.size), false
	own, at, file := shareMemory[uint32](g.system, words)
	defer file.Close() // when all have opened it
	address := make([]uint32, (len(at)+wordBytes-1)/wordBytes)
	copy(bytesOf(address), at)
	for k, other := range comm.Allgather(g, address) {
		if peers[k] = own; k != g.rank {
			peers[k] = openMemory[uint32](g.system, strings.TrimRight(string(bytesOf(other)), "\x00"), words)
		}
		missing = missing || peers[k] == nil
	}
	if !comm.Any(g, missing) {
		g.shared.peers, g.shared.all = peers, true
	}
}
