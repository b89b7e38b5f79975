// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Bounds and special values of a Plan.
const (
	AllRoots = -1      // of Validate: validate every search
	maxRoots = 1 << 20 // bounds Roots and WarmUps
	maxRuns  = 4096    // engines times graphs
)

// Official parameters of Graph500 (specification 2.0; the seeds are those of the reference program).
const (
	OfficialEdgeFactor = 16
	OfficialRoots      = 64
	OfficialSeed1      = 2
	OfficialSeed2      = 3
)

// Plan is the request of a run, with every default filled in.
type Plan struct {
	Engines    []EngineSpec  `json:"engines"`
	Scales     []int         `json:"scales"`           // of Kronecker graphs
	Graphs     []GraphSpec   `json:"graphs,omitempty"` // other graphs
	EdgeFactor int           `json:"edgefactor"`
	Seed1      uint64        `json:"seed1"`
	Seed2      uint64        `json:"seed2"`
	Roots      int           `json:"roots"`                 // wanted; fewer if the graph has fewer
	RootLabels []uint64      `json:"root_labels,omitempty"` // of the roots in the graph's file; none: drawn
	Validate   int           `json:"validate"`              // number of roots to validate; -1 for all of them
	WarmUps    int           `json:"warm_ups"`              // untimed searches from the first root, before the others
	Wake       int           `json:"wake,omitempty"`        // untimed searches right before each timed one, at most
	Timeout    time.Duration `json:"timeout_ns"`            // limit of one call of an engine
	Energy     time.Duration `json:"energy_ns,omitempty"`   // length of the energy loop; 0: energy is not measured
	Meters     []string      `json:"meters,omitempty"`      // specifications of power meters; empty: all that are found
	HostDevice *EngineSpec   `json:"host_device,omitempty"` // accelerator of the host's own work; nil: the CPU does it
	Regenerate bool          `json:"regenerate,omitempty"`  // do not store the tuples; regenerate them on demand
	Kernels    []Kernel      `json:"kernels,omitempty"`     // in the order of a graph's searches; empty: BFS
	Cluster    *Cluster      `json:"cluster,omitempty"`     // nil: everything runs on this host
}

// Cluster is the hosts of a run on several, and how processes are started there.
type Cluster struct {
	Launcher  string   `json:"launcher"`            // mpirun, hydra or srun
	Hosts     []string `json:"hosts,omitempty"`     // names; empty: those of the allocation
	Nodes     int      `json:"nodes,omitempty"`     // number of hosts, if they have no names
	Arguments []string `json:"arguments,omitempty"` // of the launcher
	Network   string   `json:"network,omitempty"`   // of the host program, as CIDR; empty: any
}

// Spans reports whether the graph is divided among hosts. If not, the launcher starts processes on this host only.
func (c *Cluster) Spans() bool { return c != nil && c.Launcher != "" }

