// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/mpi"
)

// exchange is a validate.Exchange over MPI.
type exchange struct {
	mpi  *mpi.Thread
	comm *mpi.Comm
}

// connect joins this process to the validators of the other nodes, which the same launcher has started. A process calls
// it once.
func connect(self *Self) (validate.Exchange, error) {
	x := &exchange{}
	var err error
	if x.mpi, err = mpi.Begin(self.Nodes); err == nil {
		err = x.do(func() error {
			x.comm, err = x.mpi.World.Split(0, self.Index)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("connect the validators: %w", err)
	}
	return x, nil
}

// do makes a call on the thread of MPI.
func (x *exchange) do(call func() error) (err error) {
	x.mpi.Do(func() { err = call() })
	return err
}

func (x *exchange) Rank() int { return x.comm.Rank() }
func (x *exchange) Size() int { return x.comm.Size() }

// All implements validate.Exchange.
func (x *exchange) All(send [][]byte) ([][]byte, error) {
	received := make([][]byte, x.comm.Size())
	return received, x.do(func() error { return x.comm.Alltoallv(send, received, nil, nil) })
}

func (x *exchange) Sum(values []int64) error {
	return x.do(func() error { return x.comm.Allreduce(values, nil) })
}

func (x *exchange) Min(values []int64) error {
	return x.do(func() error { return x.comm.Allreduce(nil, values) })
}
