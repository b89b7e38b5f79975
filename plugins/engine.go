// SPDX-License-Identifier: Apache-2.0

// Package plugins is the contract between the host and its engines: the one file that an engine author reads.
//
// An engine builds a graph from a list of tuples and searches it: breadth first and, if it has kernel 3, for shortest
// paths. It implements Engine, most simply with New (adapter.go), and passes itself to rpc.Serve. The host makes these
// calls, one at a time:
//
//	Describe                       at any time
//	Construct(tuples, options)     kernel 1, timed by the engine; may come again with another graph
//	Search(root, parent)           kernel 2, timed by the engine; any number of times, from any root
//	Search(root, parent, distance) kernel 3, as kernel 2; optional
//	Close                          once, last
//
// The host records the description and reports of an engine and checks them as far as possible. It derives levels from
// the parents, counts the tuples of the component, and validates every parent array against the tuples.
//
// In tests an engine runs inside the host's process, otherwise in a separate process (package rpc). Errors keep their
// identity: errors.Is works with the sentinels below.
package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// Engine builds a graph and searches it. Calls come one at a time and must not print to standard output. When ctx ends,
// a call returns within a second or two with ctx.Err(), and the engine stays usable.
type Engine interface {
	// Describe returns the engine's description and options. It must be quick and must not need the device.
	Describe(ctx context.Context) (Description, error)

	// Construct is kernel 1: it builds the graph to be searched and replaces an earlier one. It finds the number of
	// vertices in the tuples, inside its clock. It must not change in.Tuples, nor read them after it has returned.
	//
	// Errors: ErrOption for an option whose value cannot be used, ErrTuples for labels beyond the engine's limits,
	// ErrMemory when the graph does not fit, ErrUnavailable without the device. A Construct that fails leaves no graph.
	Construct(ctx context.Context, in Input) (Construction, error)

	// Search is kernel 2, a breadth-first search from root, or with out.Distance kernel 3, shortest paths from root, which
	// Description.ShortestPaths announces. It writes every entry of out, in original labels. The arrays may be longer than
	// the largest label of the tuples; the vertices beyond it are unreached unless root is one of them. Nothing learned in
	// one search may be used in another.
	//
	// The engine's clock (Traversal.Elapsed) starts before the first thing done for this root and stops when every parent
	// is in its place in original labels. Nothing may be logged or allocated in between.
	//
	// Errors: ErrNotConstructed, also for kernel 3 on a graph without weights; ErrRoot for a root outside the arrays;
	// ErrParent for arrays that are too short for the graph or differ in length. After any of these the engine is as it
	// was before the call.
	Search(ctx context.Context, root graph.Vertex, out Output) (Traversal, error)

	// Close releases everything. Calls after Close return ErrClosed; a second Close does nothing.
	Close() error
}

// Output is where a search writes its result.
type Output struct {
	// Parent has the predecessor of each reached vertex, root itself for root, and graph.Unreached for the others
	// (package graph has the rules).
	Parent []graph.Vertex

	// Distance is nil in kernel 2, and in kernel 3 as long as Parent and not nil. Distances are sums in float32, added
	// from the root outwards: 0 for the root; for each other vertex the least value of Distance[u] + w over the tuples
	// {u, v} with weight w, and +Inf if it is unreached. The parent of v is one such u with exactly Distance[u] + w =
	// Distance[v]; the parents form a tree, also where weights are 0 or too small to change a sum. The distances are the
	// same bits for every correct algorithm, because float32 addition is monotone.
	Distance []float32
}

// Repeater is an optional interface of engines: a loop of searches, in which the host measures the rate and the energy.
// Repeat searches from roots[0], roots[1], ..., over and over until duration has passed, and returns the number of
// searches. It completes the last search, so the loop ends a little late. Each search is the timed one of Search and
// leaves its result, in original labels, in memory of the engine; a root that comes again is searched again, in full.
// At the end the result of the last search is written to out, as by Search; the host validates it. When ctx ends, the
// loop ends soon with ctx.Err().
//
// An engine behind a connection returns errors.ErrUnsupported if it has no such loop. Other errors are those of Search,
// with ErrRoot for a root that is not a label of the tuples.
type Repeater interface {
	Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration, out Output) (searches int64, err error)
}

// Errors that an engine returns, wrapped with details: fmt.Errorf("label %d: %w", label, plugins.ErrTuples).
// OptionError wraps ErrOption.
var (
	ErrUnavailable    = errors.New("engine is not available here")
	ErrOption         = errors.New("unusable option")
	ErrTuples         = errors.New("unusable tuples")
	ErrMemory         = errors.New("not enough memory")
	ErrNotConstructed = errors.New("no graph: Construct has not succeeded")
	ErrRoot           = errors.New("root is not a vertex")
	ErrParent         = errors.New("parent array is too short")
	ErrClosed         = errors.New("engine is closed")
)

