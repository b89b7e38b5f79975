// SPDX-License-Identifier: Apache-2.0

package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// AllRoots is the value of Plan.Validate that validates every search.
const AllRoots = -1

// MaxRoots bounds Plan.Roots and Plan.WarmUps.
const MaxRoots = 1 << 20

const maxRuns = 4096 // engines times graphs of a Plan

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
	Validate   int           `json:"validate"`              // number of roots to validate; -1 for all of them
	WarmUps    int           `json:"warm_ups"`              // untimed searches from the first root, before the others
	Timeout    time.Duration `json:"timeout_ns"`            // limit of one call of an engine
	Energy     time.Duration `json:"energy_ns,omitempty"`   // length of the energy loop; 0: energy is not measured
	Meters     []string      `json:"meters,omitempty"`      // specifications of power meters; empty: all that are found
	HostDevice *EngineSpec   `json:"host_device,omitempty"` // accelerator of the host's own work; nil: the CPU does it
	Regenerate bool          `json:"regenerate,omitempty"`  // do not store the tuples; regenerate them on demand
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

// timedByTeps reports whether code of teps times the engine's calls in its process: built-in engines are part of teps,
// and a library's functions are called by teps.
func (e EngineSpec) timedByTeps() bool { return e.Builtin != "" || IsLibrary(e.Path) }

// DefaultPlan is the official protocol at scale 18, without engines.
func DefaultPlan() Plan {
	return Plan{
		Scales:     []int{18},
		EdgeFactor: OfficialEdgeFactor,
		Seed1:      OfficialSeed1,
		Seed2:      OfficialSeed2,
		Roots:      OfficialRoots,
		Validate:   AllRoots,
		WarmUps:    1,
		Timeout:    10 * time.Minute,
	}
}

// Recipe describes the plan's input at a scale.
func (p Plan) Recipe(scale int) graph.Kronecker {
	return graph.Kronecker{Scale: scale, EdgeFactor: p.EdgeFactor, Seed1: p.Seed1, Seed2: p.Seed2}
}

// Check returns an ErrUsage if the plan cannot be run.
func (p Plan) Check() error {
	if len(p.Engines) == 0 {
		return Usage("no engine is named")
	}
	if n := len(p.Engines) * len(p.GraphIDs()); n > maxRuns {
		return Usage("%d engines and graphs are more than a run can have, %d", n, maxRuns)
	}
	if err := p.checkGraphs(); err != nil {
		return err
	}
	labels := map[string]bool{}
	for _, e := range p.Engines {
		if labels[e.Name] {
			return Usage("engine %s is named twice; give one of them another label: other=%s", e.Name, e.Name)
		}
		if len(e.Name) > plugins.MaxText {
			return Usage("the label of an engine has %d bytes; at most %d are allowed", len(e.Name), plugins.MaxText)
		}
		labels[e.Name] = true
	}
	switch {
	case p.Roots < 1 || p.Roots > MaxRoots:
		return Usage("the number of roots must be 1 to %d (the benchmark uses %d), not %d", MaxRoots, OfficialRoots,
			p.Roots)
	case p.Validate < AllRoots:
		return Usage("roots to validate must be all, none or a number, not %d", p.Validate)
	case p.WarmUps < 0 || p.WarmUps > MaxRoots:
		return Usage("the number of warm-up searches must be 0 to %d, not %d", MaxRoots, p.WarmUps)
	case p.Regenerate && len(p.Graphs) > 0:
		return Usage("%s: tuples can be made again only for a scale", p.Graphs[0].Name)
	case p.Timeout <= 0:
		return Usage("the timeout must be a positive duration such as 10m, not %v", p.Timeout)
	case p.Energy < 0:
		return Usage("the length of the energy loop must be a positive duration such as 60s, or 0 for none, not %v", p.Energy)
	case p.Energy == 0 && len(p.Meters) > 0:
		return Usage("meter %s requires an energy loop", p.Meters[0])
	}
	return nil
}

// ErrUsage marks a request that cannot succeed as it is: nothing was started, and repeating it does not help.
var ErrUsage = errors.New("wrong usage")

type usageError struct{ error }

func (usageError) Is(target error) bool { return target == ErrUsage }
func (e usageError) Unwrap() error      { return e.error }

// Usage returns an ErrUsage whose text is the formatted message.
func Usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
