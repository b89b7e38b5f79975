// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

type (
	makeArgs struct {
		Plan  record.Plan
		ID    record.GraphID
		Graph record.GraphRecord
	}
	makeReply struct {
		Graph    record.GraphRecord
		Joined   int64
		Isolated graph.Vertex
	}
	openArgs struct {
		Plan   record.Plan
		Kernel record.Kernel
		Spec   record.EngineSpec
	}
	openReply struct {
		Description plugins.Description
		Options     []plugins.Option // which a description in JSON does not have
		Checksum    string
	}
	constructArgs struct {
		Options map[string]string
		Job     string // of the engine's processes; empty: the engine is one process
	}
	searchArgs struct {
		Root graph.Vertex
		Wake bool
	}
	repeatArgs struct {
		Roots    []graph.Vertex
		Duration time.Duration
	}
	memoryReply struct {
		Bytes  int64
		Source string
	}
	validateArgs struct {
		Root graph.Vertex
		How  harness.Validation
	}
)

// NodeHost returns the harness.Host of a node. It takes the processes of an engine with places, which a launcher has
// started.
type NodeHost func(places func(ctx context.Context, n int) ([]*Place, error)) harness.Host

// worker answers the calls of a node: it has the node's part of the tuples and of the engine.
type worker struct {
	host harness.Host

	parts   validate.Exchange // between the nodes, from the call connect on
	graph   record.GraphRecord
	data    harness.Data
	session harness.Session
	job     string
}

// Handlers returns the handlers of a node.
func Handlers(self *Self, host NodeHost) []Handler {
	w := &worker{}
	w.host = host(func(ctx context.Context, n int) ([]*Place, error) { return self.Places.Wait(ctx, w.job, n) })
	meters := &nodeMeters{open: w.host.Meters, clock: hostClock()}
	type none = struct{}
	return append(meters.handlers(),
		Handle("connect", func(context.Context, none) (_ none, err error) {
			w.parts, err = connect(self)
			return none{}, err
		}),
		Handle("make", w.make),
		Handle("weigh", func(ctx context.Context, _ none) (string, error) {
			err := w.data.MakeWeights(ctx, harness.Silent{})
			return w.graph.Weights, err
		}),
		Handle("joined", func(ctx context.Context, vertices []graph.Vertex) ([]bool, error) {
			return w.data.Joined(ctx, vertices)
		}),
		Handle("changed", func(ctx context.Context, _ none) (bool, error) { return w.data.Changed(ctx) }),
		Handle("restore", func(ctx context.Context, _ none) (none, error) {
			return none{}, w.data.Restore(ctx, harness.Silent{})
		}),
		Handle("drop", func(context.Context, none) (none, error) { return none{}, w.drop() }),
		Handle("open", w.openEngine),
		Handle("construct", func(ctx context.Context, args constructArgs) (harness.Constructed, error) {
			w.job = args.Job
			return w.session.Construct(ctx, args.Options)
		}),
		Handle("ready", func(ctx context.Context, _ none) (none, error) { return none{}, w.session.Ready(ctx) }),
		Handle("search", func(ctx context.Context, args searchArgs) (harness.Searched, error) {
			return w.session.Search(ctx, args.Root, args.Wake)
		}),
		Handle("repeat", func(ctx context.Context, args repeatArgs) (harness.Repeated, error) {
			return w.session.Repeat(ctx, args.Roots, args.Duration)
		}),
		Handle("validate", func(ctx context.Context, args validateArgs) (harness.Verdict, error) {
			return w.session.Validate(ctx, args.Root, args.How)
		}),
		Handle("memory", func(ctx context.Context, _ none) (m memoryReply, err error) {
			m.Bytes, m.Source, err = machine.AvailableMemory(ctx)
			return m, err
		}),
		Handle("peak", func(ctx context.Context, _ none) (record.PeakMemory, error) {
			return w.session.PeakMemory(ctx), nil
		}),
		Handle("close", func(context.Context, none) (none, error) { return none{}, w.closeEngine() }),
	)
}

// make makes the node's slice of a graph in place of that of the last one.
func (w *worker) make(ctx context.Context, args makeArgs) (reply makeReply, err error) {
	if err := w.drop(); err != nil {
		return reply, err
	}
	if w.data, err = harness.NewPart(w.host, args.Plan, args.ID, w.parts); err != nil {
		return reply, err
	}
	w.graph = args.Graph
	made, err := w.data.Make(ctx, &w.graph, harness.Silent{})
	return makeReply{w.graph, made.Joined, made.Isolated}, err
}

// drop closes the engine and the graph, if there are any.
func (w *worker) drop() error {
	err := w.closeEngine()
	if w.data != nil {
		err = errors.Join(err, w.data.Close())
	}
	w.data = nil
	return err
}

func (w *worker) openEngine(ctx context.Context, args openArgs) (reply openReply, err error) {
	if err := w.closeEngine(); err != nil {
		return reply, err
	}
	if w.session, err = w.data.Open(ctx, args.Plan, args.Kernel, args.Spec, harness.Silent{}); err != nil {
		w.session = nil
		return reply, err
	}
	reply.Description, err = w.session.Describe(ctx)
	reply.Options, reply.Checksum = reply.Description.Options, w.session.Checksum()
	return reply, err
}

func (w *worker) closeEngine() error {
	if w.session == nil {
		return nil
	}
	err := w.session.Close()
	w.session, w.job = nil, ""
	if err != nil {
		return fmt.Errorf("close the engine: %w", err)
	}
	return nil
}

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
