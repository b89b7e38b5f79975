// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// Accelerator does the host's own work on a device: it generates tuples and validates parents, with the results of
// package graph. It passes itself to rpc.ServeAccelerator. Calls come one at a time. The host checks samples of its
// work on the CPU and, after an error, does the work itself: ErrUnavailable without the device, ErrMemory if it is too
// small, ErrTuples for too many vertices.
type Accelerator interface {
	// Describe is that of Engine. Options, Memory and Limits do not count.
	Describe(ctx context.Context) (Description, error)

	// Generate fills dst with the tuples first, first+1, ... of a recipe, as Kronecker.Generate does.
	Generate(ctx context.Context, recipe graph.Kronecker, dst []graph.Edge, first int64) error

	// Lend copies tuples to the device for an engine there, until the next Lend or Load. A Lend of no tuples only takes
	// the list back, and returns nil. Errors: ErrMemory if it would leave an engine too little of the device.
	Lend(ctx context.Context, tuples []graph.Edge) (*DeviceTuples, error)

	// Load prepares for validating searches of tuples, whose labels are below vertices. It must not read them later.
	Load(ctx context.Context, tuples []graph.Edge, vertices int64) error

	// LoadRecipe is Load for the tuples of a recipe, which are in no memory: each Validate makes them again.
	LoadRecipe(ctx context.Context, recipe graph.Kronecker) error

	// Validate is that of validate.Validator. Parents lie in one place after a Load. Errors: a validate.Violation, which
	// need not have a text, for parents that break a rule; ErrNotConstructed before Load.
	Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error)

	// Close releases everything.
	Close() error
}
