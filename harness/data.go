// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Data is the tuples of one graph, and the host's work on them. They lie in this process (local.go) or in slices on the
// hosts of a cluster. Calls come one at a time.
type Data interface {
	// Make generates or reads the tuples, once. It adds facts about the graph to g, which it keeps.
	Make(ctx context.Context, g *record.GraphRecord, progress Progress) (Made, error)
	// Joined reports of each vertex whether a tuple joins it to another one.
	Joined(ctx context.Context, vertices []graph.Vertex) ([]bool, error)
	// Changed reports whether the tuples differ from those that Make made. Restore makes them again.
	Changed(ctx context.Context) (bool, error)
	Restore(ctx context.Context, progress Progress) error
	// MakeWeights makes the weights of kernel 3, once, and adds to the GraphRecord where they come from.
	MakeWeights(ctx context.Context, progress Progress) error
	// Open starts an engine for a kernel and allocates memory for its results. No other engine gets this memory.
	Open(ctx context.Context, plan record.Plan, kernel record.Kernel, spec record.EngineSpec, progress Progress) (
		Session, error)
	// Close frees the memory.
	Close() error
}

// Made describes the tuples to the harness, which does not see them.
type Made struct {
	Joined   int64                     // number of vertices that a tuple joins to another one
	Isolated graph.Vertex              // the lowest other vertex; the number of vertices if there is none
	Label    func(graph.Vertex) uint64 // in the file; nil: the vertex itself
}

// Session is an engine that is open for a graph and a kernel, with the memory for its results: one process or one on
// each part of a cluster. Calls come one at a time.
type Session interface {
	Describe(ctx context.Context) (plugins.Description, error)
	// Construct is kernel 1, with weights for kernel 3.
	Construct(ctx context.Context, options map[string]string) (Constructed, error)

	// Ready overwrites all parents and distances, so that an entry that a search does not write is detected.
	Ready(ctx context.Context) error
	// Search is kernel 2 or 3, or wakes the engine, outside any measurement. As soon as the engine has returned from
	// another call than such, its processes are stopped until the next one.
	Search(ctx context.Context, root graph.Vertex, wake bool) (Searched, error)
	// Repeat is plugins.Repeater. It stops the processes as Search does.
	Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (Repeated, error)

	// Validate checks the result of the last search. Between StartValidating and StopValidating a device may check it.
	Validate(ctx context.Context, root graph.Vertex, how Validation) (Verdict, error)
	StartValidating(ctx context.Context)
	StopValidating()

	// PeakMemory returns the most memory that the host's process and the engine's have had. It is 0 if unknown.
	PeakMemory(ctx context.Context) record.PeakMemory
	// Checksum returns the SHA-256 of the engine's file, or "" for an engine without one.
	Checksum() string
	Close() error
}

// Constructed is the report of kernel 1.
type Constructed struct {
	plugins.Construction
	Wall     time.Duration // on the host's clock
	OnDevice bool          // the engine took the tuples from the memory of a device
	Hosts    []string      // names, if there are several
}

// Searched is the report of kernel 2.
type Searched struct {
	plugins.Traversal
	Wall         time.Duration         // on the host's clock
	Interference *machine.Interference // since Ready; nil if the system reports none
}

// Repeated is the report of a loop of searches.
type Repeated struct {
	Searches int64
	Wall     time.Duration // on the host's clock
}

// Validation is the thoroughness of Validate.
type Validation int

const (
	CountOnly Validation = iota // count the tuples of the component
	Validated                   // check the five rules
	Confirmed                   // and, if a device has checked them, check them again on the CPU
)

// Verdict is the result of a validation. The error of a tree that breaks a rule is a *validate.Violation.
type Verdict struct {
	Tree      validate.Tree
	By        string  // the device that validated; empty: the CPU
	Confirmed bool    // by the CPU, too
	After     float64 // processor time that the engine has used since the search returned, seconds
}
