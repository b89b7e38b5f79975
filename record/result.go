// SPDX-License-Identifier: Apache-2.0

// Package record defines the request of a run (Plan) and its measurements (Result), and stores both in a directory
// (Store). It derives the statistics, the compliance statement and the energy figures of a run.
package record

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// Result has everything that a run measured. Every report is made from Results. Times are in seconds, sizes in bytes
// and rates in tuples per second unless a name ends in another unit. A value that was not measured is absent.
type Result struct {
	Manifest
	Runs []Run `json:"runs"` // in the order of the plan
	// JournalBytes is the length of the part of the journal that result.json was made from.
	JournalBytes int64 `json:"journal_bytes,omitempty"`
	// Digest is the checksum of the record's three files. It is empty for a run without result.json, or with a
	// journal that has grown since.
	Digest string `json:"digest,omitempty"`
	// Directory is where it was loaded from; empty: not from a file.
	Directory string `json:"-"`
}

// Manifest describes the plan of a run, its machine and its software. run.json contains it from the start of a run.
type Manifest struct {
	Schema      string            `json:"schema"`
	ID          string            `json:"id"` // unique to this run
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"` // the command line
	Software    Software          `json:"software"`
	Machine     machine.Machine   `json:"machine"`
	Plan        Plan              `json:"plan"`
	Environment map[string]string `json:"environment,omitempty"` // variables of environmentNames that are set
}

// State is how a Run ended.
type State string

const (
	Complete    State = "complete"    // every root of the plan was searched
	Interrupted State = "interrupted" // stopped by the user or by the end of the process; can be resumed
	Failed      State = "failed"      // the engine failed, as described by Failure
)

// Run is one engine on one graph.
type Run struct {
	Engine EngineSpec `json:"engine"`
	GraphID
	Description *plugins.Description `json:"description,omitempty"`
	Options     map[string]string    `json:"options,omitempty"` // in effect: set or default
	Graph       *GraphRecord         `json:"graph,omitempty"`
	// Construction is kernel 1 of the graph that was searched: it is from the last session that made searches. The next
	// four are of its Kernel1.
	Construction  *plugins.Construction `json:"construction,omitempty"`
	ConstructWall float64               `json:"construct_wall,omitempty"`
	DeviceTuples  bool                  `json:"device_tuples,omitempty"`
	Hosts         []string              `json:"hosts,omitempty"`
	Cost          *Cost                 `json:"cost,omitempty"`
	// Clock is the loop by which the host confirmed the engine's clock: it is nil for engines that are part of teps.
	Clock *EnergyLoop `json:"clock,omitempty"`
	// Sessions counts constructions for searching: 1, and one more for each resume with searches missing.
	Sessions int `json:"sessions"`
	// Rebuilt is kernel 1 of a resume after the last search: the graph that the energy loop searched.
	Rebuilt *Kernel1     `json:"rebuilt,omitempty"`
	Roots   []RootRecord `json:"roots,omitempty"` // in the order of the draw
	// Unchecked counts the searches after which the tuples were not compared with the generated ones, because teps was
	// killed. Validation used the tuples as they were then.
	Unchecked  int           `json:"unchecked,omitempty"`
	State      State         `json:"state"`
	Failure    string        `json:"failure,omitempty"`
	Memory     *PeakMemory   `json:"memory,omitempty"`     // of the last session
	Void       bool          `json:"void,omitempty"`       // no search counts, and a resume repeats all: see End.Void
	Valid      bool          `json:"valid"`                // complete, every search validated and none of them wrong
	Statistics *Statistics   `json:"statistics,omitempty"` // over Roots; absent without roots
	Energy     *EnergyRecord `json:"energy,omitempty"`     // absent if not requested or not yet measured
	Compliance Compliance    `json:"compliance"`

	pending int // searches of the last session, until its End
}

