// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/plugins"
)

// comply checks the rules of Graph500 (specification 2.0) on the record of a run: input, roots, searches, validation,
// clock, build, machine. What only the engine can know is quoted as its claim.
func comply(m Manifest, r Run) Compliance {
	c := Compliance{Compliant: true, Power: powerText(r)} // power is not a rule of Graph500
	check := func(rule string, holds bool, format string, args ...any) {
		c.Rules = append(c.Rules, Check{rule, holds, fmt.Sprintf(format, args...)})
		c.Compliant = c.Compliant && holds
	}
	if r.Graph == nil {
		r.Graph = &GraphRecord{}
	}
	if r.Description == nil {
		r.Description = &plugins.Description{}
	}
	if r.Construction == nil {
		r.Construction = &plugins.Construction{}
	}
	r.checkInput(check)
	r.checkRoots(check, m.Plan)
	r.checkKernel1(check)
	r.checkClock(check, m.Plan)
	r.checkClaims(check)
	r.checkOrigin(check, m)
	return c
}

// checker adds a rule to a Compliance.
type checker func(rule string, holds bool, format string, args ...any)

func (r Run) checkInput(check checker) {
	k := r.Graph.Recipe
	made := fmt.Sprintf("seeds %d and %d; official are %d and %d", k.Seed1, k.Seed2, OfficialSeed1, OfficialSeed2)
	factor := fmt.Sprintf("edge factor %d, %d tuples", k.EdgeFactor, r.Graph.Tuples)
	if r.Source != "" && k.Scale == 0 {
		made = fmt.Sprintf("%s is not a Kronecker graph of the reference generator", r.Source)
		factor = fmt.Sprintf("%s has %d vertices and %d tuples", r.Source, r.Graph.Vertices, r.Graph.Tuples)
	}
	check("The input is the reference generator's, with its seeds",
		k.Scale > 0 && k.Seed1 == OfficialSeed1 && k.Seed2 == OfficialSeed2, "%s", made)
	check("The edge factor is 16", k.EdgeFactor == OfficialEdgeFactor && r.Graph.Tuples == k.Tuples(), "%s", factor)
	check("Vertex labels are at least 48 bits wide in everything that crosses the interface", graph.VertexBits >= 48,
		"tuples carry %d bits, parents 64", graph.VertexBits)
}

func (r Run) checkRoots(check checker, p Plan) {
	wanted, rejected := r.Graph.RootsFound, r.Graph.RejectedDraws
	distinct := map[graph.Vertex]bool{}
	validated, broken := 0, r.BrokenRoots()
	device, onDevice, confirmed := "", 0, 0
	for _, root := range r.Roots {
		distinct[root.Root] = true
		if root.Validated {
			validated++
		}
		if root.ValidatedBy != "" {
			device = root.ValidatedBy
			onDevice++
		}
		if root.Confirmed {
			confirmed++
		}
	}
	check("64 distinct random roots with a neighbor, or all there are",
		p.Roots == OfficialRoots && wanted > 0 && wanted <= OfficialRoots && len(distinct) == len(r.Roots),
		"%d of %d roots drawn, %d draws rejected, %d distinct roots searched", wanted, p.Roots, rejected, len(distinct))
	check("Every root was searched", r.State == Complete && len(r.Roots) == wanted && wanted > 0,
		"%d of %d searches done; the run is %s", len(r.Roots), wanted, r.State)
	text := fmt.Sprintf("%d of %d searches validated by the five rules, %d broke one", validated, len(r.Roots), broken)
	if onDevice > 0 {
		text += fmt.Sprintf("; %d on the host's device %s, %d of these by the CPU as well, which agreed", onDevice, device,
			confirmed)
	}
	if r.Graph.Regenerated {
		text += "; the tuples were made again from the recipe for each of them"
	}
	if r.Unchecked > 0 {
		text += fmt.Sprintf("; after %d of them teps was killed before it could check that the tuples were unchanged",
			r.Unchecked)
	}
	check("Every search was validated against the input tuples, and is valid",
		len(r.Roots) > 0 && validated == len(r.Roots) && broken == 0 && r.Unchecked == 0 && (onDevice == 0 || confirmed > 0),
		"%s", text)
}

func (r Run) checkKernel1(check checker) {
	text := "kernel 1 did not finish"
	if r.Sessions > 1 {
		text = fmt.Sprintf("%d times: the run was resumed; the time is that of the last", r.Sessions)
	} else if r.Construction.Elapsed > 0 {
		text = fmt.Sprintf("%.6g s on the engine's clock, %.6g s on the host's", r.Construction.Elapsed.Seconds(),
			r.ConstructWall)
		if r.DeviceTuples {
			text += "; it began with the tuples in the memory of the GPU, where the host had copied them before"
		}
		if r.Rebuilt != nil {
			text += fmt.Sprintf("; a resume after the last search built the graph again (%.6g s), for the energy loop only",
				r.Rebuilt.Construction.Elapsed.Seconds())
		}
	}
	check("Kernel 1 was timed, and ran once", r.Construction.Elapsed > 0 && r.Sessions == 1, "%s", text)
	recipe := r.Description.WantsRecipe
	text = "asked for the generator's recipe: " + yes(recipe)
	if r.Graph.Regenerated {
		text = "no memory held the tuples: kernel 1 was given the generator's recipe and made them inside its clock; the " +
			"recipe has the number of vertices, which the specification leaves to kernel 1 to find in the list of edges"
	}
	check("Kernel 1 was given nothing but the tuples", !recipe && !r.Graph.Regenerated, "%s", text)
}

