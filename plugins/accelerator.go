// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// Lender lends arrays of n zero elements in memory that a host shares with engines. release returns the memory; after
// that, no call may use the array.
type Lender interface {
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Weights(n int64) (weights []float32, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
	Distances(n int64) (distances []float32, release func() error, err error)
}

// Accelerator generates tuples and weights and validates searches on a device, in place of the host, with the results
// of package graph. It passes itself to rpc.ServeAccelerator. Calls come one at a time. The host checks samples of its
// work on the CPU and, after an error, does the work itself: ErrUnavailable without the device, ErrMemory if it is too
// small, ErrTuples for too many vertices.
type Accelerator interface {
	// Describe is Engine.Describe. Options, Memory and Limits are ignored.
	Describe(ctx context.Context) (Description, error)

	// Generate fills in.Tuples with the tuples in.First, in.First+1, ... of in.Recipe, as Kronecker.Generate does, or
	// in.Weights with their weights, as graph.Weights does.
	Generate(ctx context.Context, in Input) error

	// Lend copies tuples to the device for an engine there, until the next Lend or Load. A Lend of no tuples only ends
	// the previous one, and returns nil. Errors: ErrMemory if the list would leave an engine too little of the device.
	Lend(ctx context.Context, tuples []graph.Edge) (*DeviceTuples, error)

	// Load prepares for validating searches of in.Tuples, whose labels are below vertices, and with in.Weights also those
	// of kernel 3. It must not read them later. The tuples of in.Recipe are not stored: each Validate regenerates them.
	Load(ctx context.Context, in Input, vertices int64) error

	// Validate is Validate of a validate.Validator. After a Load, all calls have the same arrays. Errors: a
	// *validate.Violation, whose fields do not matter, for a result that breaks a rule; ErrNotConstructed before Load, and
	// for distances before one with weights.
	Validate(ctx context.Context, root graph.Vertex, out Output) (validate.Tree, error)

	// Close releases everything.
	Close() error
}