// Kernel1 records that an engine has built the graph.
type Kernel1 struct {
	Options      map[string]string    `json:"options"`
	Checksum     string               `json:"checksum,omitempty"` // of the engine's program
	Construction plugins.Construction `json:"construction"`
	Wall         float64              `json:"wall"` // seconds on the host's clock around the call
	Cost         *Cost                `json:"cost,omitempty"`
	Idle         float64              `json:"idle,omitempty"` // of versions before 0.3: what a call to this engine costs
	// DeviceTuples says that the tuples were in the memory of a GPU when kernel 1 began.
	DeviceTuples bool     `json:"device_tuples,omitempty"`
	Hosts        []string `json:"hosts,omitempty"` // with processes of the engine, if there are several
}

// RootRecord is one search: a line of roots.jsonl.
type RootRecord struct {
	Index      int             `json:"index"` // in the order of the draw, from 0
	Root       graph.Vertex    `json:"root"`
	Label      *uint64         `json:"label,omitempty"` // of the root in the graph's file; nil: the same number
	Time       float64         `json:"time"`            // seconds on the engine's clock, used for TEPS
	Wall       float64         `json:"wall"`            // seconds on the host's clock around the call
	Levels     []plugins.Level `json:"levels,omitempty"`
	Phases     []plugins.Phase `json:"phases,omitempty"` // outside levels
	Ranks      []plugins.Rank  `json:"ranks,omitempty"`  // of an engine that has ranks
	Validated  bool            `json:"validated"`
	Violation  string          `json:"violation,omitempty"`  // the rule that was broken, with the vertices; empty: valid
	Rule       int             `json:"rule,omitempty"`       // number of the broken rule, 1 to 5; of kernel 3, plus 10
	Validation float64         `json:"validation,omitempty"` // seconds
	NEdge      *int64          `json:"nedge,omitempty"`      // tuples of the component without self-loops (reference)
	M          *int64          `json:"m,omitempty"`          // tuples of the component (specification)
	Reached    *int64          `json:"reached,omitempty"`    // vertices of the component
	Depth      *int            `json:"depth,omitempty"`      // largest level of the tree
	Farthest   *float64        `json:"farthest,omitempty"`   // of kernel 3: the largest distance of a reached vertex

	// Interference is the run queue wait and similar delays of the engine's process; nil if the system reports none.
	Interference *machine.Interference `json:"interference,omitempty"`
	// After is the processor time that the engine used from the return of the call to the end of validation, seconds.
	After float64 `json:"after,omitempty"`

	// ValidatedBy is the host's device that validated; empty: the CPU. Confirmed means that the CPU also validated, and
	// agreed.
	ValidatedBy string `json:"validated_by,omitempty"`
	Confirmed   bool   `json:"confirmed,omitempty"`
}

// GraphRecord is one graph of a plan: its tuples, and the draw of the roots.
type GraphRecord struct {
	// Recipe is that of a Kronecker graph, zero for others.
	Recipe   graph.Kronecker `json:"recipe,omitzero"`
	Vertices int64           `json:"vertices,omitempty"` // labels are below it
	Tuples   int64           `json:"tuples"`
	// SHA256 is that of the tuples in the packed form of Graph500. It is absent for a scale, whose recipe is enough.
	SHA256      string      `json:"sha256,omitempty"`
	File        *FileRecord `json:"file,omitempty"`
	GeneratedBy string      `json:"generated_by,omitempty"` // the host's device; empty: the CPU
	Weights     string      `json:"weights,omitempty"`      // of kernel 3: ReferenceWeights, or where others come from
	// Regenerated says that no memory holds the tuples: engines and validation make them again from the recipe.
	Regenerated   bool    `json:"regenerated,omitempty"`
	Generation    float64 `json:"generation"`     // seconds of generating or reading them, untimed
	RejectedDraws int     `json:"rejected_draws"` // root draws of an isolated vertex or of one drawn before
	RootsFound    int     `json:"roots_found"`
	RootsGiven    bool    `json:"roots_given,omitempty"` // by the user; they are not those of the official draw
}

// ReferenceWeights are those of the reference generator.
const ReferenceWeights = "reference"