// check returns a usage error if a plan cannot run on several hosts.
func (c *Cluster) check(p Plan) error {
	hosts := slices.Sorted(slices.Values(c.Hosts))
	name := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.@_-]*$`)
	odd := slices.IndexFunc(hosts, func(host string) bool { return !name.MatchString(host) })
	switch {
	case p.Regenerate:
		return Usage("hosts keep their slices of the tuples; leave out --regenerate, or run on one host")
	case odd >= 0: // launchers would take it for an option, or for more than a name, or wait
		return Usage("a host is named %q; want names such as node1,node2", hosts[odd])
	case len(slices.Compact(slices.Clone(hosts))) < len(hosts):
		return Usage("the hosts are %s; want each one once", strings.Join(c.Hosts, ","))
	case c.Nodes < 0 || len(hosts) > 0 && c.Nodes > 0 && c.Nodes != len(hosts):
		return Usage("the number of hosts is %d, but %d are named; give one of the two", c.Nodes, len(hosts))
	}
	for _, g := range p.Graphs {
		if g.Path != "" {
			return Usage("graph %s is a file, which is not divided among hosts; name a generator, or run on one host", g.Name)
		}
	}
	return nil
}

// Kernel is a kind of search: kernel 2 or 3 of Graph500.
type Kernel string

const (
	BFS  Kernel = ""     // breadth-first search, kernel 2
	SSSP Kernel = "sssp" // single-source shortest paths, kernel 3
)

// String returns bfs or sssp.
func (k Kernel) String() string { return cmp.Or(string(k), "bfs") }

// MarshalText and UnmarshalText use the names of String.
func (k Kernel) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

func (k *Kernel) UnmarshalText(text []byte) error {
	*k = Kernel(text)
	if string(text) == BFS.String() {
		*k = BFS
	}
	return nil
}

// ParseKernels reads a list of different kernels, such as bfs,sssp; that of BFS only is empty.
func ParseKernels(text string) (kernels []Kernel, err error) {
	for name := range strings.SplitSeq(text, ",") {
		var k Kernel
		_ = k.UnmarshalText([]byte(name)) // never fails
		if k != BFS && k != SSSP || name == "" || slices.Contains(kernels, k) {
			return nil, Usage("kernel %q: want bfs, sssp, or bfs,sssp for both", text)
		}
		kernels = append(kernels, k)
	}
	if slices.Sort(kernels); slices.Equal(kernels, []Kernel{BFS}) {
		return nil, nil
	}
	return kernels, nil
}

// Has reports whether the plan has searches of a kernel.
func (p Plan) Has(k Kernel) bool {
	return slices.Contains(p.Kernels, k) || k == BFS && len(p.Kernels) == 0
}

// EngineSpec names an engine and the options set for it.
type EngineSpec struct {
	Name     string            `json:"name"`               // label of the engine in this run, unique in a plan
	Builtin  string            `json:"builtin,omitempty"`  // name of a built-in engine, or
	Path     string            `json:"path,omitempty"`     // program of an external engine
	Checksum string            `json:"checksum,omitempty"` // SHA-256 of the external engine's program, as run
	Options  map[string]string `json:"options,omitempty"`  // those that the user set
}

// IsLibrary reports whether the engine at path is a shared library, by its name.
func IsLibrary(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.") || strings.HasSuffix(name, ".dylib")
}

// DefaultPlan is the official protocol at scale 18, without engines.
func DefaultPlan() Plan {
	return Plan{
		Scales: []int{18}, EdgeFactor: OfficialEdgeFactor, Seed1: OfficialSeed1, Seed2: OfficialSeed2,
		Roots: OfficialRoots, Validate: AllRoots, WarmUps: 1, Wake: 10, Timeout: 10 * time.Minute,
	}
}

// Recipe describes the plan's input at a scale.
func (p Plan) Recipe(scale int) graph.Kronecker {
	return graph.Kronecker{Scale: scale, EdgeFactor: p.EdgeFactor, Seed1: p.Seed1, Seed2: p.Seed2}
}

// Check returns an ErrUsage if the plan cannot be run.
func (p Plan) Check() error {
	switch n := len(p.Engines) * len(p.GraphIDs()); {
	case len(p.Engines) == 0:
		return Usage("no engine is named")
	case n == 0:
		return Usage("no scale or graph is named")
	case n > maxRuns:
		return Usage("%d engines and graphs are more than a run can have, %d", n, maxRuns)
	}
	for i, k := range p.Kernels {
		if k != BFS && k != SSSP || slices.Contains(p.Kernels[:i], k) {
			return Usage("the kernels are %v; want bfs, sssp or both", p.Kernels)
		}
	}
	if p.Cluster.Spans() {
		if err := p.Cluster.check(p); err != nil {
			return err
		}
	}
	labels := map[string]bool{}
	for _, e := range p.Engines {
		switch {
		case labels[e.Name]:
			return Usage("engine %s is named twice; give one of them another label: other=%[1]s", e.Name)
		case len(e.Name) > plugins.MaxText:
			return Usage("the label of an engine has %d bytes; at most %d are allowed", len(e.Name), plugins.MaxText)
		}
		labels[e.Name] = true
	}
	seen := map[GraphID]bool{}
	for _, id := range p.GraphIDs() {
		_, err := p.Generator(id)
		switch {
		case id.Kernel != BFS && p.Has(BFS): // the same graphs again
		case seen[id] && p.Graph(id).Path != "":
			return Usage("two files are named %s; rename one of them, because a run names its graphs after their files", id)
		case seen[id]:
			return Usage("%s is named twice", id)
		case len(id.Source) > maxGraphName:
			return Usage("the name of a graph has %d bytes; at most %d are allowed", len(id.Source), maxGraphName)
		case err != nil:
			return Usage("%w", err)
		}
		seen[id] = true
	}
	switch {
	case len(p.RootLabels) > 0 && (len(p.RootLabels) != p.Roots || len(p.Scales)+len(p.Graphs) != 1):
		return Usage("roots from a file are those of one graph; name one scale or graph, and no number of roots")
	case p.Roots < 1 || p.Roots > maxRoots:
		return Usage("the number of roots must be 1 to %d (the benchmark uses %d), not %d", maxRoots, OfficialRoots,
			p.Roots)
	case p.Validate < AllRoots:
		return Usage("roots to validate must be all, none or a number, not %d", p.Validate)
	case p.WarmUps < 0 || p.WarmUps > maxRoots:
		return Usage("the number of warm-up searches must be 0 to %d, not %d", maxRoots, p.WarmUps)
	case p.Wake < 0 || p.Wake > maxRoots:
		return Usage("the number of searches that wake an engine must be 0 to %d, not %d", maxRoots, p.Wake)
	case p.Regenerate && p.Has(SSSP):
		return Usage("tuples that are made again have no weights; use --regenerate with --kernel bfs")
	case p.Regenerate && len(p.Graphs) > 0:
		return Usage("%s: tuples can be made again only for a scale; leave out --regenerate", p.Graphs[0].Name)
	case p.Timeout <= 0:
		return Usage("the timeout must be a positive duration such as 10m, not %v", p.Timeout)
	case p.Energy < 0:
		return Usage("the length of the energy loop must be a positive duration such as 60s, or 0 for none, not %v", p.Energy)
	case p.Energy == 0 && len(p.Meters) > 0:
		return Usage("meter %s requires an energy loop", p.Meters[0])
	}
	return nil
}

// GraphID names a graph of a plan, and the kernel that searches it: a scale of the benchmark's Kronecker graphs, or the
// name of another source.
type GraphID struct {
	Scale  int    `json:"scale,omitempty"`  // log2 of the number of vertices
	Source string `json:"source,omitempty"` // GraphSpec.Name; empty for a scale
	Kernel Kernel `json:"kernel,omitempty"`
}

// Graph is the same graph for every kernel.
func (id GraphID) Graph() GraphID { return GraphID{Scale: id.Scale, Source: id.Source} }

// String returns scale 20, or the name of the source, followed by the kernel unless that is BFS.
func (id GraphID) String() string {
	name := cmp.Or(id.Source, fmt.Sprintf("scale %d", id.Scale))
	if id.Kernel != BFS {
		name += fmt.Sprintf(" (%s)", id.Kernel)
	}
	return name
}

// Cell returns 20, or the name of the source, followed by the kernel unless that is BFS: for a column of a table.
func (id GraphID) Cell() string {
	return strings.TrimSpace(cmp.Or(id.Source, strconv.Itoa(id.Scale)) + " " + string(id.Kernel))
}

// At returns at scale 20, or on and the name of the source.
func (id GraphID) At() string {
	if id.Source != "" {
		return "on " + id.String()
	}
	return "at " + id.String()
}

// GraphSpec is a source of tuples other than the Kronecker graphs of a plan's scales.
type GraphSpec struct {
	Name     string `json:"name"`               // of a generator (graph.ParseSource) or of the file, unique in a plan
	Path     string `json:"path,omitempty"`     // the file, ARCHIVE/FILE, or StandardInput; empty for a generator
	Format   string `json:"format,omitempty"`   // of the file; empty: that of its name or content
	Checksum string `json:"checksum,omitempty"` // the SHA-256 that the file must have; empty: any
}

// StandardInput is the path of standard input.
const StandardInput = "-"

const maxGraphName = 200 // bytes of GraphSpec.Name

// GraphIDs are the graphs of the plan in the order in which they are searched. A graph comes once for each kernel.
func (p Plan) GraphIDs() (ids []GraphID) {
	kernels := p.Kernels
	if len(kernels) == 0 {
		kernels = []Kernel{BFS}
	}
	for _, scale := range p.Scales {
		for _, k := range kernels {
			ids = append(ids, GraphID{Scale: scale, Kernel: k})
		}
	}
	for _, g := range p.Graphs {
		for _, k := range kernels {
			ids = append(ids, GraphID{Source: g.Name, Kernel: k})
		}
	}
	return ids
}

// Only returns the plan for one of its graphs and kernels.
func (p Plan) Only(id GraphID) Plan {
	if p.Kernels = nil; id.Kernel != BFS {
		p.Kernels = []Kernel{id.Kernel}
	}
	if id.Source == "" {
		p.Scales, p.Graphs = []int{id.Scale}, nil
	} else {
		p.Scales, p.Graphs = []int{}, []GraphSpec{p.Graph(id)} // not nil, which is null in JSON
	}
	return p
}

// Graph returns the specification of a graph of the plan; a scale has an empty one.
func (p Plan) Graph(id GraphID) GraphSpec {
	if i := slices.IndexFunc(p.Graphs, func(g GraphSpec) bool { return g.Name == id.Source }); i >= 0 {
		return p.Graphs[i]
	}
	return GraphSpec{}
}

// Generator returns the generator of a graph of the plan, or nil for a file, whose size is known once it is read.
func (p Plan) Generator(id GraphID) (graph.Source, error) {
	if recipe := p.Recipe(id.Scale); id.Source == "" {
		return recipe, recipe.Check()
	}
	if p.Graph(id).Path != "" {
		return nil, nil
	}
	return graph.ParseSource(id.Source, p.Seed1, p.Seed2)
}

// AddGraph adds the value of --graph: a generator, or the path of a file. A Kronecker graph with the plan's edge factor
// is one of its scales.
func (p *Plan) AddGraph(text string) error {
	switch {
	case text == "":
		return Usage("the name of a graph is empty")
	case text == StandardInput:
		p.Graphs = append(p.Graphs, GraphSpec{Name: "standard input", Path: StandardInput})
	case !graph.IsGenerator(text):
		path, err := filepath.Abs(text)
		if err != nil {
			return Usage("graph %s: %w", text, err)
		}
		p.Graphs = append(p.Graphs, GraphSpec{Name: filepath.Base(path), Path: path})
	default:
		source, err := graph.ParseSource(text, p.Seed1, p.Seed2)
		if err != nil {
			return Usage("%w", err)
		}
		if k, ok := source.(graph.Kronecker); ok && k.EdgeFactor == p.EdgeFactor {
			p.Scales = append(p.Scales, k.Scale)
		} else {
			p.Graphs = append(p.Graphs, GraphSpec{Name: source.Name()})
		}
	}
	return nil
}

// Kinds of errors, for errors.Is.
var (
	// ErrUsage marks a request that cannot succeed as it is: nothing was started, and repeating it does not help.
	ErrUsage = errors.New("wrong usage")
	// ErrNotWritten marks a record that cannot be written, the one failure that ends a run for all engines.
	ErrNotWritten = errors.New("record not written")
)

// marked is an error with a kind, for errors.Is, that its text does not name.
type marked struct {
	error
	kind error
}

func (m marked) Is(target error) bool { return target == m.kind }
func (m marked) Unwrap() error        { return m.error }

// Usage returns an ErrUsage whose text is the formatted message.
func Usage(format string, args ...any) error { return marked{fmt.Errorf(format, args...), ErrUsage} }
