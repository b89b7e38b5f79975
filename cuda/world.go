// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Several processes with a GPU each build and search one graph together, as the ranks of package distributed do. All
// make the same calls of together and of what calls it. A process that fails makes one more, with its error, and the
// next call of the others fails, too; then nobody waits.

// group is processes under MPI: *mpi.Comm.
type group interface {
	Rank() int
	Size() int
	// Sendrecv sends a message to a process, and stores that of another one in receive[from], in its memory if that has
	// room.
	Sendrecv(message []byte, to int, receive [][]byte, from int) error
}

// errOther is the error of a process that stops because of another one, which has the reason.
var errOther = errors.New("another process of the engine has failed")

// agreed is an error that all processes know.
type agreed struct{ error }

func (s agreed) Unwrap() error { return s.error }

// together sends send[k] to process k and stores what that sent in receive[k], or waits for all if both are nil. A
// message of one byte says that its sender has failed. together returns an error if a process has one: err itself or,
// canceled, errOther.
func together(world group, err error, send, receive [][]byte) error {
	if receive == nil {
		receive = make([][]byte, world.Size())
	}
	failed, rank, size := false, world.Rank(), world.Size()
	for step := 1; step < size; step++ {
		to, from, message := (rank+step)%size, (rank+size-step)%size, []byte(nil)
		if err != nil {
			message = []byte{0}
		} else if send != nil {
			message = send[to]
		}
		if lost := world.Sendrecv(message, to, receive, from); lost != nil {
			return agreed{cmp.Or(err, lost)}
		}
		failed = failed || len(receive[from]) == 1
	}
	switch {
	case err != nil:
		return agreed{err}
	case failed:
		return agreed{fmt.Errorf("%w: %w", errOther, context.Canceled)}
	}
	return nil
}

// agree makes an error known to all processes. They return an error if one of them has one.
func agree(world group, err error) error {
	if s := (agreed{}); errors.As(err, &s) {
		return err
	}
	return together(world, err, nil, nil)
}

// gather returns the bytes of all processes; they have at least two each.
func gather(world group, own []byte) ([][]byte, error) {
	send, all := make([][]byte, world.Size()), make([][]byte, world.Size())
	for k := range send {
		send[k] = own
	}
	all[world.Rank()] = own
	return all, together(world, nil, send, all)
}

// gatherNumbers returns the numbers of all processes.
func gatherNumbers(world group, own ...uint64) ([][]uint64, error) {
	var bytes []byte
	for _, n := range own {
		bytes = binary.NativeEndian.AppendUint64(bytes, n)
	}
	all, err := gather(world, bytes)
	if err != nil {
		return nil, err
	}
	numbers := make([][]uint64, len(all))
	for k, bytes := range all {
		for ; len(bytes) >= 8; bytes = bytes[8:] {
			numbers[k] = append(numbers[k], binary.NativeEndian.Uint64(bytes))
		}
	}
	return numbers, nil
}
