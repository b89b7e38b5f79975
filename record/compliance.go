// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// comply checks the rules of Graph500 (specification 2.0) on the record of a run: input, roots, searches, validation,
// clock, build, machine. Facts that only the engine can know are quoted as its claims. Power is not a rule of Graph500.
func comply(m Manifest, r Run) Compliance {
	r.Graph = cmp.Or(r.Graph, &GraphRecord{})
	r.Description = cmp.Or(r.Description, &plugins.Description{})
	r.Construction = cmp.Or(r.Construction, &plugins.Construction{})
	k, d, wanted := r.Graph.Recipe, r.Description, r.Graph.RootsFound
	kernel1, distinct := r.Construction.Elapsed.Seconds(), map[graph.Vertex]bool{}
	for _, root := range r.Roots {
		distinct[root.Root] = true
	}
	late := r.Count(func(root RootRecord) bool { return root.Time <= 0 || root.Time > root.Wall })
	made := fmt.Sprintf("seeds %d and %d; official are %d and %d", k.Seed1, k.Seed2, OfficialSeed1, OfficialSeed2)
	factor := fmt.Sprintf("edge factor %d, %d tuples", k.EdgeFactor, r.Graph.Tuples)
	if r.Source != "" && k.Scale == 0 {
		made = r.Source + " is not a Kronecker graph of the reference generator"
		factor = fmt.Sprintf("%s has %d vertices and %d tuples", r.Source, r.Graph.Vertices, r.Graph.Tuples)
	}
	recipe := "nothing else; an order by degree and a template of " +
		"parents, if it makes any, are structure of the graph and on its clock (docs/clocks.md)"
	if r.Graph.Regenerated {
		recipe = "no memory held the tuples: kernel 1 was given the generator's recipe and made them inside its clock; " +
			"the recipe has the number of vertices, which the specification leaves to kernel 1 to find in the list of edges"
	}
	const byEngine = "claim of the engine: "
	claims := r.Construction.Claims
	origin, identified := "built into teps", m.Software.Program != "" || m.Software.Commit != "" || r.Engine.Checksum != ""
	if r.Engine.Path != "" {
		origin, identified = "program SHA-256 "+cmp.Or(r.Engine.Checksum, "missing"), r.Engine.Checksum != ""
	}
	clock := "clock unknown"
	if m.Machine.ClockMHz > 0 {
		clock = fmt.Sprintf("%.0f MHz", m.Machine.ClockMHz)
	}
	rules := []Check{
		{"The input is the reference generator's, with its seeds",
			k.Scale > 0 && k.Seed1 == OfficialSeed1 && k.Seed2 == OfficialSeed2, made},
		{"The edge factor is 16", k.EdgeFactor == OfficialEdgeFactor && r.Graph.Tuples == k.Tuples(), factor},
		{"Vertex labels are at least 48 bits wide in everything that crosses the interface", graph.VertexBits >= 48,
			fmt.Sprintf("tuples carry %d bits, parents 64", graph.VertexBits)},
		{"64 distinct random roots with a neighbor, or all there are",
			m.Plan.Roots == OfficialRoots && !r.Graph.RootsGiven && wanted > 0 && wanted <= OfficialRoots &&
				len(distinct) == len(r.Roots),
			fmt.Sprintf("%d of %d roots drawn, %d draws rejected, %d distinct roots searched%s", wanted, m.Plan.Roots,
				r.Graph.RejectedDraws, len(distinct), map[bool]string{true: "; the user gave them"}[r.Graph.RootsGiven])},
		{"Every root was searched", r.State == Complete && len(r.Roots) == wanted && wanted > 0,
			fmt.Sprintf("%d of %d searches done; the run is %s", len(r.Roots), wanted, r.State)},
		r.validationRule(),
		{"Kernel 1 was timed, and ran once", kernel1 > 0 && r.Sessions == 1, r.kernel1Text()},
		{"Kernel 1 was given nothing but the tuples", !r.Graph.Regenerated, recipe},
		{"No engine time is longer than the host's wall clock", len(r.Roots) > 0 && late == 0 && kernel1 <= r.ConstructWall,
			fmt.Sprintf("%d of %d searches are, and kernel 1 took %.4g of %.4g s; TEPS are from the engine's clock", late,
				len(r.Roots), kernel1, r.ConstructWall)},
		{"There is at most one warm-up search, untimed and declared", m.Plan.WarmUps <= 1,
			fmt.Sprintf("%d before the first timed search, from the first root (the reference does 1); at most %d searches "+
				"from a vertex without neighbors wake the engine before each timed one", m.Plan.WarmUps, m.Plan.Wake)},
		{"Parents are in original labels, in memory, when the clock stops", claims.OriginalLabelsInClock,
			byEngine + yes(claims.OriginalLabelsInClock) + "; validation shows that they are in original labels when returned"},
		{"Buffers are cleared inside the clock", claims.ClearingInClock, byEngine + yes(claims.ClearingInClock)},
		{"Parents are at least 48 bits wide when the clock stops", claims.ParentBits >= graph.VertexBits,
			fmt.Sprintf("%s%d bits; %d-bit labels inside", byEngine, claims.ParentBits, claims.VertexBits)},
		{"Tuning is fixed and declared", claims.Tuning != "", byEngine + cmp.Or(claims.Tuning, "missing")},
		{"Engine, version, build and options are recorded",
			d.Name != "" && d.Version != "" && identified && m.Software.Version != "" && m.Software.Compiler != "",
			fmt.Sprintf("%s %s, %s, teps %s, %d options", cmp.Or(d.Name, "an engine"),
				cmp.Or(d.Version, "without a version"), origin, m.Software, len(r.Options))},
		{"Machine, memory, clock and operating system are recorded, as far as the system reports them",
			m.Machine.CPU != "" && m.Machine.Threads > 0 && m.Machine.MemoryBytes > 0 && m.Machine.OS != "",
			fmt.Sprintf("%s, %d threads, %s, %d MiB, %s", cmp.Or(m.Machine.CPU, "missing"), m.Machine.Threads, clock,
				m.Machine.MemoryBytes>>20, cmp.Or(m.Machine.OS, "missing"))},
	}
	if r.Kernel == SSSP {
		rules = append(rules, Check{"The weights are the reference generator's, and distances are an output, too",
			r.Graph.Weights == ReferenceWeights, "weights: " + cmp.Or(r.Graph.Weights, "missing")})
	}
	rules = append(rules, r.clockRules()...)
	return Compliance{
		Compliant: !slices.ContainsFunc(rules, func(c Check) bool { return !c.Holds }), Rules: rules, Power: powerText(r),
	}
}

