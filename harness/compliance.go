package harness

import (
	"fmt"
	"strings"

	"github.com/tepsbench/teps/graph"
)

// comply states for one run which of Graph500's rules hold (specification 2.0; the list is that of an honest record:
// input, roots, searches, validation, clock, build, machine). What the program can check it checks; what only the
// engine can know is quoted as its claim. A run is compliant when every rule holds, and only then.
func comply(m Manifest, r Run) Compliance {
	var c Compliance
	check := func(rule string, holds bool, format string, args ...any) {
		c.Rules = append(c.Rules, Check{Rule: rule, Holds: holds, Detail: fmt.Sprintf(format, args...)})
	}
	p := m.Plan
	check("The input is the reference generator's, with its seeds",
		p.Seed1 == OfficialSeed1 && p.Seed2 == OfficialSeed2,
		"seeds %d and %d; official are %d and %d", p.Seed1, p.Seed2, OfficialSeed1, OfficialSeed2)
	check("The edge factor is 16", p.EdgeFactor == OfficialEdgeFactor, "edge factor %d", p.EdgeFactor)
	check("Vertex labels are at least 48 bits wide in everything that crosses the interface", true,
		"tuples carry %d bits, parents 64", graph.VertexBits)

	wanted := p.Roots
	if r.Graph != nil {
		wanted = r.Graph.RootsFound
		check("64 distinct random roots with a neighbour, or all there are",
			p.Roots == OfficialRoots && (wanted == OfficialRoots || wanted < OfficialRoots && wanted > 0),
			"%d of %d roots drawn, %d draws rejected", wanted, p.Roots, r.Graph.RejectedDraws)
	} else {
		check("64 distinct random roots with a neighbour, or all there are", false, "no roots were drawn")
	}
	check("Every root was searched", r.State == Complete && len(r.Roots) == wanted && wanted > 0,
		"%d of %d searches done; the run is %s", len(r.Roots), wanted, r.State)

	validated, broken := 0, 0
	for _, root := range r.Roots {
		if root.Validated {
			validated++
		}
		if root.Violation != "" {
			broken++
		}
	}
	check("Every search was validated against the input tuples, and is valid",
		len(r.Roots) > 0 && validated == len(r.Roots) && broken == 0,
		"%d of %d searches validated by the five rules, %d broke one", validated, len(r.Roots), broken)
	check("Kernel 1 was timed, and ran once",
		r.Construction != nil && r.Sessions == 1, "%s", sessions(r))
	check("No engine time is longer than the host's wall clock", r.Construction != nil && len(r.Roots) > 0,
		"checked for kernel 1 and for each of %d searches; TEPS are from the engine's clock, both are recorded", len(r.Roots))
	check("Warm-up searches are few, untimed and declared", p.WarmUps <= 1,
		"%d untimed search from the first root (the reference does 1)", p.WarmUps)

	if r.Construction != nil {
		claims := r.Construction.Claims
		check("Parents are in original labels, in memory, when the clock stops", claims.OriginalLabelsInClock,
			"claim of the engine: %s; that they are in original labels when handed over is validated", yes(claims.OriginalLabelsInClock))
		check("Buffers are cleared inside the clock", claims.ClearingInClock, "claim of the engine: %s", yes(claims.ClearingInClock))
		check("Parents are at least 48 bits wide when the clock stops", claims.ParentBits >= graph.VertexBits,
			"claim of the engine: %d bits; %d-bit labels inside", claims.ParentBits, claims.VertexBits)
		check("Tuning is fixed and declared", claims.Tuning != "", "claim of the engine: %s", orMissing(claims.Tuning))
	} else {
		check("The engine's claims about its clock and tuning", false, "the engine did not finish kernel 1")
	}

	described := r.Description != nil && r.Description.Name != "" && r.Description.Version != ""
	identified := r.Engine.Path == "" || r.Engine.Checksum != ""
	check("Engine, version, build and options are recorded",
		described && identified && m.Software.Version != "" && m.Software.Compiler != "",
		"%s", engineText(m, r))
	check("Machine, memory and operating system are recorded",
		m.Machine.CPU != "" && m.Machine.Threads > 0 && m.Machine.MemoryBytes > 0 && m.Machine.OS != "",
		"%s, %d threads, %d MiB, %s", orMissing(m.Machine.CPU), m.Machine.Threads, m.Machine.MemoryBytes>>20, orMissing(m.Machine.OS))

	c.Compliant = true
	for _, rule := range c.Rules {
		c.Compliant = c.Compliant && rule.Holds
	}
	// Power is no rule of Graph500, but silence would be misread.
	c.Power = "not measured; no power class or level is stated"
	return c
}

func sessions(r Run) string {
	switch {
	case r.Construction == nil:
		return "kernel 1 did not finish"
	case r.Sessions > 1:
		return fmt.Sprintf("%d times: the run was resumed; the time given is that of the last", r.Sessions)
	}
	return fmt.Sprintf("%.6g s, with nothing given but the tuples", r.Construction.Elapsed.Seconds())
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
