package harness

import (
	"fmt"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// comply states for one run which of Graph500's rules hold (specification 2.0; the list is that of an honest record:
// input, roots, searches, validation, clock, build, machine). What the program can check it checks, on the record
// itself; what only the engine can know is quoted as its claim. A run is compliant when every rule holds, and only then.
func comply(m Manifest, r Run) Compliance {
	var s statement
	s.input(r)
	s.roots(m.Plan, r)
	s.clock(m.Plan, r)
	s.claims(r)
	s.origin(m, r)
	c := Compliance{Compliant: true, Rules: s}
	for _, rule := range c.Rules {
		c.Compliant = c.Compliant && rule.Holds
	}
	// Power is no rule of Graph500, but silence would be misread.
	c.Power = powerText(r)
	return c
}

// statement is a list of rules in the making.
type statement []Check

func (s *statement) check(rule string, holds bool, format string, args ...any) {
	*s = append(*s, Check{Rule: rule, Holds: holds, Detail: fmt.Sprintf(format, args...)})
}

func (s *statement) input(r Run) {
	if r.Graph == nil {
		s.check("The input is the reference generator's, with its seeds and edge factor", false, "no graph was generated")
		return
	}
	k := r.Graph.Recipe
	s.check("The input is the reference generator's, with its seeds", k.Seed1 == OfficialSeed1 && k.Seed2 == OfficialSeed2,
		"seeds %d and %d; official are %d and %d", k.Seed1, k.Seed2, OfficialSeed1, OfficialSeed2)
	s.check("The edge factor is 16", k.EdgeFactor == OfficialEdgeFactor && r.Graph.Tuples == k.Tuples(),
		"edge factor %d, %d tuples", k.EdgeFactor, r.Graph.Tuples)
	s.check("Vertex labels are at least 48 bits wide in everything that crosses the interface", graph.VertexBits >= 48,
		"tuples carry %d bits, parents 64", graph.VertexBits)
}

func (s *statement) roots(p Plan, r Run) {
	wanted, rejected := 0, 0
	if r.Graph != nil {
		wanted, rejected = r.Graph.RootsFound, r.Graph.RejectedDraws
	}
	distinct := map[graph.Vertex]bool{}
	validated, broken := 0, 0
	for _, root := range r.Roots {
		distinct[root.Root] = true
		if root.Validated {
			validated++
		}
		if root.Broken() {
			broken++
		}
	}
	s.check("64 distinct random roots with a neighbour, or all there are",
		p.Roots == OfficialRoots && wanted > 0 && wanted <= OfficialRoots && len(distinct) == len(r.Roots),
		"%d of %d roots drawn, %d draws rejected, %d distinct roots searched", wanted, p.Roots, rejected, len(distinct))
	s.check("Every root was searched", r.State == Complete && len(r.Roots) == wanted && wanted > 0,
		"%d of %d searches done; the run is %s", len(r.Roots), wanted, r.State)
	s.check("Every search was validated against the input tuples, and is valid",
		len(r.Roots) > 0 && validated == len(r.Roots) && broken == 0,
		"%d of %d searches validated by the five rules, %d broke one", validated, len(r.Roots), broken)
}

func (s *statement) clock(p Plan, r Run) {
	s.check("Kernel 1 was timed, and ran once", r.Construction != nil && r.Sessions == 1, "%s", sessions(r))
	s.check("Kernel 1 was given nothing but the tuples", r.Description != nil && !r.Description.WantsRecipe,
		"asked for the generator's recipe: %s", yes(r.Description != nil && r.Description.WantsRecipe))
	late, engine, host := 0, 0.0, 0.0
	for _, root := range r.Roots {
		engine, host = engine+root.Time, host+root.Wall
		if root.Time <= 0 || root.Time > root.Wall {
			late++
		}
	}
	if r.Construction != nil && (r.Construction.Elapsed <= 0 || r.Construction.Elapsed.Seconds() > r.ConstructWall) {
		late++
	}
	s.check("No engine time is longer than the host's wall clock", r.Construction != nil && len(r.Roots) > 0 && late == 0,
		"%d of %d times are; TEPS are from the engine's clock: %.4g s for all searches, the host's clock around the calls says %.4g s",
		late, len(r.Roots)+1, engine, host)
	engines, gaps := r.gaps()
	s.check("The engine's clock accounts for the time of its calls", len(r.Roots) > 0 && gaps <= 3*engines+allowance(r),
		"in the median search the engine's clock says %.4g ms and the host's %.4g ms more; up to three times as much and %.4g ms are taken for the call and the moving of parents",
		engines*1e3, gaps*1e3, allowance(r)*1e3)
	s.check("There is at most one warm-up search, untimed and declared", p.WarmUps <= 1,
		"%d before the first timed search, from the first root (the reference does 1)", p.WarmUps)
}

// gaps returns the medians of the engine's times and of what the host's clock says beyond them, in seconds.
func (r Run) gaps() (engine, gap float64) {
	var engines, gaps []float64
	for _, root := range r.Roots {
		engines, gaps = append(engines, root.Time), append(gaps, root.Wall-root.Time)
	}
	if len(engines) == 0 {
		return 0, 0
	}
	return spread(engines).Median, spread(gaps).Median
}

// allowance is what a call to a process and the moving of its parents may take, in seconds.
func allowance(r Run) float64 {
	const roundTrip = 2e-3
	if r.Graph == nil {
		return roundTrip
	}
	return roundTrip + handOver(8*r.Graph.Recipe.Vertices()).Seconds()
}

func (s *statement) claims(r Run) {
	if r.Construction == nil {
		s.check("The engine's claims about its clock and tuning", false, "the engine did not finish kernel 1")
		return
	}
	claims := r.Construction.Claims
	s.check("Parents are in original labels, in memory, when the clock stops", claims.OriginalLabelsInClock,
		"claim of the engine: %s; that they are in original labels when handed over is validated", yes(claims.OriginalLabelsInClock))
	s.check("Buffers are cleared inside the clock", claims.ClearingInClock, "claim of the engine: %s", yes(claims.ClearingInClock))
	s.check("Parents are at least 48 bits wide when the clock stops", claims.ParentBits >= graph.VertexBits,
		"claim of the engine: %d bits; %d-bit labels inside", claims.ParentBits, claims.VertexBits)
	s.check("Tuning is fixed and declared", claims.Tuning != "", "claim of the engine: %s", orMissing(claims.Tuning))
}

func (s *statement) origin(m Manifest, r Run) {
	described := r.Description != nil && r.Description.Name != "" && r.Description.Version != ""
	identified := r.Engine.Path == "" && (m.Software.Program != "" || m.Software.Commit != "") || r.Engine.Checksum != ""
	s.check("Engine, version, build and options are recorded",
		described && identified && m.Software.Version != "" && m.Software.Compiler != "", "%s", engineText(m, r))
	clock := "clock not told by the system"
	if m.Machine.ClockMHz > 0 {
		clock = fmt.Sprintf("%.0f MHz", m.Machine.ClockMHz)
	}
	s.check("Machine, memory, clock and operating system are recorded, as far as the system tells",
		m.Machine.CPU != "" && m.Machine.Threads > 0 && m.Machine.MemoryBytes > 0 && m.Machine.OS != "",
		"%s, %d threads, %s, %d MiB, %s", orMissing(m.Machine.CPU), m.Machine.Threads, clock, m.Machine.MemoryBytes>>20, orMissing(m.Machine.OS))
}

func sessions(r Run) string {
	switch {
	case r.Construction == nil:
		return "kernel 1 did not finish"
	case r.Sessions > 1:
		return fmt.Sprintf("%d times: the run was resumed; the time given is that of the last", r.Sessions)
	}
	text := fmt.Sprintf("%.6g s on the engine's clock, %.6g s on the host's", r.Construction.Elapsed.Seconds(), r.ConstructWall)
	if r.Rebuilt != nil {
		text += fmt.Sprintf("; the run was resumed after its last search, and the graph built anew (%.6g s) for the energy loop alone",
			r.Rebuilt.Construction.Elapsed.Seconds())
	}
	return text
}

func engineText(m Manifest, r Run) string {
	var parts []string
	if r.Description != nil {
		parts = append(parts, fmt.Sprintf("%s %s", r.Description.Name, orMissing(r.Description.Version)))
	} else {
		parts = append(parts, "engine did not describe itself")
	}
	if r.Engine.Path != "" {
		parts = append(parts, "program SHA-256 "+orMissing(r.Engine.Checksum))
	} else {
		parts = append(parts, "built into teps")
	}
	return strings.Join(append(parts, "teps "+m.Software.String(), fmt.Sprintf("%d options", len(r.Options))), ", ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func orMissing(s string) string {
	if s == "" {
		return "missing"
	}
	return s
}