// Description describes an engine.
type Description struct {
	Name    string `json:"name"`    // one lower-case word
	Version string `json:"version"` // of the engine, not of the protocol
	Summary string `json:"summary"` // one sentence: method and hardware
	// Unavailable says in one sentence what is missing here (no GPU, no driver, no MPI). Empty: ready to run.
	Unavailable string   `json:"unavailable,omitempty"`
	Devices     []Device `json:"devices,omitempty"` // hardware that it would run on
	Options     []Option `json:"-"`                 // that a user may set; a record has only the values
	Memory      Memory   `json:"memory"`            // a graph that does not fit is refused
	Limits      Limits   `json:"limits,omitzero"`   // a larger graph is refused before it is generated
	// MakesTuples says that Construct accepts Input.Recipe without Input.Tuples and makes them itself, inside its
	// clock, for graphs whose tuples do not fit into memory. Such a result is not called compliant.
	MakesTuples bool `json:"makes_tuples,omitempty"`
	// ShortestPaths says that the engine has kernel 3. PathMemory is what that needs besides Memory.
	ShortestPaths bool   `json:"shortest_paths,omitempty"`
	PathMemory    Memory `json:"path_memory,omitzero"`
	// TakesDeviceTuples says that Construct accepts Input.DeviceTuples in place of Input.Tuples.
	TakesDeviceTuples bool `json:"takes_device_tuples,omitempty"`
	// Spreads says that the engine may be several processes, on one host or on several; its option ranks, of Kind Int,
	// is their number. Each is an Engine with an Input.Place, gets the same calls at the same time, and exchanges data
	// with the others without the host (docs/writing-an-engine.md).
	Spreads bool `json:"spreads,omitempty"`
}

// Device is a piece of hardware that an engine runs on.
type Device struct {
	Kind        string `json:"kind"`            // "cpu", "gpu", "rank", ...
	Name        string `json:"name"`            // as its maker calls it
	Units       int    `json:"units,omitempty"` // hardware threads, multiprocessors, ranks
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
	Details     []Fact `json:"details,omitempty"` // driver, clocks, ...; DeviceUUID
}

// DeviceUUID names the Fact with the identity of a device as its maker's tools print it (nvidia-smi: GPU-...), to match
// a power meter with it. An engine that describes more devices than it runs on repeats the fact in Construction.Details
// for each one that it runs on.
const DeviceUUID = "uuid"

// Memory is an upper bound on the host memory of an engine with default options, in bytes, at the peak of Construct or
// Search, without the host's tuples and parents (Bytes).
type Memory struct {
	Fixed     int64   `json:"fixed"`
	PerVertex float64 `json:"per_vertex"`
	PerTuple  float64 `json:"per_tuple"`
	// PerEnd is for each vertex with a tuple: at most two for each tuple.
	PerEnd float64 `json:"per_end,omitempty"`
}

// Bytes returns the bound for a graph.
func (m Memory) Bytes(vertices, tuples int64) float64 {
	v, t := float64(vertices), float64(tuples)
	return float64(m.Fixed) + m.PerVertex*v + m.PerTuple*t + m.PerEnd*min(v, 2*t)
}

// Limits are the largest numbers of vertices and tuples that Construct accepts, whatever the memory. 0 means no limit.
type Limits struct {
	Vertices int64 `json:"vertices,omitempty"`
	Tuples   int64 `json:"tuples,omitempty"`
}

// Input is the input of kernel 1.
type Input struct {
	// Tuples is the input list, in the order in which it was generated. It lies in memory shared with the host.
	Tuples []graph.Edge
	// ShortestPaths asks for a graph for kernel 3 besides kernel 2.
	ShortestPaths bool
	// Weights are the weights of Tuples, in the same order and also in shared memory; nil without ShortestPaths. A
	// weight is a number from 0 to graph.MaxWeight; -0 counts as 0. Parallel tuples may have different weights, and the
	// least counts.
	Weights []float32
	// Recipe is how Tuples was generated, for an engine with MakesTuples without a list.
	Recipe *graph.Kronecker
	// DeviceTuples is the list in the memory of a GPU, in place of Tuples, for an engine with TakesDeviceTuples. If it
	// cannot be read (ErrUnavailable) or the graph does not fit with it (ErrMemory), the host calls again with Tuples.
	DeviceTuples *DeviceTuples
	// Place is the place of this process among those of an engine with Description.Spreads. Tuples is then the slice of
	// the list that begins at position First; all processes together get the whole list. The parents of Search are those
	// of the vertices that the process owns: vertex v belongs to rank v mod Size, where it is element v / Size.
	Place Place
	First int64
	// Options are the values that the user set, by name, checked against Description.Options. Others have their defaults
	// (Resolve).
	Options map[string]string
}

// PlaceVariable is set in the environment of a process that a launcher has started as one of several of an engine.
const PlaceVariable = "TEPS_PLACE"

// Place is the rank of a process of an engine, 0 <= Rank < Size. The zero Place is that of an engine of one process.
type Place struct {
	Rank int `json:"rank"`
	Size int `json:"size"`
}