// FileRecord describes the file that tuples were read from.
type FileRecord struct {
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"`
	// Symmetrized reports whether the file has directed edges, or does not say that they are undirected: each is one
	// undirected tuple.
	Symmetrized bool `json:"symmetrised"`
	// Relabeled reports whether the vertices have other numbers than in the file: RootRecord.Label has the file's.
	Relabeled bool `json:"relabelled"`
}

// Same reports whether two records are of the same list of tuples.
func (g *GraphRecord) Same(other *GraphRecord) bool {
	return g.Recipe == other.Recipe && g.Vertices == other.Vertices && g.Tuples == other.Tuples &&
		g.SHA256 == other.SHA256 && g.Weights == other.Weights
}

// Compliance states which rules of Graph500 a run follows, each checked by the program.
type Compliance struct {
	Compliant bool    `json:"compliant"` // every rule holds
	Rules     []Check `json:"rules"`
	Power     string  `json:"power"` // figure, scope, meter, class and level, or why there is none
}

// Check is one rule, whether it holds, and why.
type Check struct {
	Rule   string `json:"rule"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail"` // what was found; an engine's claim is quoted as a claim
}

// SetTree sets the counts of the component that the search reached.
func (r *RootRecord) SetTree(tree validate.Tree) {
	r.M, r.NEdge, r.Reached = new(tree.Tuples), new(tree.NEdge()), new(tree.Reached)
}

// TEPS is the rate of the search with the reference's count of tuples; it is known if these were counted.
func (r RootRecord) TEPS() (rate float64, known bool) {
	if r.NEdge == nil || *r.NEdge <= 0 || r.Time <= 0 {
		return 0, false
	}
	return float64(*r.NEdge) / r.Time, true
}

// Broken reports whether validation found the search wrong.
func (r RootRecord) Broken() bool { return r.Violation != "" || r.Rule != 0 }

// Delay is a lower bound on the time, in seconds, that the search waited for a processor. Waiting that may have passed
// outside the engine's clock does not count, such as that of a thread while the host overwrites the parents.
func (r RootRecord) Delay() float64 {
	if i := r.Interference; i != nil {
		return max(0, i.Waited+i.Stolen-max(0, i.Period-r.Time))
	}
	return 0
}

// LevelFault says why the levels of a search do not fit its time, the graph or, if it was validated, its tree; empty:
// they fit.
func (r Run) LevelFault(root RootRecord) string {
	seconds, vertices := 0.0, 0.0
	for i, level := range root.Levels {
		entries, _ := level.Edges.Get()
		switch {
		case level.Elapsed < 0 || level.Frontier < 0:
			return fmt.Sprintf("level %d has a negative number", i)
		case r.Graph != nil && entries/maxLooks > 2*r.Graph.Tuples:
			return fmt.Sprintf("level %d looks at %d entries of lists that have %d", i, entries, 2*r.Graph.Tuples)
		}
		seconds, vertices = seconds+level.Elapsed.Seconds(), vertices+float64(level.Frontier)
	}
	switch {
	case seconds > 1.05*root.Time+1e-5: // clocks of levels may differ a little from that of the search
		return fmt.Sprintf("its levels take %.4g s and the search %.4g s", seconds, root.Time)
	case root.Farthest != nil: // a vertex may be in several frontiers
	case root.Validated && root.Depth != nil && len(root.Levels) > *root.Depth+1:
		return fmt.Sprintf("it has %d levels and a tree of depth %d", len(root.Levels), *root.Depth)
	case root.Validated && root.Reached != nil && vertices > float64(*root.Reached):
		return fmt.Sprintf("its frontiers have %.0f vertices and its tree has %d", vertices, *root.Reached)
	}
	return ""
}

// maxLooks is how often a level may look at each entry of the lists: shortest paths do so several times.
const maxLooks = 8

// Checksummed reports whether a digest shows that the record is as it was written.
func (r Result) Checksummed() bool { return r.Digest != "" }

// Sound reports whether the run is complete and no validated search is wrong. Unlike Valid, it does not require that
// every search was validated.
func (r Run) Sound() bool {
	return r.State == Complete && len(r.Roots) > 0 && r.BrokenRoots() == 0
}