// checkClock compares the engine's clock with the host's, search by search and for the median search.
func (r Run) checkClock(check checker, p Plan) {
	late, repeats, engine, host := 0, r.ConstructRepeats, 0.0, 0.0
	var times, gaps []float64
	for _, root := range r.Roots {
		engine, host = engine+root.Time, host+root.Wall
		times, gaps = append(times, root.Time), append(gaps, root.Wall-root.Time)
		repeats += root.Repeats
		if root.Time <= 0 || root.Time > root.Wall {
			late++
		}
	}
	if r.Construction.Elapsed <= 0 || r.Construction.Elapsed.Seconds() > r.ConstructWall {
		late++
	}
	check("No engine time is longer than the host's wall clock", len(r.Roots) > 0 && late == 0,
		"%d of %d times are; TEPS are from the engine's clock: %.4g s for all searches, %.4g s on the host's clock; "+
			"%d repeats of calls that were delayed", late, len(r.Roots)+1, engine, host, repeats)

	search, gap := units.Median(times), units.Median(gaps)
	r.checkRest(check, "searches", search, gap, r.idle()*5/4+1e-3, gap <= search || search+gap >= longCall)
	kernel1 := r.Construction.Elapsed.Seconds()
	rest, moved := r.ConstructWall-kernel1, plugins.MoveTime(graph.EdgeBytes*r.Graph.Tuples).Seconds()
	r.checkRest(check, "kernel 1", kernel1, rest, moved+1, rest-moved <= kernel1)
	check("There is at most one warm-up search, untimed and declared", p.WarmUps <= 1,
		"%d before the first timed search, from the first root (the reference does 1); searches from a vertex without "+
			"neighbors come before, to measure what a call costs", p.WarmUps)
}

// longCall is the time of a call, in seconds, that makes the cost of the call itself negligible.
const longCall = 3e-3

// idle returns the part of an idle call outside the engine's clock, in seconds: as measured, but at most the cost of a
// call to another process and of moving the parents. Calls that teps itself times get the bound, so that a busy machine
// does not make them look wrong.
func (r Run) idle() float64 {
	limit := 2e-3 + plugins.MoveTime(8*r.Graph.Vertices).Seconds()
	if r.Idle == 0 || r.Engine.timedByTeps() {
		return limit
	}
	return min(r.Idle, limit)
}

// checkRest bounds the rest of a call, which is the host's time less the engine's, in seconds: a quarter of the
// engine's time, and the work allowed outside its clock. A rest within these bounds may hide most of a short call,
// unless it is distinct from the cost of any call. If teps itself times the calls, the rest may be as long as the
// engine's time.
func (r Run) checkRest(check checker, what string, engine, rest, outside float64, distinct bool) {
	allowed := outside + engine/4
	if r.Engine.timedByTeps() {
		allowed, distinct = outside+engine, true
	}
	verdict := ""
	switch {
	case engine <= 0:
		verdict = "; no time was measured"
	case rest > allowed:
		verdict = "; the engine's clock leaves out work, or the machine was busy with other work"
	case !distinct:
		verdict = "; the host cannot tell whether the engine's clock leaves out work, because the call is too short"
	}
	check("The engine's clock accounts for the time of "+what, verdict == "",
		"%.4g ms on the engine's clock and %.4g ms more on the host's, where %.4g ms are allowed for the call and for "+
			"moving data%s", engine*1e3, rest*1e3, allowed*1e3, verdict)
}

func (r Run) checkClaims(check checker) {
	c := r.Construction.Claims
	check("Parents are in original labels, in memory, when the clock stops", c.OriginalLabelsInClock,
		"claim of the engine: %s; validation shows that they are in original labels when returned",
		yes(c.OriginalLabelsInClock))
	check("Buffers are cleared inside the clock", c.ClearingInClock, "claim of the engine: %s", yes(c.ClearingInClock))
	check("Parents are at least 48 bits wide when the clock stops", c.ParentBits >= graph.VertexBits,
		"claim of the engine: %d bits; %d-bit labels inside", c.ParentBits, c.VertexBits)
	check("Tuning is fixed and declared", c.Tuning != "", "claim of the engine: %s", cmp.Or(c.Tuning, "missing"))
}

func (r Run) checkOrigin(check checker, m Manifest) {
	d, origin := r.Description, "built into teps"
	identified := m.Software.Program != "" || m.Software.Commit != "" || r.Engine.Checksum != ""
	if r.Engine.Path != "" {
		identified = r.Engine.Checksum != ""
		origin = "program SHA-256 " + cmp.Or(r.Engine.Checksum, "missing")
	}
	check("Engine, version, build and options are recorded",
		d.Name != "" && d.Version != "" && identified && m.Software.Version != "" && m.Software.Compiler != "",
		"%s %s, %s, teps %s, %d options", cmp.Or(d.Name, "an engine"), cmp.Or(d.Version, "without a version"),
		origin, m.Software, len(r.Options))
	clock := "clock unknown"
	if m.Machine.ClockMHz > 0 {
		clock = fmt.Sprintf("%.0f MHz", m.Machine.ClockMHz)
	}
	check("Machine, memory, clock and operating system are recorded, as far as the system reports them",
		m.Machine.CPU != "" && m.Machine.Threads > 0 && m.Machine.MemoryBytes > 0 && m.Machine.OS != "",
		"%s, %d threads, %s, %d MiB, %s", cmp.Or(m.Machine.CPU, "missing"), m.Machine.Threads, clock,
		m.Machine.MemoryBytes>>20, cmp.Or(m.Machine.OS, "missing"))
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
		why := "no meter in use covers the loop"
		if i := slices.IndexFunc(e.Meters, Metered.ShowedNothing); i >= 0 {
			why = e.Meters[i].Meter.Name + " showed 0 J over the whole loop"
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