// Owned returns how many of the vertices below n the process owns.
func (p Place) Owned(n int64) int64 {
	size := int64(max(p.Size, 1))
	return (n - int64(p.Rank) + size - 1) / size
}

// Slot returns the element of a vertex in the parents of its owner, and whether this is the owner.
func (p Place) Slot(v graph.Vertex) (slot int64, own bool) {
	size := int64(max(p.Size, 1))
	return int64(v) / size, int64(v)%size == int64(p.Rank)
}

// DeviceTuples is a list in memory of a GPU that another process has allocated, in the order and the form of
// Input.Tuples. It exists until Construct returns.
type DeviceTuples struct {
	Handle []byte // opens the memory in other processes: a CUipcMemHandle of CUDA's driver
	Count  int64  // of tuples
}

// Construction is the report of kernel 1.
type Construction struct {
	Elapsed time.Duration `json:"elapsed_ns"` // the engine's clock, from the first look at a tuple
	Bytes   int64         `json:"bytes"`      // held for searching from now on, adjacency and everything else
	Entries Count         `json:"entries,omitzero"`
	Phases  []Phase       `json:"phases,omitempty"` // parts of Elapsed, in order
	Claims  Claims        `json:"claims"`
	Details []Fact        `json:"details,omitempty"` // anything worth a line in the record
}

// Claims are statements that only the engine can make, for the options of this Construct. A false or empty one makes
// the result "not compliant".
type Claims struct {
	OriginalLabelsInClock bool   `json:"original_labels_in_clock"` // parents are in original labels when it stops
	ClearingInClock       bool   `json:"clearing_in_clock"`        // buffers are cleared inside Elapsed
	ParentBits            int    `json:"parent_bits"`              // width of a parent as written inside the clock
	VertexBits            int    `json:"vertex_bits"`              // width of a vertex label inside the engine
	Tuning                string `json:"tuning"`                   // where thresholds come from; never from timed searches
}

// Traversal is the report of kernel 2 or 3.
type Traversal struct {
	Elapsed time.Duration `json:"elapsed_ns"` // the engine's clock
	Levels  []Level       `json:"levels,omitempty"`
	Phases  []Phase       `json:"phases,omitempty"` // parts of Elapsed outside levels
	Ranks   []Rank        `json:"ranks,omitempty"`  // of an engine that has ranks, in their order
}

// Rank is the report of one rank of a distributed engine about a search.
type Rank struct {
	Phases []Phase `json:"phases,omitempty"` // by name, over all levels and outside them
}

// Level describes one step from a frontier to the next. In kernel 3 a vertex may be in several frontiers. The next
// search may reuse its slices.
type Level struct {
	Direction graph.Direction `json:"direction,omitzero"` // a record names bottom-up only
	Frontier  int64           `json:"frontier"`           // vertices of the frontier
	Edges     Count           `json:"edges,omitzero"`     // adjacency entries looked at
	Bytes     Count           `json:"bytes,omitzero"`     // sent between ranks
	Messages  Count           `json:"messages,omitzero"`  // sent between ranks
	Elapsed   time.Duration   `json:"elapsed_ns"`         // part of Traversal.Elapsed
	Phases    []Phase         `json:"phases,omitempty"`   // parts of Elapsed, in order
	Counters  []Counter       `json:"counters,omitempty"`
}

// Counter is an engine's count of events in a level, such as culled vertices or hits of a table.
type Counter struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// KernelLaunches is the counter of the kernels launched for a level; the first level also counts the launches before
// the levels. With it, a profile can be divided among levels.
const KernelLaunches = "kernel launches"

// Phase is a named part of a time. For several ranks, Elapsed is the mean, Slowest the maximum, and Bytes and Messages
// are sums.
type Phase struct {
	Name     string        `json:"name"`
	Elapsed  time.Duration `json:"elapsed_ns"`
	Slowest  time.Duration `json:"slowest_ns,omitempty"`
	Bytes    Count         `json:"bytes,omitzero"`    // sent to other ranks
	Messages Count         `json:"messages,omitzero"` // sent to other ranks
}

// Fact is a name and a value for the record.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Count is a number that may be missing. The zero Count is missing, which is not the same as 0.
type Count struct {
	n     int64
	known bool
}

// Counted returns the Count of n things.
func Counted(n int64) Count { return Count{n, true} }

// Get returns the number and whether there is one.
func (c Count) Get() (n int64, known bool) { return c.n, c.known }

func (c Count) plus(d Count) Count { return Count{c.n + d.n, c.known || d.known} }

// IsZero says that the number is missing; encoding/json leaves such a field out.
func (c Count) IsZero() bool { return !c.known }

// MarshalJSON writes the number, or null.
func (c Count) MarshalJSON() ([]byte, error) {
	if !c.known {
		return []byte("null"), nil
	}
	return json.Marshal(c.n)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Count) UnmarshalJSON(data []byte) error {
	var n *int64
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*c = Count{}
	if n != nil {
		*c = Counted(*n)
	}
	return nil
}

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
