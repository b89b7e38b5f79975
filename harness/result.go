package harness

import (
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Result is everything a run left behind; result.json holds one, and every report is made from one alone. Times are in
// seconds, sizes in bytes, rates in tuples a second, unless a name says otherwise. What was not measured is absent.
type Result struct {
	Manifest
	Runs []Run `json:"runs"` // in the order of the plan
	// Journal is the seal of the last line of roots.jsonl, Digest that of result.json (seal.go); Digest is in the file alone.
	Journal string `json:"journal,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Manifest says what was run, where and with what. run.json holds it from the first second of a run on.
type Manifest struct {
	Schema   string    `json:"schema"`
	ID       string    `json:"id"` // unique to this run
	Started  time.Time `json:"started"`
	Command  []string  `json:"command"` // the command line
	Software Software  `json:"software"`
	Machine  Machine   `json:"machine"`
	Plan     Plan      `json:"plan"`
	// Environment holds the variables that matter to a measurement and are set (surroundings.go has the list).
	Environment map[string]string `json:"environment,omitempty"`
	Build       map[string]string `json:"build,omitempty"`     // settings of the Go toolchain: GOAMD64, -tags, ...
	Libraries   []Library         `json:"libraries,omitempty"` // in the program of the host
	Seal        string            `json:"seal,omitempty"`      // of run.json (seal.go); absent in records of the first release
}

// Sealed says whether the record has seals. Load has checked them; a record without them may have been changed by anybody.
func (m Manifest) Sealed() bool { return m.Seal != "" }

// Software is the build of the host.
type Software struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`  // with "+dirty" when the tree had changes
	Compiler string `json:"compiler"`          // go1.26.1 linux/amd64
	Program  string `json:"program,omitempty"` // SHA-256 of the running program
}

// Machine is where the host ran.
type Machine struct {
	Hostname    string          `json:"hostname,omitempty"`
	CPU         string          `json:"cpu,omitempty"`
	Sockets     int             `json:"sockets,omitempty"`
	Cores       int             `json:"cores,omitempty"`   // physical
	Threads     int             `json:"threads,omitempty"` // usable by this process
	CacheBytes  int64           `json:"cache_bytes,omitempty"`
	ClockMHz    float64         `json:"clock_mhz,omitempty"` // the highest that can be set, or the present one where none is told
	Clocks      Clocks          `json:"clocks,omitzero"`
	SMT         string          `json:"smt,omitempty"`       // threads of one core: on, off, forceoff, notsupported, notimplemented
	Microcode   string          `json:"microcode,omitempty"` // its revision
	Governor    string          `json:"governor,omitempty"`
	NUMANodes   int             `json:"numa_nodes,omitempty"`
	NUMA        []NUMANode      `json:"numa,omitempty"`
	Balancing   string          `json:"numa_balancing,omitempty"` // whether the kernel moves pages between nodes: on, off
	MemoryBytes int64           `json:"memory_bytes,omitempty"`
	Modules     []MemoryModules `json:"memory_modules,omitempty"`
	HugePages   string          `json:"huge_pages,omitempty"` // setting of transparent huge pages
	OS          string          `json:"os"`
	Kernel      string          `json:"kernel,omitempty"`
	Virtual     string          `json:"virtual,omitempty"` // hypervisor, as the system tells
	GPUs        []GPU           `json:"gpus,omitempty"`
}

// Plan is what was asked for, with every default filled in.
type Plan struct {
	Engines    []EngineSpec  `json:"engines"`
	Scales     []int         `json:"scales"`
	EdgeFactor int           `json:"edgefactor"`
	Seed1      uint64        `json:"seed1"`
	Seed2      uint64        `json:"seed2"`
	Roots      int           `json:"roots"`               // wanted; fewer where the graph has fewer
	Validate   int           `json:"validate"`            // roots to validate; -1 is all of them
	WarmUps    int           `json:"warm_ups"`            // untimed searches from the first root before the first timed one
	Timeout    time.Duration `json:"timeout_ns"`          // longest that one call of an engine may take
	Energy     time.Duration `json:"energy_ns,omitempty"` // length of the energy loop; 0: no energy is measured
	Meters     []string      `json:"meters,omitempty"`    // specifications of power meters; none: all that can be found
}

// EngineSpec names an engine and what the user set on it.
type EngineSpec struct {
	Name     string            `json:"name"`               // label of the engine in this run, unique in a plan
	Builtin  string            `json:"builtin,omitempty"`  // which built-in engine it is, or
	Path     string            `json:"path,omitempty"`     // the program of an outside engine
	Checksum string            `json:"checksum,omitempty"` // SHA-256 of an outside engine's program, as run
	Options  map[string]string `json:"options,omitempty"`  // what the user set
}

// State says how a Run ended.
type State string

const (
	Complete    State = "complete"    // every root of the plan was searched
	Interrupted State = "interrupted" // stopped by the user or by the end of the process; can be resumed
	Failed      State = "failed"      // the engine failed; Failure says how
)

// Run is one engine at one scale.
type Run struct {
	Engine        EngineSpec            `json:"engine"`
	Scale         int                   `json:"scale"`
	Description   *plugins.Description  `json:"description,omitempty"`
	Options       map[string]string     `json:"options,omitempty"` // effective: set or default
	Graph         *GraphRecord          `json:"graph,omitempty"`
	Construction  *plugins.Construction `json:"construction,omitempty"`   // of the graph that was searched: of the last session that had searches to do
	ConstructWall float64               `json:"construct_wall,omitempty"` // the host's clock around Construct
	Sessions      int                   `json:"sessions"`                 // that built the graph to search it: 1, and one more for each resume with searches missing
	Rebuilt       *Kernel1              `json:"rebuilt,omitempty"`        // by a resume after the last search: what the energy loop ran over
	Roots         []RootRecord          `json:"roots,omitempty"`          // in the order of the draw
	State         State                 `json:"state"`
	Failure       string                `json:"failure,omitempty"`
	Valid         bool                  `json:"valid"`                // complete, every root validated, and none broke a rule
	Statistics    *Statistics           `json:"statistics,omitempty"` // over Roots; absent without roots
	Energy        *EnergyRecord         `json:"energy,omitempty"`     // absent where it was not asked for, or not yet measured
	Compliance    Compliance            `json:"compliance"`
}

// GraphRecord is the input of one scale.
type GraphRecord struct {
	Recipe        graph.Kronecker `json:"recipe"`
	Tuples        int64           `json:"tuples"`
	Generation    float64         `json:"generation"`     // seconds, untimed in the benchmark's sense
	RejectedDraws int             `json:"rejected_draws"` // root draws that hit an isolated vertex or a repeat
	RootsFound    int             `json:"roots_found"`
}

// RootRecord is one search: a line of roots.jsonl.
type RootRecord struct {
	Index      int             `json:"index"` // in the order of the draw, from 0
	Root       graph.Vertex    `json:"root"`
	Time       float64         `json:"time"` // seconds on the engine's clock; TEPS come from this
	Wall       float64         `json:"wall"` // seconds on the host's clock around the call
	Levels     []plugins.Level `json:"levels,omitempty"`
	Phases     []plugins.Phase `json:"phases,omitempty"` // outside levels
	Ranks      []plugins.Rank  `json:"ranks,omitempty"`  // of an engine that has ranks
	Validated  bool            `json:"validated"`
	Violation  string          `json:"violation,omitempty"`  // the rule that was broken, with the vertices; empty: valid
	Rule       int             `json:"rule,omitempty"`       // 1..5 of the broken rule
	Validation float64         `json:"validation,omitempty"` // seconds
	NEdge      *int64          `json:"nedge,omitempty"`      // tuples of the component without self-loops, as the reference counts
	M          *int64          `json:"m,omitempty"`          // tuples of the component, as the specification counts
	Reached    *int64          `json:"reached,omitempty"`    // vertices of the component
	Depth      *int            `json:"depth,omitempty"`      // largest level
}

// Broken says whether the search was found wrong.
func (r RootRecord) Broken() bool { return r.Violation != "" || r.Rule != 0 }

// Sound says that nothing is known against the run: it is complete, and no search that was validated broke a rule. A run
// of which not every search was validated can be sound without being Valid.
func (r Run) Sound() bool {
	for _, root := range r.Roots {
		if root.Broken() {
			return false
		}
	}
	return r.State == Complete && len(r.Roots) > 0
}

// Statistics are the Graph500 statistics of the roots whose tuples were counted. TEPS use NEdge, as the reference does.
type Statistics struct {
	NBFS       int     `json:"nbfs"`
	Time       Spread  `json:"time"`
	NEdge      Spread  `json:"nedge"`
	TEPS       Spread  `json:"teps"` // order statistics and harmonic mean; see Spread
	Validation *Spread `json:"validation,omitempty"`
}

// Spread is the reference's summary of n values. For TEPS, Mean and StdDev are harmonic; for everything else
// arithmetic. StdDev is absent for fewer than two values.
type Spread struct {
	Min           float64  `json:"min"`
	FirstQuartile float64  `json:"firstquartile"`
	Median        float64  `json:"median"`
	ThirdQuartile float64  `json:"thirdquartile"`
	Max           float64  `json:"max"`
	Mean          float64  `json:"mean"`
	StdDev        *float64 `json:"stddev,omitempty"`
}

// Compliance is the statement of Graph500's rules, each checked by the program. Compliant is their conjunction.
type Compliance struct {
	Compliant bool    `json:"compliant"`
	Rules     []Check `json:"rules"`
	Power     string  `json:"power"` // figure, scope, meter, class and level of the power measurement, or that there is none
}

// Check is one rule, whether it holds and why.
type Check struct {
	Rule   string `json:"rule"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"` // what was found; quotes an engine's claim as a claim
}
