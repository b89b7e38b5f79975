// SPDX-License-Identifier: Apache-2.0

// Package comm lets ranks exchange messages: goroutines of one process (local.go) or processes under MPI (package mpi).
package comm

import (
	"slices"

	"github.com/tepsbench/teps/internal/team"
)

// Group is a rank's end of a group of ranks, which all make the same calls in the same order.
//
// A message is a slice of 32-bit words; an empty one is not sent. A rank may change a message that it has sent only
// after a later call in which the whole group took part. A received message is valid until then and is read-only.
type Group interface {
	// Rank returns the caller's rank in the group, Size the number of ranks.
	Rank() int
	Size() int

	// Split divides the group into one group for each color, ordered by key.
	Split(color, key int) Group

	// Alltoallv sends send[k] to rank k for all k except the caller, and stores what rank k sent in receive[k]. The
	// caller's own message is passed through. All ranks may pass nil twice: then no messages are exchanged. It also
	// replaces values, at most MaxReduce of them, by their sums over all ranks.
	Alltoallv(send, receive [][]uint32, values []int64)

	// WhileIdle lets calls that wait for other ranks call work.Idle(0), again and again until there is no more. nil: only
	// wait. All ranks pass work or all pass nil.
	WhileIdle(work team.Idler)
}

// MaxReduce is the largest number of values that are added up in one call.
const MaxReduce = 4

// Allreduce replaces values, at most MaxReduce of them, by their sums over all ranks of a group.
func Allreduce(g Group, values []int64) { g.Alltoallv(nil, nil, values) }

// Allgather sends one message to all ranks of a group and returns the messages of all.
func Allgather(g Group, message []uint32) (received [][]uint32) {
	received = make([][]uint32, g.Size())
	g.Alltoallv(slices.Repeat([][]uint32{message}, g.Size()), received, nil)
	return received
}