func (r Run) validationRule() Check {
	validated := r.Count(func(root RootRecord) bool { return root.Validated })
	byDevice := func(root RootRecord) bool { return root.ValidatedBy != "" }
	onDevice := r.Count(byDevice)
	confirmed := r.Count(func(root RootRecord) bool { return root.Confirmed })
	text := fmt.Sprintf("%d of %d searches validated by the five rules, %d broke one", validated, len(r.Roots),
		r.BrokenRoots())
	if onDevice > 0 {
		text += fmt.Sprintf("; %d on the host's device %s, %d of these by the CPU as well, which agreed", onDevice,
			r.Roots[slices.IndexFunc(r.Roots, byDevice)].ValidatedBy, confirmed)
	}
	if r.Graph.Regenerated {
		text += "; the tuples were made again from the recipe for each of them"
	}
	if r.Unchecked > 0 {
		text += fmt.Sprintf("; after %d of them teps was killed before it could check that the tuples were unchanged",
			r.Unchecked)
	}
	return Check{"Every search was validated against the input tuples, and is valid",
		len(r.Roots) > 0 && validated == len(r.Roots) && r.BrokenRoots() == 0 && r.Unchecked == 0 &&
			(onDevice == 0 || confirmed > 0), text}
}

func (r Run) kernel1Text() string {
	switch {
	case r.Sessions > 1:
		return fmt.Sprintf("%d times: the run was resumed; the time is that of the last", r.Sessions)
	case r.Construction.Elapsed <= 0:
		return "kernel 1 did not finish"
	}
	text := fmt.Sprintf("%.6g s on the engine's clock, %.6g s on the host's", r.Construction.Elapsed.Seconds(),
		r.ConstructWall)
	if r.DeviceTuples {
		text += "; it began with the tuples in the memory of the GPU, where the host had copied them before"
	}
	if r.Rebuilt != nil {
		text += fmt.Sprintf("; a resume after the last search built the graph again (%.6g s), for the energy loop only",
			r.Rebuilt.Construction.Elapsed.Seconds())
	}
	return text
}

// powerText is the compliance statement's line on power.
func powerText(r Run) string {
	e := r.Energy
	switch {
	case e == nil:
		return "not measured; no power class or level is stated"
	case e.Failure != "":
		return "not measured: " + e.Failure
	case e.Loop == nil:
		return "not measured: there is no power meter here; no power class or level is stated"
	}
	f, found := e.Headline()
	if !found {
		why, lost := "no meter is in use", []string(nil)
		for _, l := range e.Lost() {
			lost = append(lost, l.Source+": "+l.Reason)
		}
		if lost != nil {
			why = strings.Join(lost, "; ")
		} else if e.Green.Share != "" {
			why = "no meters cover all hosts (system meters: " + e.Green.Share + ")"
		}
		return fmt.Sprintf("not measured: %s; GreenGraph500 class %s, no level", why, e.Green.Class)
	}
	kind, level, rebuilt := "component power, which is not the system's: ", "no EEHPC level", ""
	if f.System {
		kind = "system power: "
	}
	if e.Green.Level > 0 {
		level = fmt.Sprintf("EEHPC level %d", e.Green.Level)
	}
	if len(r.Hosts) > 1 {
		level += fmt.Sprintf("; every host was metered (%s), not the network between them", strings.Join(r.Hosts, ", "))
	}
	if r.Rebuilt != nil {
		rebuilt = "; the loop searched a graph that a resume built again"
	}
	return fmt.Sprintf("%.4g MTEPS/W, %s, meter %s; GreenGraph500 class %s, %s%s",
		f.MTEPSPerWatt, kind+f.Label(), f.Of, e.Green.Class, level, rebuilt)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