// Count returns the number of searches with a property.
func (r Run) Count(has func(RootRecord) bool) (n int) {
	for _, root := range r.Roots {
		if has(root) {
			n++
		}
	}
	return n
}

// BrokenRoots returns the number of searches that validation found wrong.
func (r Run) BrokenRoots() int { return r.Count(RootRecord.Broken) }

// MeanDepth is the mean of the largest levels of the validated searches, the search depth of Merrill, Garland and
// Grimshaw, 2012; NaN if none was validated.
func (r Run) MeanDepth() float64 {
	sum, n := 0.0, 0.0
	for _, root := range r.Roots {
		if root.Depth != nil {
			sum, n = sum+float64(*root.Depth), n+1
		}
	}
	return sum / n
}

// Statistics are the Graph500 statistics of the searches whose tuples were counted. TEPS use NEdge, as in the
// reference.
type Statistics struct {
	NBFS       int     `json:"nbfs"`
	Time       Spread  `json:"time"`
	NEdge      Spread  `json:"nedge"`
	TEPS       Spread  `json:"teps"`
	Validation *Spread `json:"validation,omitempty"`
}

// Spread is the reference's summary of n values. Mean and StdDev are harmonic for TEPS and arithmetic otherwise. StdDev
// is absent for fewer than two values.
type Spread struct {
	Min           float64  `json:"min"`
	FirstQuartile float64  `json:"firstquartile"`
	Median        float64  `json:"median"`
	ThirdQuartile float64  `json:"thirdquartile"`
	Max           float64  `json:"max"`
	Mean          float64  `json:"mean"`
	StdDev        *float64 `json:"stddev,omitempty"`
}

// Summarize computes the Graph500 statistics of searches (specification 2.0, "Output"; quartiles and harmonic standard
// deviation as in the reference program). It returns nil if no search has its tuples counted.
func Summarize(roots []RootRecord) *Statistics {
	var times, edges, perEdge, validations []float64
	for _, r := range roots {
		if _, known := r.TEPS(); !known {
			continue
		}
		n := float64(*r.NEdge)
		times, edges, perEdge = append(times, r.Time), append(edges, n), append(perEdge, r.Time/n)
		if r.Validated {
			validations = append(validations, r.Validation)
		}
	}
	if len(times) == 0 {
		return nil
	}
	s := &Statistics{NBFS: len(times), Time: spread(times), NEdge: spread(edges), TEPS: rates(spread(perEdge), len(times))}
	if len(validations) > 0 {
		s.Validation = new(spread(validations))
	}
	return s
}

// spread summarizes x, which it sorts.
func spread(x []float64) Spread {
	slices.Sort(x)
	n := len(x)
	mean, deviation := stat.MeanStdDev(x, nil)
	s := Spread{
		Min: x[0], FirstQuartile: (x[(n-1)/4] + x[n/4]) / 2, Median: (x[(n-1)/2] + x[n/2]) / 2,
		ThirdQuartile: (x[n-1-(n-1)/4] + x[n-1-n/4]) / 2, Max: x[n-1], Mean: mean,
	}
	if n > 1 {
		s.StdDev = &deviation
	}
	return s
}

// rates turns a spread of n values of seconds per edge into one of edges per second: order statistics inverted, the
// harmonic mean, and the harmonic standard deviation s/(mean^2*sqrt(n-1)) (Norris 1940, as the reference does).
func rates(perEdge Spread, n int) Spread {
	t := Spread{
		Min: 1 / perEdge.Max, FirstQuartile: 1 / perEdge.ThirdQuartile, Median: 1 / perEdge.Median,
		ThirdQuartile: 1 / perEdge.FirstQuartile, Max: 1 / perEdge.Min, Mean: 1 / perEdge.Mean,
	}
	if perEdge.StdDev != nil {
		t.StdDev = new(*perEdge.StdDev / (perEdge.Mean * perEdge.Mean * math.Sqrt(float64(n-1))))
	}
	return t
}
