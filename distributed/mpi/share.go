// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"encoding/json"
	"sync/atomic"
	"unsafe"

	"github.com/tepsbench/teps/distributed/comm"
	"github.com/tepsbench/teps/internal/team"
)

// shared is the memory that the ranks of a group share on a host. Each reads messages in the memory of their sender,
// which has copied them once. If all ranks of a group are on one host, they find the blocks of an exchange there too,
// and MPI takes no part. Messages to other hosts, and those that have no room, are left to MPI.
//
// The memory begins with a rank's number of calls. Behind it are two halves, for calls with even and with odd numbers,
// because others may be reading one when a rank is a call ahead: a block for every rank, then messages.
type shared struct {
	peers     [][]uint32 // [rank] its memory; nil: it is elsewhere
	all       bool       // no rank is elsewhere
	calls     uint32
	half      int      // first word of the current half
	from, end int      // words of the half that are not used
	placed    []uint32 // the last message
}

const (
	headerWords  = 32      // a cache line, and the one that a processor fetches with it
	messageWords = 1 << 20 // pages that are never touched take no memory
)

func (g *group) halfWords() int { return g.size*eagerWords + messageWords }

func (g *group) begin() {
	g.yield()
	s := &g.shared
	s.calls, s.placed = s.calls+1, nil
	s.half = headerWords + int(s.calls&1)*g.halfWords()
	s.from, s.end = s.half+g.size*eagerWords, s.half+g.halfWords()
	if s.all {
		g.send = s.peers[g.rank][s.half:s.from]
	}
}

// place copies a message and returns its position, or 0 if there is no room.
func (g *group) place(message []uint32) (position uint32) {
	s, n := &g.shared, len(message)
	if unsafe.SliceData(s.placed) == unsafe.SliceData(message) && len(s.placed) == n {
		return uint32(s.from - n) // the same to another rank
	}
	own := s.peers[g.rank]
	if own == nil || s.from+n > s.end {
		return 0
	}
	copy(own[s.from:], message)
	s.placed, s.from = message, s.from+n
	return uint32(s.from - n)
}

// meet waits until all ranks have sent their blocks, in groups that share all memory.
func (g *group) meet() {
	s := &g.shared
	atomic.StoreUint32(&s.peers[g.rank][0], s.calls)
	for k, memory := range s.peers {
		for look := 0; int32(atomic.LoadUint32(&memory[0])-s.calls) < 0; look++ {
			switch {
			case g.idle != nil:
				g.doIdle()
			case look > spins:
				g.yield()
				team.YieldProcessor()
			}
		}
		g.receive[k] = memory[s.half+g.rank*eagerWords:][:eagerWords]
	}
}

const spins = 1 << 10 // looks for another rank before a rank yields its processor

// share lets the ranks of the group that are on one host share memory. All ranks call it.
func (g *group) share() {
	words := headerWords + 2*g.halfWords()
	send, peers := make([][]uint32, g.size), make([][]uint32, g.size)
	own, at, file := shareMemory[uint32](g.system, words)
	defer file.Close()
	peers[g.rank] = own
	received := comm.Allgather(g, pack(at))
	for k, message := range received {
		var other address
		if k == g.rank || unpack(message, &other) != nil {
			continue
		}
		if peers[k] = openMemory[uint32](g.system, other, words); peers[k] != nil && own != nil {
			send[k] = []uint32{1}
		}
	}
	g.Alltoallv(send, received, nil, nil) // then both know whether they read each other's memory
	missing := []int64{0}
	for k, message := range received {
		if k != g.rank && (len(message) == 0 || len(send[k]) == 0) {
			peers[k], missing[0] = nil, 1
		}
	}
	comm.Allreduce(g, missing)
	g.shared.peers, g.shared.all = peers, missing[0] == 0 && own != nil
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
