// SPDX-License-Identifier: Apache-2.0

// Package team lets processes under MPI with a GPU each build and search one graph Together, as the ranks of package
// distributed do. Engines drive their levels; team has the processes, and moves arrays between their GPUs.
package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tepsbench/teps/internal/offload"
)

// All processes make the same calls of Together and of what calls it. A process that fails makes one more, with its
// error, and the next call of the others fails, too; then nobody waits.

// MaxRanks is how many processes search a graph Together at most.
const MaxRanks = 16

// Group is processes under MPI: *mpi.Comm.
type Group interface {
	Rank() int
	Size() int
	// Sendrecv sends a message to a process, and stores that of another one in receive[from], in its memory if that has
	// room.
	Sendrecv(message []byte, to int, receive [][]byte, from int) error
}

// ErrOther is the error of a process that stops because of another one, which has the reason.
var ErrOther = errors.New("another process of the engine has failed")

// agreed is an error that all processes know.
type agreed struct{ error }

func (s agreed) Unwrap() error { return s.error }

// Together sends send[k] to process k and stores what that sent in receive[k], or waits for all if both are nil. A
// message of one byte says that its sender has failed. Together returns an error if a process has one: err itself or,
// canceled, ErrOther.
func Together(world Group, err error, send, receive [][]byte) error {
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
		return agreed{fmt.Errorf("%w: %w", ErrOther, context.Canceled)}
	}
	return nil
}

// Agree makes an error known to all processes. They return an error if one of them has one.
func Agree(world Group, err error) error {
	if s := (agreed{}); errors.As(err, &s) {
		return err
	}
	return Together(world, err, nil, nil)
}

// Gather returns the bytes of all processes; they have at least two each.
func Gather(world Group, own []byte) ([][]byte, error) {
	send, all := make([][]byte, world.Size()), make([][]byte, world.Size())
	for k := range send {
		send[k] = own
	}
	all[world.Rank()] = own
	return all, Together(world, nil, send, all)
}

// GatherNumbers returns the numbers of all processes.
func GatherNumbers(world Group, own ...uint64) ([][]uint64, error) {
	all, err := Gather(world, offload.Bytes(own))
	if err != nil {
		return nil, err
	}
	numbers := make([][]uint64, len(all))
	for k, bytes := range all {
		numbers[k] = make([]uint64, len(bytes)/8)
		copy(offload.Bytes(numbers[k]), bytes)
	}
	return numbers, nil
}

// Combine returns numbers of all processes, combined one by one.
func Combine(world Group, with func(a, b uint64) uint64, own ...uint64) ([]uint64, error) {
	all, err := GatherNumbers(world, own...)
	if err != nil {
		return nil, err
	}
	for _, other := range all[1:] {
		for i := range other {
			all[0][i] = with(all[0][i], other[i])
		}
	}
	return all[0], nil
}

// Array is memory with an address on the device that kernels read and write. Host is nil unless it lies in the host.
type Array struct {
	At   uint64
	Host []byte
}

// Part returns n elements of a size in bytes, from one on.
func (a Array) Part(size, from, n uint64) (p Part) {
	if p.At, p.Bytes = a.At+size*from, size*n; a.Host != nil {
		p.Host = a.Host[size*from:][: size*n : size*n]
	}
	return p
}

// Part is a part of an array.
type Part struct {
	Array
	Bytes uint64
}

// At returns a part that lies on the device.
func At(at, bytes uint64) Part { return Part{Array{At: at}, bytes} }
