// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// Accelerator does the host's own work on a device: it generates tuples and validates parents, with the results of
// package graph. It knows no engine, and passes itself to rpc.ServeAccelerator. Calls come one at a time.
//
// The host checks samples of its work on the CPU and, after an error, does the work itself, so an accelerator returns
// an error for work that it cannot do: ErrUnavailable without the device, ErrMemory if it is too small, ErrTuples for
// too many vertices.
type Accelerator interface {
	// Describe is that of Engine. Options, Memory and Limits do not count.
	Describe(ctx context.Context) (Description, error)

	// Generate fills dst with the tuples first, first+1, ... of a recipe, as Kronecker.Generate does.
	Generate(ctx context.Context, recipe graph.Kronecker, dst []graph.Edge, first int64) error

	// Lend copies tuples to the device for an engine there. The list is there until the next Lend or Load; a Lend of no
	// tuples only takes it back, and returns nil. Errors: ErrMemory if it would leave an engine too little of the device.
	Lend(ctx context.Context, tuples []graph.Edge) (*DeviceTuples, error)

	// Load prepares for validating searches of tuples, whose labels are below vertices. It must not read them after it
	// has returned.
	Load(ctx context.Context, tuples []graph.Edge, vertices int64) error

	// LoadRecipe is Load for the tuples of a recipe, which are in no memory: each Validate makes them again.
	LoadRecipe(ctx context.Context, recipe graph.Kronecker) error

	// Validate does what validate.Validator does with the parents of a search. The error for parents that break a rule
	// is a validate.Violation, which need not have a text. Other errors: ErrNotConstructed before Load. After a Load,
	// parents lie in one place.
	Validate(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (validate.Tree, error)

	// Close releases everything.
	Close() error
}
